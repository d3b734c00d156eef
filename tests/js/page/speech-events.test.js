import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import { hearSpeech } from "../../../static/js/page/speech-events.js";
import { settle } from "../fakes.js";

const WORD = { text: "Hi", text_start: 0, text_end: 2, start: 0.1, end: 0.4 };

/** @type {unknown[]} */
let told;

beforeEach(() => {
  told = [];
});

/** @param {[string, unknown][]} events @param {boolean} [goesOn] */
async function* send(events, goesOn = false) {
  for (const [type, fields] of events) yield { type, data: JSON.stringify(fields), id: "" };
  if (goesOn) await new Promise(() => {});
}

/** @param {AsyncIterable<{type: string, data: string, id: string}>} events */
const hear = (events) =>
  hearSpeech(events, {
    onPosition: (position) => told.push(position),
    onWords: (marks) => told.push(...marks),
  });

test("places in the queue and words are told as they come", async () => {
  await hear(
    send([
      ["queued", { position: 2 }],
      ["queued", { position: 1 }],
      ["started", { model: "signal" }],
      ["chunk", { samples: 9, bytes: 3, marks: [WORD] }],
      ["chunk", { samples: 18, bytes: 6, marks: [] }],
      ["lost", { before: 9 }],
    ]),
  );
  assert.deepEqual(told, [2, 1, 0, WORD]);
});

test("the end is known with the total, before the speech is done", async () => {
  assert.deepEqual(await hear(send([["total", { seconds: 2.5 }]], true)), { seconds: 2.5 });
});

test("a failure is known with its words", async () => {
  const failed = { error: { message: "The voice failed.", type: "server_error" } };
  assert.deepEqual(await hear(send([["failed", failed]], true)), { failure: "The voice failed." });
});

test("a speech that was cancelled, or whose events stop, has no end to tell", async () => {
  assert.equal(await hear(send([["cancelled", { samples: 3 }]])), null);
  assert.equal(await hear(send([])), null);
});

test("events that make no sense end the hearing, not the page", async () => {
  assert.equal(await hear(send([["chunk", null]])), null);
  await settle();
});
