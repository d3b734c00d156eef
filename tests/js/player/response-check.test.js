import assert from "node:assert/strict";
import { test } from "node:test";

import { PlayerError } from "../../../static/js/player/errors.js";
import { acceptAudio, explain } from "../../../static/js/player/response-check.js";

/** @param {BodyInit | null} body @param {number} status @param {Record<string, string>} headers */
const answer = (body, status, headers) => new Response(body, { status, headers });

const refusal = (/** @type {number} */ status, headers = {}) =>
  answer(JSON.stringify({ error: { message: "The queue is full." } }), status, headers);

test("audio of the expected type passes, unread", async () => {
  const response = answer("sound", 200, { "Content-Type": 'Audio/WebM; codecs="opus"' });
  const body = await acceptAudio(response, 'audio/webm; codecs="opus"');
  assert.equal(await new Response(body).text(), "sound");
});

test("the server's own words come with a refusal", async () => {
  await assert.rejects(acceptAudio(refusal(400), "audio/mpeg"), {
    kind: "refused",
    message: "The queue is full.",
    remedy: "Change the text or the settings, then press Play again.",
  });
});

test("a busy server is worth another try, after the time that it names", async () => {
  const later = { remedy: "Wait a moment, then press Play again." };
  await assert.rejects(acceptAudio(refusal(503), "audio/mpeg"), later);
  const named = { remedy: "Wait 7 s, then press Play again." };
  await assert.rejects(acceptAudio(refusal(429, { "Retry-After": "7" }), "audio/mpeg"), named);
});

test("a refusal that is no JSON, or another JSON, is told by its status", async () => {
  for (const body of ["<h1>Bad gateway</h1>", "null", '{"error": {"message": 5}}', ""])
    await assert.rejects(acceptAudio(answer(body, 502, {}), "audio/mpeg"), {
      kind: "refused",
      message: "The server answered 502.",
    });
});

test("JSON under a good status is refused, not appended", async () => {
  const response = answer("{}", 200, { "Content-Type": "application/json" });
  await assert.rejects(acceptAudio(response, "audio/mpeg"), {
    kind: "refused",
    message: "The server sent application/json instead of audio/mpeg.",
  });
  assert.equal(response.bodyUsed, true);
});

test("an answer without a type, or without a body, is refused", async () => {
  await assert.rejects(acceptAudio(answer(new Uint8Array(3), 200, {}), "audio/mpeg"), {
    message: "The server sent nothing that names its type instead of audio/mpeg.",
  });
  const empty = answer(null, 200, { "Content-Type": "audio/mpeg" });
  await assert.rejects(acceptAudio(empty, "audio/mpeg"), { kind: "refused" });
});

test("an element's error is explained by what the server says to the same request", async () => {
  const own = new PlayerError("unsupported", "This browser cannot play this format.");
  assert.equal((await explain(own, Promise.resolve(refusal(400)))).message, "The queue is full.");
});

test("where the server has nothing to say, the element's own word stays", async () => {
  const own = new PlayerError("unsupported", "This browser cannot play this format.");
  const sound = answer("sound", 200, { "Content-Type": "audio/wav" });
  assert.equal(await explain(own, Promise.resolve(sound)), own);
  assert.equal(sound.bodyUsed, true);
  assert.equal(await explain(own, Promise.reject(new TypeError("offline"))), own);
});
