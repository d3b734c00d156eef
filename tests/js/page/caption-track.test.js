import assert from "node:assert/strict";
import { test } from "node:test";

import { CaptionTrack } from "../../../static/js/page/caption-track.js";
import { drawer } from "../random.js";

/** @typedef {import("../../../static/js/page/speech-events.js").WordMark} WordMark */

/** @param {number} start @param {number} end @returns {WordMark} */
const word = (start, end) => ({ text: "", text_start: 0, text_end: 0, start, end });

test("before the first word and in a pause no word is heard", () => {
  const track = new CaptionTrack();
  assert.deepEqual([track.indexAt(0), track.begunAt(0)], [null, 0]);
  track.add([word(0.1, 0.4), word(0.4, 1)]);
  track.add([word(2, 3)]);
  assert.deepEqual(
    [0.05, 0.1, 0.399, 0.4, 1, 1.9, 2, 3].map((seconds) => track.indexAt(seconds)),
    [null, 0, 0, 1, null, null, 2, null],
  );
  assert.deepEqual(
    [0.05, 0.1, 1.9, 99].map((seconds) => track.begunAt(seconds)),
    [0, 1, 2, 3],
  );
});

test("the word found is the one that a search from end to end finds", () => {
  const draw = drawer(5);
  for (let round = 0; round < 100; round += 1) {
    const track = new CaptionTrack();
    /** @type {WordMark[]} */
    const marks = [];
    for (let at = draw(3), count = draw(40); count > 0; count -= 1) {
      const mark = word(at, at + draw(4));
      marks.push(mark);
      track.add([mark]);
      at = mark.end + draw(3);
    }
    for (let at = -1; at < 120; at += 1) {
      const begun = marks.filter(({ start }) => start <= at).length;
      const heard = begun > 0 && at < (marks[begun - 1]?.end ?? 0) ? begun - 1 : null;
      assert.deepEqual([track.begunAt(at), track.indexAt(at)], [begun, heard]);
    }
  }
});
