import assert from "node:assert/strict";
import { test } from "node:test";

import { estimateSeconds, formatTime } from "../../../static/js/page/duration.js";

test("a time reads as on a clock, with hours only when there are some", () => {
  assert.deepEqual([0, 5.9, 65, 3599, 3605, 36_000, -1].map(formatTime), [
    "0:00",
    "0:05",
    "1:05",
    "59:59",
    "1:00:05",
    "10:00:00",
    "0:00",
  ]);
});

test("twice the speed takes half the time", () => {
  assert.equal(estimateSeconds(300, 2), estimateSeconds(300, 1) / 2);
  assert.equal(estimateSeconds(0, 1), 0);
});
