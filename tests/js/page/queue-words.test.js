import assert from "node:assert/strict";
import { test } from "node:test";

import { isWorthSaying, tellPosition } from "../../../static/js/page/queue-words.js";

test("a place in the queue is told as a person would", () => {
  assert.deepEqual([1, 2, 3, 4, 11, 12, 21, 103].map(tellPosition), [
    "Waiting: next in the queue.",
    "Waiting: 2nd in the queue.",
    "Waiting: 3rd in the queue.",
    "Waiting: 4th in the queue.",
    "Waiting: 11th in the queue.",
    "Waiting: 12th in the queue.",
    "Waiting: 21st in the queue.",
    "Waiting: 103rd in the queue.",
  ]);
});

test("of a long queue the first place is said aloud, then each half, then the last three", () => {
  /** @type {number | null} */
  let said = null;
  const aloud = [];
  for (let position = 64; position > 0; position -= 1)
    if (isWorthSaying(position, said)) aloud.push((said = position));
  assert.deepEqual(aloud, [64, 32, 16, 8, 4, 3, 2, 1]);
});
