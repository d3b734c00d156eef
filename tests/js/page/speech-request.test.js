import assert from "node:assert/strict";
import { test } from "node:test";

import { addressOf, drawSeed, postOf } from "../../../static/js/page/speech-request.js";

const SPEECH = {
  input: "Salt & pepper? 100 %",
  model: "",
  voice: "joe",
  speed: 1.25,
  responseFormat: "webm",
  seed: 7,
};

test("the address and the POST ask for the same sound, and leave out what was not chosen", () => {
  const expected = {
    input: "Salt & pepper? 100 %",
    voice: "joe",
    speed: 1.25,
    seed: 7,
    response_format: "webm",
  };
  const { body } = postOf(SPEECH);
  assert.deepEqual(JSON.parse(String(body)), { ...expected, stream: true });
  const query = Object.fromEntries(new URL(addressOf(SPEECH), "http://localhost").searchParams);
  assert.deepEqual(query, { ...expected, speed: "1.25", seed: "7" });
});

test("a seed fits the server's 32 bits", () => {
  for (let count = 0; count < 1000; count += 1) {
    const seed = drawSeed();
    assert.ok(Number.isInteger(seed) && seed >= 0 && seed < 2 ** 32);
  }
});
