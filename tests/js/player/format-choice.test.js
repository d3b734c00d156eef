import assert from "node:assert/strict";
import { test } from "node:test";

import { chooseFormat } from "../../../static/js/player/format-choice.js";

const FORMATS = [
  { name: "mp3", mseType: "audio/mpeg" },
  { name: "webm", mseType: 'audio/webm; codecs="opus"' },
  { name: "wav", mseType: null },
  { name: "mp4", mseType: 'audio/mp4; codecs="mp4a.40.2"' },
  { name: "mp4-opus", mseType: 'audio/mp4; codecs="opus"' },
];

/** @param {string[]} parts */
const takes =
  (...parts) =>
  (/** @type {string} */ type) =>
    parts.some((part) => type.includes(part));

/** @param {Parameters<typeof chooseFormat>[1]} isTypeSupported @param {string} [wanted] */
const choose = (isTypeSupported, wanted) => {
  const { format, mseType } = chooseFormat(FORMATS, isTypeSupported, wanted ? { wanted } : {});
  return [format.name, mseType];
};

test("WebM is the first choice", () => {
  assert.deepEqual(choose(takes("audio/")), ["webm", 'audio/webm; codecs="opus"']);
});

test("without WebM, mp4", () => {
  assert.deepEqual(choose(takes("mp4a", "mpeg")), ["mp4", 'audio/mp4; codecs="mp4a.40.2"']);
});

test("without both, mp3, whose type carries no codecs parameter", () => {
  assert.deepEqual(choose(takes("mpeg")), ["mp3", "audio/mpeg"]);
});

test("a MediaSource that takes nothing leaves mp3 to a plain source", () => {
  assert.deepEqual(choose(takes()), ["mp3", null]);
});

test("so does a browser without any MediaSource", () => {
  assert.deepEqual(choose(null), ["mp3", null]);
});

test("a wanted format goes through MediaSource where that takes it", () => {
  assert.deepEqual(choose(takes("audio/"), "mp3"), ["mp3", "audio/mpeg"]);
});

test("a wanted format that MediaSource refuses is never replaced by another", () => {
  assert.deepEqual(choose(takes("webm"), "mp3"), ["mp3", null]);
  assert.deepEqual(choose(takes("audio/"), "wav"), ["wav", null]);
});

test("Opus in MP4 is found by the only name that WebKit knows", () => {
  assert.deepEqual(choose(takes('"Opus"'), "mp4-opus"), ["mp4-opus", 'audio/mp4; codecs="Opus"']);
  assert.deepEqual(choose(takes('"opus"'), "mp4-opus"), ["mp4-opus", 'audio/mp4; codecs="opus"']);
});

test("a wanted format that the server does not have is unsupported", () => {
  assert.throws(() => choose(takes("audio/"), "midi"), {
    name: "PlayerError",
    kind: "unsupported",
  });
});

test("a server that offers nothing is unsupported", () => {
  assert.throws(() => chooseFormat([], takes("audio/")), { kind: "unsupported" });
});
