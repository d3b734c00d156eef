import assert from "node:assert/strict";
import { test } from "node:test";

import {
  trimFromHeaders,
  trimOf,
  trimsWithinFrames,
  windowEndOf,
} from "../../../static/js/player/priming.js";

test("the first real sample lands on zero, where the window begins", () => {
  assert.deepEqual(trimOf(576, 24_000), { timestampOffset: -0.024, appendWindowStart: 0 });
  assert.deepEqual(trimOf(312, 48_000), { timestampOffset: -0.0065, appendWindowStart: 0 });
});

test("no priming needs no trim", () => {
  assert.equal(trimOf(0, 24_000), null);
});

test("numbers that make no sense trim nothing", () => {
  for (const [samples, rate] of [
    [-1, 24_000],
    [576, 0],
    [NaN, 24_000],
    [576, NaN],
  ])
    assert.equal(trimOf(samples ?? 0, rate ?? 0), null);
});

test("the server's headers say how much", () => {
  const headers = new Headers({ "X-Audio-Priming-Samples": "576", "X-Audio-Sample-Rate": "22050" });
  assert.equal(trimFromHeaders(headers)?.timestampOffset, -576 / 22_050);
});

test("a server that declares nothing gets no trim", () => {
  assert.equal(trimFromHeaders(new Headers()), null);
});

test("Chromium and WebKit cut within a frame, Firefox does not", () => {
  const like = "Mozilla/5.0 (Macintosh) AppleWebKit/605.1.15 (KHTML, like Gecko)";
  assert.equal(trimsWithinFrames(`${like} Chrome/156.0 Safari/537.36`), true);
  assert.equal(trimsWithinFrames(`${like} Version/26.0 Safari/605.1.15`), true);
  assert.equal(trimsWithinFrames(`${like} FxiOS/153.0 Safari/605.1.15`), true);
  assert.equal(
    trimsWithinFrames("Mozilla/5.0 (X11; rv:153.0) Gecko/20100101 Firefox/153.0"),
    false,
  );
});

/** @param {number} seconds @param {string} mseType @param {Record<string, string>} [headers] */
const endOf = (seconds, mseType, headers) =>
  windowEndOf(seconds, { mseType, headers: new Headers(headers) });

test("the window ends with the sound, and for mp3 a decoder's delay later", () => {
  assert.equal(endOf(2.5, 'audio/webm; codecs="opus"'), 2.5);
  assert.equal(endOf(2.5, "audio/mpeg", { "X-Audio-Sample-Rate": "24000" }), 2.5 + 529 / 24_000);
});

test("an end that nobody can place sets no window", () => {
  for (const seconds of [NaN, 0, -1, Infinity]) assert.equal(endOf(seconds, "audio/mp4"), null);
  assert.equal(endOf(2.5, "audio/mpeg"), null);
  assert.equal(endOf(2.5, "audio/mpeg", { "X-Audio-Sample-Rate": "0" }), null);
});
