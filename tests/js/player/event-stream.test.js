import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import { followEvents } from "../../../static/js/player/event-stream.js";
import { settle } from "../fakes.js";

const HEADERS = { "Content-Type": "text/event-stream; charset=utf-8" };

/** @typedef {{headers: Headers, signal: AbortSignal}} Asked */

/** @type {Asked[]} what the server was asked */
let asked;
/** @type {number[]} */
let waits;
/** @type {AbortController} */
let life;
/** @type {(() => Response)[]} what it answers, in order; a network error once there is no more */
let answers;

beforeEach(() => {
  [asked, waits, answers, life] = [[], [], [], new AbortController()];
});

/** @param {Partial<Parameters<typeof followEvents>[1]>} [options] */
const follow = (options = {}) =>
  followEvents("/events", {
    signal: life.signal,
    endings: new Set(["done"]),
    fetch: async (_, init) => {
      asked.push(/** @type {Asked} */ (init));
      const answer = answers.shift();
      if (!answer) throw new TypeError("network error");
      return answer();
    },
    wait: async (milliseconds) => void waits.push(milliseconds),
    ...options,
  });

/** @param {AsyncIterable<{data: string}>} events */
async function dataOf(events) {
  const all = [];
  for await (const { data } of events) all.push(data);
  return all;
}

/** @param {string} text */
const whole = (text) => () => new Response(text, { headers: HEADERS });

/** A body that breaks off after its text. @param {string} text */
const cut = (text) => () => {
  const bytes = new TextEncoder().encode(text);
  let sent = false;
  const body = new ReadableStream({
    pull(controller) {
      if (sent) return controller.error(new TypeError("network error"));
      controller.enqueue(bytes);
      sent = true;
    },
  });
  return new Response(body, { headers: HEADERS });
};

test("events come until one that ends the stream", async () => {
  answers = [whole("data: a\n\nevent: done\ndata: b\n\ndata: c\n\n")];
  assert.deepEqual(await dataOf(follow()), ["a", "b"]);
  assert.equal(asked.length, 1);
});

test("the body is let go of when nobody reads on", async () => {
  let cancelled = false;
  const body = new ReadableStream({
    start: (controller) => controller.enqueue(new TextEncoder().encode("data: a\n\n")),
    cancel: () => void (cancelled = true),
  });
  answers = [() => new Response(body, { headers: HEADERS })];
  for await (const { data } of follow()) if (data === "a") break;
  assert.equal(cancelled, true);
});

test("headers are sent with every request, and the last id with every further one", async () => {
  answers = [cut("id: 3\ndata: a\n\ndata: torn"), whole("id: 4\nevent: done\ndata: b\n\n")];
  const events = follow({ headers: { Authorization: "Bearer k" } });
  assert.deepEqual(await dataOf(events), ["a", "b"]);
  assert.deepEqual(
    asked.map(({ headers }) => [headers.get("Authorization"), headers.get("Last-Event-ID")]),
    [
      ["Bearer k", null],
      ["Bearer k", "3"],
    ],
  );
});

test("waits grow while nothing comes, begin anew when something does, and end", async () => {
  answers = [
    () => new Response("", { status: 503 }),
    () => new Response("", { status: 429 }),
    cut("data: a\n\n"),
  ];
  assert.deepEqual(await dataOf(follow()), ["a"]);
  assert.deepEqual(waits, [250, 500, 250, 500, 1000, 2000]);
});

test("the server may say how long to wait", async () => {
  answers = [cut("retry: 10\ndata: a\n\n"), cut(""), whole("event: done\ndata: b\n\n")];
  assert.deepEqual(await dataOf(follow()), ["a", "b"]);
  assert.deepEqual(waits, [10, 20]);
});

test("an ending that is missing is asked for, until the server says that there is none", async () => {
  answers = [whole("id: 9\ndata: a\n\n"), () => new Response(null, { status: 204 })];
  assert.deepEqual(await dataOf(follow()), ["a"]);
  assert.equal(asked[1]?.headers.get("Last-Event-ID"), "9");
});

for (const status of [401, 404])
  test(`a ${status} is not asked again`, async () => {
    answers = [() => new Response("{}", { status }), whole("data: a\n\n")];
    assert.deepEqual(await dataOf(follow()), []);
  });

test("what is no event stream is not read", async () => {
  answers = [() => new Response("data: a\n\n", { headers: { "Content-Type": "text/html" } })];
  assert.deepEqual(await dataOf(follow()), []);
});

test("nothing is told any more once the signal has ended it", async () => {
  answers = [whole("data: a\n\ndata: b\n\n")];
  const heard = [];
  for await (const { data } of follow()) {
    heard.push(data);
    life.abort();
  }
  assert.deepEqual(heard, ["a"]);
});

test("a signal ends it quietly: before, while it waits, and while it reads", async () => {
  life.abort();
  assert.deepEqual(await dataOf(follow()), []);
  assert.equal(asked.length, 0);

  life = new AbortController();
  assert.deepEqual(await dataOf(follow({ wait: async () => life.abort() })), []);

  life = new AbortController();
  const { signal } = life;
  const body = new ReadableStream({
    start: (controller) => signal.addEventListener("abort", () => controller.error(signal.reason)),
  });
  answers = [() => new Response(body, { headers: HEADERS })];
  const events = dataOf(follow());
  await settle();
  life.abort();
  assert.deepEqual(await events, []);
});
