import assert from "node:assert/strict";
import { test } from "node:test";

import { EventParser } from "../../../static/js/player/event-parser.js";
import { drawer } from "../random.js";

/** @param {string} text @param {EventParser} [parser] */
const parse = (text, parser = new EventParser()) => parser.push(new TextEncoder().encode(text));

/** @param {string} text */
const dataOf = (text) => parse(text).map(({ data }) => data);

test("an event has a type, data and an id", () => {
  assert.deepEqual(parse("event: chunk\ndata: {}\nid: 7\n\n"), [
    { type: "chunk", data: "{}", id: "7" },
  ]);
});

test("without a type it is a message, and the type holds for one event only", () => {
  const events = parse("event: chunk\ndata: a\n\ndata: b\n\nevent: lone\n\ndata: c\n\n");
  assert.deepEqual(
    events.map(({ type }) => type),
    ["chunk", "message", "message"],
  );
});

test("the standard's examples read as it says", () => {
  assert.deepEqual(dataOf("data: YHOO\ndata: +2\ndata: 10\n\n"), ["YHOO\n+2\n10"]);
  assert.deepEqual(dataOf(": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\n"), [
    "first event",
    "second event",
  ]);
  assert.deepEqual(dataOf("data\n\ndata\ndata\n\ndata:"), ["", "\n"]);
  assert.deepEqual(dataOf("data:test\n\ndata: test\n\n"), ["test", "test"]);
});

test("only the first space after the colon is no data, and a colon in the value is", () => {
  assert.deepEqual(dataOf("data:  a: b\n\n"), [" a: b"]);
});

test("CR, LF and CRLF all end a line", () => {
  assert.deepEqual(dataOf("data: a\r\rdata: b\n\ndata: c\r\n\r\ndata: d\r\n\n"), [
    "a",
    "b",
    "c",
    "d",
  ]);
});

test("a byte order mark at the start is no part of a field, and one elsewhere is", () => {
  assert.deepEqual(dataOf("\uFEFFdata: a\n\n\uFEFFdata: b\n\ndata: c\n\n"), ["a", "c"]);
});

test("an id stays until another comes, is emptied by an empty one, and holds no NUL", () => {
  const events = parse("id: 1\ndata: a\n\ndata: b\n\nid: 2\0\ndata: c\n\nid\ndata: d\n\n");
  assert.deepEqual(
    events.map(({ id }) => id),
    ["1", "1", "1", ""],
  );
});

test("an id counts once its event is complete, with data or without", () => {
  const parser = new EventParser("5");
  assert.equal(parser.lastEventId, "5");
  parse("id: 6\ndata: a\n", parser);
  assert.equal(parser.lastEventId, "5");
  parse("\nid: 7\n\n", parser);
  assert.equal(parser.lastEventId, "7");
});

test("a retry is digits, and what is not is ignored", () => {
  const parser = new EventParser();
  assert.equal(parser.retryMs, null);
  parse("retry: 1500\n", parser);
  parse("retry: 15s\nretry: -1\nretry:\n", parser);
  assert.equal(parser.retryMs, 1500);
});

test("comments and unknown fields say nothing", () => {
  assert.deepEqual(parse(": nothing new\n\nfoo: bar\nDATA: a\n\n"), []);
});

test("bytes that are no UTF-8 are replaced, not fatal", () => {
  const bytes = new Uint8Array([...new TextEncoder().encode("data: a"), 0xff, 10, 10]);
  assert.equal(new EventParser().push(bytes)[0]?.data, "a\uFFFD");
});

test("events are the same however the bytes are cut", () => {
  const draw = drawer(11);
  const ends = ["\n", "\r", "\r\n"];
  const lines = ["data: ä→😀", "data", "event: chunk", "id: 4", "id", ": ping", "retry: 9", "", ""];
  for (let round = 0; round < 200; round += 1) {
    let text = draw(2) ? "\uFEFF" : "";
    for (let count = draw(30); count > 0; count -= 1)
      text += `${lines[draw(lines.length)]}${ends[draw(3)]}`;
    const bytes = new TextEncoder().encode(text);
    const whole = new EventParser().push(bytes);
    const parser = new EventParser();
    const cut = [];
    for (let at = 0; at < bytes.length;) {
      const size = draw(6);
      cut.push(...parser.push(bytes.subarray(at, at + size)));
      at += size;
    }
    assert.deepEqual(cut, whole, JSON.stringify(text));
  }
});
