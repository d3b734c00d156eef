import assert from "node:assert/strict";
import { test } from "node:test";

import { WrittenText } from "../../../static/js/page/written-text.js";
import { drawer } from "../random.js";

test("a text is cut where the server counts, which is in code points", () => {
  const text = new WrittenText("😀 né, 🇫🇷!");
  assert.deepEqual(
    [text.takeTo(1), text.takeTo(2), text.takeTo(4), text.rest],
    ["😀", " ", "né", ", 🇫🇷!"],
  );
});

test("punctuation goes with the word before it, and nothing else does", () => {
  const text = new WrittenText("$5—“really”?! Yes");
  assert.deepEqual(
    [text.takeTo(2), text.takePunctuation(), text.takeTo(10), text.takePunctuation()],
    ["$5", "—“", "really", "”?!"],
  );
  assert.equal(text.takePunctuation(), "");
  assert.equal(text.rest, " Yes");
});

test("what lies behind, or beyond the end, is nothing", () => {
  const text = new WrittenText("abc");
  assert.deepEqual([text.takeTo(2), text.takeTo(1), text.takeTo(99), text.takeTo(100)], [
    "ab",
    "",
    "c",
    "",
  ]);
});

test("the pieces are the text, however it is cut", () => {
  const draw = drawer(2);
  const letters = ["a", "é", "😀", " ", ",", "\ud800", "”"];
  for (let round = 0; round < 200; round += 1) {
    const whole = Array.from({ length: draw(30) }, () => letters[draw(letters.length)]).join("");
    const text = new WrittenText(whole);
    let pieces = "";
    for (let end = draw(4); end < 40; end += draw(6))
      pieces += text.takeTo(end) + (draw(2) ? text.takePunctuation() : "");
    assert.equal(pieces + text.rest, whole);
  }
});
