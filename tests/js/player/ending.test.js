import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import { Tail, hearEnding } from "../../../static/js/player/ending.js";
import { FakeBrowser } from "../fakes.js";
import { drawer } from "../random.js";

/** @type {FakeBrowser} */
let browser;
/** @type {AbortController} */
let life;

beforeEach(() => {
  browser = new FakeBrowser();
  life = new AbortController();
});

/**
 * @param {Promise<import("../../../static/js/player/ending.js").Ending | null> | undefined} ending
 * @param {number} [spareSeconds]
 */
const hear = (ending, spareSeconds = Infinity) =>
  hearEnding(ending, { platform: browser.platform(), signal: life.signal, spareSeconds });

/** @returns {Promise<never>} */
const never = () => new Promise(() => {});

test("a tail holds back the last KiB, in order and whole, however the body is cut", () => {
  const draw = drawer(3);
  const sent = Uint8Array.from({ length: 20_000 }, () => draw(256));
  const tail = new Tail(true);
  /** @type {Uint8Array[]} */
  const released = [];
  for (let at = 0; at < sent.length;) {
    const size = 1 + draw(draw(2) ? 40 : 3000);
    released.push(...tail.take(sent.subarray(at, at + size)));
    at += size;
    const held = Math.min(at, sent.length) - Buffer.concat(released).length;
    assert.equal(held, Math.min(at, 1024));
  }
  assert.deepEqual(Buffer.concat([...released, ...tail.drain()]), Buffer.from(sent));
  assert.deepEqual(tail.drain(), []);
});

test("a tail that holds nothing lets every chunk through as it is", () => {
  const chunk = new Uint8Array(3);
  const [only] = new Tail(false).take(chunk);
  assert.equal(only?.buffer, chunk.buffer);
  assert.equal(only?.byteLength, 3);
});

test("what is told is heard at once, and nothing waits on", async () => {
  assert.deepEqual(await hear(Promise.resolve({ seconds: 2 })), { seconds: 2 });
  assert.equal(browser.waits[0]?.signal.aborted, true);
  assert.equal(await hear(undefined), null);
});

test("what can't be told is no error", async () => {
  assert.equal(await hear(Promise.reject(new Error("broken"))), null);
});

test("nobody waits for longer than a second", async () => {
  const heard = hear(never());
  assert.deepEqual(
    browser.waits.map(({ milliseconds }) => milliseconds),
    [1000],
  );
  browser.waits[0]?.end();
  assert.equal(await heard, null);
});

test("nobody waits for longer than the sound lasts, but for a moment", () => {
  void hear(never(), 0.3);
  void hear(never(), -0.1);
  assert.deepEqual(
    browser.waits.map(({ milliseconds }) => milliseconds),
    [300, 100],
  );
});

test("a playback that is over waits for nothing", async () => {
  const heard = hear(never());
  life.abort();
  assert.equal(await heard, null);
});
