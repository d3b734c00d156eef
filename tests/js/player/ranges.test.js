import assert from "node:assert/strict";
import { test } from "node:test";

import { bufferedEnd, nearestBuffered, secondsAhead } from "../../../static/js/player/ranges.js";

/** @param {[number, number][]} ranges */
const ranges = (...ranges) =>
  /** @type {TimeRanges} */ ({
    length: ranges.length,
    start: (index) => ranges[index]?.[0] ?? NaN,
    end: (index) => ranges[index]?.[1] ?? NaN,
  });

test("a buffered position is kept", () => {
  assert.equal(nearestBuffered(ranges([0, 10]), 4), 4);
});

test("beyond the end, the last position that can be heard", () => {
  assert.equal(nearestBuffered(ranges([0, 10]), 99), 9.999);
});

test("before what was evicted, where the rest begins", () => {
  assert.equal(nearestBuffered(ranges([30, 60]), 2), 30);
});

test("in a hole, the nearer edge", () => {
  assert.equal(nearestBuffered(ranges([0, 10], [20, 30]), 18), 20);
  assert.equal(nearestBuffered(ranges([0, 10], [20, 30]), 11), 9.999);
});

test("with nothing buffered there is nowhere to go", () => {
  assert.equal(nearestBuffered(ranges(), 1), null);
});

test("the lead is what lies between the ear and the end, never less than nothing", () => {
  const audio = (/** @type {number} */ currentTime) =>
    /** @type {HTMLMediaElement} */ ({ buffered: ranges([0, 10]), currentTime });
  assert.equal(secondsAhead(audio(4)), 6);
  assert.equal(secondsAhead(audio(11)), 0);
  assert.equal(bufferedEnd(/** @type {HTMLMediaElement} */ ({ buffered: ranges() })), 0);
});
