import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import { AppendQueue } from "../../../static/js/player/append-queue.js";
import { FakeMediaSource, settle } from "../fakes.js";
import { drawer } from "../random.js";

/** @type {FakeMediaSource} */
let mediaSource;
/** @type {import("../fakes.js").FakeSourceBuffer} */
let buffer;
/** @type {AbortController} */
let life;
/** @type {AppendQueue} */
let queue;
/** @type {string[]} */
let told;

beforeEach(() => {
  mediaSource = new FakeMediaSource();
  mediaSource.readyState = "open";
  buffer = mediaSource.addSourceBuffer("audio/mpeg");
  life = new AbortController();
  told = [];
  queue = new AppendQueue(/** @type {any} */ (mediaSource), /** @type {any} */ (buffer), {
    signal: life.signal,
    onAdvance: () => told.push("advance"),
    onFailure: ({ kind }) => told.push(kind),
    onLost: () => told.push("lost"),
  });
});

/** @param {number[]} values */
const bytes = (...values) => new Uint8Array(values);

test("bytes arrive in order and whole, however they are cut", async () => {
  const draw = drawer(7);
  const sent = Uint8Array.from({ length: 20_000 }, () => draw(256));
  for (let at = 0; at < sent.length;) {
    const size = 1 + draw(700);
    queue.append(sent.slice(at, at + size));
    at += size;
    if (draw(3) === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  queue.end();
  await settle();
  assert.deepEqual(Buffer.concat(buffer.appends), Buffer.from(sent));
  assert.equal(mediaSource.readyState, "ended");
});

test("a chunk that stands alone is appended as it is, not copied", () => {
  const chunk = bytes(1, 2, 3);
  /** @type {unknown[]} */
  const seen = [];
  buffer.appendBuffer = (data) => void seen.push(data);
  queue.append(chunk);
  assert.equal(seen[0], chunk);
});

test("what piles up during an append goes in together, in blocks of bounded size", async () => {
  for (let count = 0; count < 100; count += 1) queue.append(new Uint8Array(1000));
  await settle();
  assert.deepEqual(
    buffer.appends.map(({ byteLength }) => byteLength),
    [1000, 65_000, 34_000],
  );
});

test("nothing is appended while another hand keeps the buffer updating", async () => {
  buffer.appendBuffer(bytes(9));
  queue.append(bytes(1));
  assert.equal(buffer.appends.length, 0);
  await settle();
  assert.deepEqual(Buffer.concat(buffer.appends), Buffer.from([9, 1]));
});

test("the end waits for its turn", async () => {
  queue.append(bytes(1));
  queue.end();
  assert.equal(mediaSource.readyState, "open");
  await settle();
  assert.deepEqual(mediaSource.endings, [""]);
});

test("the end of an empty stream comes at once", () => {
  queue.end();
  assert.equal(mediaSource.readyState, "ended");
});

test("nothing is taken in after the end", async () => {
  queue.end();
  queue.append(bytes(1));
  await settle();
  assert.equal(queue.pendingBytes, 0);
  assert.equal(buffer.appends.length, 0);
});

test("a full buffer keeps the bytes until there is room", async () => {
  buffer.budget = 2;
  queue.append(bytes(1, 2));
  await settle();
  queue.append(bytes(3));
  queue.append(bytes(4));
  queue.end();
  assert.equal(queue.isFull, true);
  assert.equal(queue.retry(), false);
  assert.equal(queue.pendingBytes, 2);
  buffer.budget = 9;
  assert.equal(queue.retry(), true);
  await settle();
  assert.deepEqual(Buffer.concat(buffer.appends), Buffer.from([1, 2, 3, 4]));
  assert.equal(mediaSource.readyState, "ended");
  assert.deepEqual(told, ["advance", "advance", "advance"]);
});

test("damaged bytes are a decode error, told once, and end the queue", async () => {
  buffer.damaged = true;
  queue.append(bytes(1));
  queue.append(bytes(2));
  await settle();
  assert.deepEqual(told, ["decode"]);
  assert.equal(buffer.updating, false);
});

test("an append that throws for any other reason is a decode error", () => {
  buffer.removed = true;
  queue.append(bytes(1));
  assert.deepEqual(told, ["decode"]);
});

test("a source that was closed by others is lost, not broken", async () => {
  mediaSource.close();
  await settle();
  queue.append(bytes(1));
  assert.deepEqual(told, ["lost"]);
});

test("an append between the closing and its event is lost too, told once", async () => {
  mediaSource.close();
  queue.append(bytes(1));
  await settle();
  assert.deepEqual(told, ["lost"]);
});

test("a buffer taken away in the middle of an append is lost, told once", async () => {
  queue.append(bytes(1));
  queue.append(bytes(2));
  mediaSource.close();
  await settle();
  assert.deepEqual(told, ["lost"]);
});

test("drained is when everything is in", async () => {
  await queue.drained();
  queue.append(bytes(1));
  queue.append(bytes(2));
  await queue.drained();
  assert.equal(buffer.bytes, 2);
});

test("a queue that is closed does not let one wait", async () => {
  queue.append(bytes(1));
  const drained = queue.drained();
  life.abort();
  await drained;
});

test("a limit holds for what comes after it", async () => {
  queue.append(bytes(1));
  await queue.drained();
  queue.limit(1.5);
  queue.append(bytes(2));
  await queue.drained();
  assert.deepEqual(buffer.windowEnds, [Infinity, 1.5]);
});

test("a limit on a buffer that was taken away is no error", async () => {
  Object.defineProperty(buffer, "appendWindowEnd", {
    set: () => {
      throw new DOMException("removed", "InvalidStateError");
    },
  });
  queue.limit(1);
  assert.deepEqual(told, []);
});

test("after the playback's life late events are dropped", async () => {
  queue.append(bytes(1));
  queue.append(bytes(2));
  life.abort();
  await settle();
  assert.deepEqual(told, []);
  assert.equal(buffer.appends.length, 1);
  assert.equal(queue.pendingBytes, 0);
});
