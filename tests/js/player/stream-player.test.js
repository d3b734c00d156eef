import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import { StreamPlayer } from "../../../static/js/player/stream-player.js";
import {
  FakeBody,
  FakeBrowser,
  FakeManagedMediaSource,
  FakeMediaSource,
  settle,
} from "../fakes.js";

const MP3 = { mseType: "audio/mpeg" };
const HEADERS = { "Content-Type": "audio/mpeg" };

/** @typedef {import("../../../static/js/player/stream-player.js").Stats} Stats */
/** @typedef {import("../../../static/js/player/stream-player.js").Ending} Ending */

/** @type {FakeBrowser} */
let browser;
/** @type {FakeBody} */
let body;
/** @type {StreamPlayer} */
let player;
/** @type {string[]} */
let states;
/** @type {import("../../../static/js/player/errors.js").PlayerError[]} */
let errors;
/** @type {(Blob | null)[]} */
let recordings;
/** @type {Stats | undefined} */
let stats;

/** @param {Record<string, unknown>} [platform] @param {number} [leadSeconds] */
function build(platform, leadSeconds = 60) {
  browser = new FakeBrowser();
  body = new FakeBody();
  [states, errors, recordings, stats] = [[], [], [], undefined];
  player = new StreamPlayer(/** @type {any} */ (browser.audio), {
    leadSeconds,
    platform: browser.platform(platform),
  });
  player.addEventListener("state", ({ detail }) => void states.push(detail));
  player.addEventListener("error", ({ detail }) => void errors.push(detail));
  player.addEventListener("complete", ({ detail }) => void recordings.push(detail));
  player.addEventListener("stats", ({ detail }) => void (stats = detail));
}

beforeEach(() => build());

/** @param {Record<string, string>} [headers] */
const respond = (headers = {}) =>
  new Response(body.stream, { headers: { ...HEADERS, ...headers } });

/**
 * Presses Play and lets some sound arrive.
 * @param {number} bytes
 * @param {Record<string, string>} [headers]
 */
async function playSome(bytes, headers) {
  player.play(respond(headers), MP3);
  body.write(bytes);
  await settle();
}

const source = () => /** @type {FakeMediaSource} */ (browser.audio.source);
const buffer = () =>
  /** @type {import("../fakes.js").FakeSourceBuffer} */ (source().sourceBuffers[0]);

test("the element is told to play within the press, before anything is awaited", () => {
  player.play(respond(), MP3);
  assert.equal(browser.audio.plays, 1);
  assert.equal(player.state, "waiting");
});

test("sound is played to its end, and every state on the way is told once", async () => {
  await playSome(100);
  browser.audio.hear(0.5);
  body.write(100);
  body.end();
  await settle();
  browser.audio.hear(9);
  assert.deepEqual(states, ["waiting", "playing", "ended"]);
  assert.deepEqual(source().endings, [""]);
  assert.deepEqual(errors, []);
});

test("a clip of 50 ms ends its stream, which is what makes Chromium play it", async () => {
  player.play(respond(), MP3);
  body.write(5);
  body.end();
  await settle();
  assert.equal(source().readyState, "ended");
  browser.audio.hear(1);
  assert.equal(player.state, "ended");
});

test("a function is asked for the response, with the signal that hangs up", async () => {
  /** @type {AbortSignal | undefined} */
  let signal;
  player.play(async (given) => ((signal = given), respond()), MP3);
  await settle();
  assert.equal(signal?.aborted, false);
  player.stop();
  assert.equal(signal?.aborted, true);
});

test("an address is fetched, with the signal that hangs up", async () => {
  /** @type {AbortSignal | undefined} */
  let signal;
  browser.answer = async (_, init) => ((signal = init.signal), respond());
  player.play("/speech", MP3);
  await settle();
  player.stop();
  assert.equal(signal?.aborted, true);
});

test("once the source is open its address is freed", async () => {
  player.play(respond(), MP3);
  assert.equal(browser.urls.size, 1);
  await settle();
  assert.equal(browser.urls.size, 0);
});

test("stop lets go of the element, cancels the body and goes idle", async () => {
  await playSome(100);
  player.stop();
  await settle();
  assert.equal(body.cancelled, true);
  assert.equal(browser.audio.src, "");
  assert.deepEqual(states, ["waiting", "idle"]);
  assert.equal(stats?.bufferedSeconds, 0);
  assert.deepEqual(errors, []);
});

test("stop before the source is open frees its address too", () => {
  player.play(respond(), MP3);
  player.stop();
  assert.equal(browser.urls.size, 0);
});

test("stop is harmless when there is nothing to stop", () => {
  player.stop();
  assert.deepEqual(states, []);
});

test("the declared priming is cut off before the first append", async () => {
  player.play(respond({ "X-Audio-Priming-Samples": "576", "X-Audio-Sample-Rate": "24000" }), MP3);
  await settle();
  assert.equal(buffer().timestampOffset, -0.024);
  assert.equal(buffer().appends.length, 0);
});

test("Firefox would cut a whole frame, so nothing is cut there", async () => {
  build({ userAgent: "Mozilla/5.0 (X11; rv:153.0) Gecko/20100101 Firefox/153.0" });
  player.play(respond({ "X-Audio-Priming-Samples": "576", "X-Audio-Sample-Rate": "24000" }), MP3);
  await settle();
  assert.equal(buffer().timestampOffset, 0);
});

test("a type that MediaSource does not take is unsupported, and nothing is asked for", () => {
  let asked = false;
  player.play(async () => ((asked = true), respond()), { mseType: "audio/ogg" });
  assert.deepEqual([errors[0]?.kind, player.state, asked], ["unsupported", "failed", false]);
});

test("a source that refuses its own type after all is unsupported", async () => {
  player.play(respond(), MP3);
  source().addSourceBuffer = () => {
    throw new DOMException("no", "NotSupportedError");
  };
  await settle();
  assert.equal(errors[0]?.kind, "unsupported");
});

test("a refusal is told with the server's words, and never appended", async () => {
  const refusal = new Response('{"error":{"message":"No such voice."}}', { status: 404 });
  player.play(refusal, MP3);
  const { sourceBuffers } = source();
  await settle();
  assert.deepEqual([errors[0]?.kind, errors[0]?.message], ["refused", "No such voice."]);
  assert.equal(errors[0]?.status, 404);
  assert.equal(sourceBuffers.length, 0);
  assert.equal(player.state, "failed");
});

test("an empty body is refused instead of waited for", async () => {
  player.play(respond(), MP3);
  body.end();
  await settle();
  assert.deepEqual([errors[0]?.kind, errors[0]?.message], ["refused", "The server sent no sound."]);
  assert.deepEqual(recordings, []);
});

test("a server out of reach is an interruption, told at once", async () => {
  player.play("/speech", MP3);
  await settle();
  assert.deepEqual(
    [errors[0]?.kind, errors[0]?.message],
    ["interrupted", "The server could not be reached."],
  );
});

test("after a cut what arrived plays out before the person is told where", async () => {
  await playSome(200);
  browser.audio.hear(0.5);
  body.cut();
  await settle();
  assert.deepEqual([source().endings, errors, player.state], [[""], [], "playing"]);
  browser.audio.hear(9);
  assert.deepEqual(
    [errors[0]?.kind, errors[0]?.atSeconds, player.state],
    ["interrupted", 2, "failed"],
  );
  assert.deepEqual(recordings, []);
});

test("a cut before any sound is told at once", async () => {
  player.play(respond(), MP3);
  await settle();
  body.cut();
  await settle();
  assert.deepEqual([errors.length, errors[0]?.kind], [1, "interrupted"]);
});

test("a cut within the first frame is an interruption, whatever the element calls it", async () => {
  await playSome(3);
  body.cut();
  await settle();
  browser.audio.break(4);
  await settle();
  assert.deepEqual([errors.length, errors[0]?.kind], [1, "interrupted"]);
});

test("bytes that cannot be decoded are told once", async () => {
  await playSome(10);
  buffer().damaged = true;
  body.write(10);
  await settle();
  browser.audio.break(3);
  await settle();
  assert.deepEqual([errors.length, errors[0]?.kind], [1, "decode"]);
});

for (const [code, kind] of /** @type {const} */ ([
  [2, "interrupted"],
  [3, "decode"],
  [4, "unsupported"],
]))
  test(`an element's error ${code} is ${kind}`, async () => {
    await playSome(10);
    browser.audio.break(code);
    await settle();
    assert.deepEqual([errors[0]?.kind, player.state, browser.audio.src], [kind, "failed", ""]);
  });

test("a browser that wants a press loses nothing: what arrives waits for resume", async () => {
  browser.audio.refusal = new DOMException("no", "NotAllowedError");
  await playSome(100);
  assert.equal(player.state, "blocked");
  browser.audio.refusal = null;
  player.resume();
  browser.audio.hear(0.1);
  assert.equal(player.state, "playing");
  assert.deepEqual(errors, []);
});

test("a play() that a pause overtook is no error", async () => {
  browser.audio.refusal = new DOMException("paused", "AbortError");
  await playSome(100);
  assert.deepEqual([errors, player.state], [[], "waiting"]);
});

test("a play() that is not supported is", async () => {
  browser.audio.refusal = new DOMException("no", "NotSupportedError");
  await playSome(100);
  assert.equal(errors[0]?.kind, "unsupported");
});

test("pause and resume are states, and the end is not a pause", async () => {
  await playSome(100);
  browser.audio.hear(0.2);
  player.pause();
  player.resume();
  browser.audio.dispatchEvent(new Event("playing"));
  assert.deepEqual(states, ["waiting", "playing", "paused", "playing"]);
});

test("running dry is a stall once sound was heard, and more sound ends it", async () => {
  await playSome(0);
  browser.audio.dispatchEvent(new Event("waiting"));
  assert.equal(player.state, "waiting");
  body.write(100);
  await settle();
  browser.audio.hear(0.5);
  browser.audio.hear(9);
  browser.audio.dispatchEvent(new Event("waiting"));
  assert.deepEqual([player.state, stats?.stalls], ["stalled", 1]);
  browser.audio.dispatchEvent(new Event("playing"));
  assert.deepEqual([player.state, stats?.stalls], ["playing", 1]);
});

test("whoever hears that it is over knows the last numbers", async () => {
  for (const [last, end] of /** @type {const} */ ([
    ["idle", () => player.stop()],
    ["failed", () => browser.audio.break(3)],
  ])) {
    build();
    await playSome(100);
    browser.audio.hear(0.5);
    browser.audio.hear(9);
    browser.clock += 2000;
    let known = 0;
    player.addEventListener("state", ({ detail }) => {
      if (detail === last) known = stats?.stalledSeconds ?? 0;
    });
    end();
    await settle();
    assert.equal(known, 2);
  }
});

test("the numbers can be asked for at any time", async () => {
  assert.deepEqual([player.stats], [null]);
  await playSome(100);
  browser.audio.hear(0.5);
  browser.audio.hear(9);
  browser.clock += 300;
  assert.deepEqual([player.stats?.stalls, player.stats?.stalledSeconds], [1, 0.3]);
  browser.audio.dispatchEvent(new Event("playing"));
  browser.clock += 9000;
  assert.equal(player.stats?.stalledSeconds, 0.3);
});

test("waiting while seeking, or while paused, is no stall", async () => {
  await playSome(100);
  browser.audio.hear(0.5);
  browser.audio.seeking = true;
  browser.audio.dispatchEvent(new Event("waiting"));
  browser.audio.seeking = false;
  browser.audio.pause();
  browser.audio.dispatchEvent(new Event("waiting"));
  assert.deepEqual([player.state, stats?.stalls], ["paused", 0]);
});

test("reading stops when enough is ahead, and goes on as the ear moves", async () => {
  build({}, 2);
  player.play(respond(), MP3);
  for (let count = 0; count < 20; count += 1) {
    body.write(100);
    await settle();
  }
  // The read that was under way when the lead was reached still comes in.
  assert.equal(buffer().bytes, 300);
  browser.audio.hear(1.5);
  await settle();
  assert.ok(buffer().bytes > 300);
});

test("the time in which nothing was read says nothing about the server", async () => {
  build({}, 2);
  player.play(respond(), MP3);
  await settle();
  browser.clock = 1000;
  body.write(300);
  await settle();
  body.write(100);
  await settle();
  browser.clock = 61_000;
  browser.audio.hear(2.5);
  await settle();
  browser.clock = 62_000;
  body.write(100);
  await settle();
  assert.deepEqual([stats?.receivedSeconds, stats?.realTimeFactor], [5, 0.4]);
});

test("a full buffer stops the reading, and what was played makes room", async () => {
  await playSome(100);
  buffer().budget = 100;
  for (let count = 0; count < 5; count += 1) {
    body.write(10);
    await settle();
  }
  browser.audio.dispatchEvent(new Event("seeked"));
  assert.deepEqual([buffer().bytes, stats?.receivedBytes], [100, 110]);
  buffer().budget = 1000;
  browser.audio.hear(0.2);
  await settle();
  assert.equal(buffer().bytes, 150);
  assert.deepEqual(errors, []);
});

test("full with nothing left to play is a quota error that says where", async () => {
  await playSome(100);
  buffer().budget = 100;
  body.write(10);
  await settle();
  browser.audio.hear(0.5);
  browser.audio.dispatchEvent(new Event("waiting"));
  assert.equal(errors.length, 0);
  browser.audio.hear(9);
  assert.deepEqual([errors[0]?.kind, errors[0]?.atSeconds], ["quota", 1]);
});

/**
 * Presses Play with a promise of how it ends.
 * @param {Promise<Ending | null>} ending
 * @param {number} bytes
 */
async function playPromised(ending, bytes) {
  player.play(respond({ "X-Audio-Sample-Rate": "24000" }), { ...MP3, ending: () => ending });
  body.write(bytes);
  await settle();
}

/** @returns {Promise<never>} */
const never = () => new Promise(() => {});

const MP3_DELAY_SECONDS = 529 / 24_000;

test("the last KiB waits for the end, and is cut where the server says that the sound ends", async () => {
  await playPromised(Promise.resolve({ seconds: 29.5 }), 3000);
  assert.equal(buffer().bytes, 3000 - 1024);
  body.end();
  await settle();
  assert.equal(buffer().bytes, 3000);
  assert.deepEqual(buffer().windowEnds, [Infinity, 29.5 + MP3_DELAY_SECONDS]);
  assert.deepEqual(source().endings, [""]);
});

test("an end that is not told in time is not waited for, and cuts nothing", async () => {
  await playPromised(never(), 3000);
  body.write(2000);
  body.end();
  await settle();
  assert.equal(buffer().bytes, 5000 - 1024);
  browser.waits[0]?.end();
  await settle();
  assert.deepEqual([buffer().bytes, buffer().appendWindowEnd], [5000, Infinity]);
  assert.equal(recordings.length, 1);
});

test("an end before what is already in is another sound's, and cuts nothing", async () => {
  await playPromised(Promise.resolve({ seconds: 19 }), 3000);
  body.end();
  await settle();
  assert.deepEqual([buffer().bytes, buffer().appendWindowEnd], [3000, Infinity]);
});

test("an end waits until what lies before it is in", async () => {
  await playPromised(Promise.resolve({ seconds: 29.5 }), 0);
  body.write(3000);
  body.end();
  await settle();
  assert.deepEqual(buffer().windowEnds, [Infinity, 29.5 + MP3_DELAY_SECONDS]);
});

test("without a word about the end, or where frames are cut whole, nothing is held back", async () => {
  await playSome(100);
  assert.equal(buffer().bytes, 100);
  build({ userAgent: "Mozilla/5.0 (X11; rv:153.0) Gecko/20100101 Firefox/153.0" });
  await playPromised(Promise.resolve({ seconds: 1.5 }), 100);
  body.end();
  await settle();
  assert.deepEqual([buffer().bytes, buffer().appendWindowEnd], [100, Infinity]);
});

test("the first sound is not held back, and an ear that comes near gets what was", async () => {
  await playPromised(never(), 1060);
  assert.equal(buffer().bytes, 1060);
  body.write(500);
  await settle();
  browser.audio.hear(10);
  await settle();
  assert.equal(buffer().bytes, 1060);
  browser.audio.hear(0.2);
  await settle();
  assert.equal(buffer().bytes, 1560);
});

test("what may start the sound is not held back", async () => {
  await playPromised(never(), 500);
  assert.equal(buffer().bytes, 500);
});

test("what is known to be the last is held back, however little there is", async () => {
  await playPromised(Promise.resolve({ seconds: 4 }), 500);
  assert.equal(buffer().bytes, 0);
  body.end();
  await settle();
  assert.deepEqual(buffer().windowEnds, [4 + MP3_DELAY_SECONDS]);
});

test("what still waits for the buffer counts as being ahead", async () => {
  await playPromised(never(), 0);
  body.write(2000);
  body.write(500);
  await settle();
  assert.equal(buffer().bytes, 2500 - 1024);
});

test("the ear does not get the tail while its end is waited for", async () => {
  await playPromised(never(), 2000);
  body.end();
  await settle();
  browser.audio.hear(9.5);
  await settle();
  assert.equal(buffer().bytes, 2000 - 1024);
});

test("after a cut the server's own words say why", async () => {
  await playPromised(Promise.resolve({ failure: "The voice failed." }), 2000);
  body.cut();
  await settle();
  assert.equal(buffer().bytes, 2000);
  browser.audio.hear(99);
  assert.deepEqual(
    [errors[0]?.kind, errors[0]?.message, errors[0]?.atSeconds],
    ["interrupted", "The voice failed.", 20],
  );
});

test("a cut that nobody explains is told all the same", async () => {
  await playPromised(never(), 2000);
  body.cut();
  await settle();
  assert.equal(player.state, "waiting");
  browser.waits[0]?.end();
  await settle();
  browser.audio.hear(99);
  assert.equal(errors[0]?.message, "The connection broke off.");
});

test("a stop while the end is waited for leaves nothing behind", async () => {
  await playPromised(never(), 2000);
  body.end();
  await settle();
  player.stop();
  await settle();
  assert.deepEqual([recordings, errors, states.at(-1)], [[], [], "idle"]);
});

test("everything that arrived is handed out once, in order, when all of it is there", async () => {
  player.play(respond(), MP3);
  body.write(3, 1);
  body.write(2, 2);
  await settle();
  assert.equal(recordings.length, 0);
  body.end();
  await settle();
  const [recording] = recordings;
  assert.equal(recording?.type, "audio/mpeg");
  assert.deepEqual(
    [...new Uint8Array(await /** @type {Blob} */ (recording).arrayBuffer())],
    [1, 1, 1, 2, 2],
  );
  assert.equal(recordings.length, 1);
});

test("bytes that are not wanted later are not kept", async () => {
  player.play(respond(), { ...MP3, keep: false });
  body.write(3);
  body.end();
  await settle();
  assert.deepEqual(recordings, [null]);
});

test("a second play replaces the first, whose late events go unheard", async () => {
  await playSome(100);
  const first = { body, source: source() };
  body = new FakeBody();
  await playSome(50);
  first.source.dispatchEvent(new Event("sourceclose"));
  assert.equal(first.body.cancelled, true);
  assert.notEqual(source(), first.source);
  assert.equal(buffer().bytes, 50);
  body.end();
  await settle();
  browser.audio.hear(9);
  assert.deepEqual(states, ["waiting", "waiting", "playing", "ended"]);
  assert.deepEqual(errors, []);
  assert.equal(recordings.length, 1);
});

test("an element that someone else gives another source is left to them", async () => {
  await playSome(100);
  browser.audio.src = "elsewhere.mp3";
  await settle();
  assert.deepEqual([player.state, errors, body.cancelled], ["idle", [], true]);
  assert.equal(browser.audio.src, "elsewhere.mp3");
});

test("seeking goes no further than what is there", async () => {
  player.seek(1);
  assert.equal(browser.audio.currentTime, 0);
  await playSome(200);
  player.seek(99);
  assert.equal(browser.audio.currentTime, 1.999);
});

test("the numbers tell the first sound, what arrived and what is ahead", async () => {
  player.play(respond(), MP3);
  await settle();
  browser.clock = 400;
  body.write(200);
  await settle();
  browser.clock = 600;
  browser.audio.hear(0.5);
  assert.deepEqual(stats, {
    firstSoundSeconds: 0.1,
    receivedSeconds: 2,
    bufferedSeconds: 1.5,
    receivedBytes: 200,
    realTimeFactor: 0.2,
    stalls: 0,
    stalledSeconds: 0,
    complete: false,
  });
});

test("MediaSource is preferred to the managed one", () => {
  build({ ManagedMediaSource: FakeManagedMediaSource });
  player.play(respond(), MP3);
  assert.equal(source() instanceof FakeManagedMediaSource, false);
  assert.equal(browser.audio.disableRemotePlayback, false);
});

test("a managed source stays here, and is fed only while it wants data", async () => {
  build({ MediaSource: undefined, ManagedMediaSource: FakeManagedMediaSource });
  await playSome(100);
  const managed = /** @type {FakeManagedMediaSource} */ (source());
  assert.equal(browser.audio.disableRemotePlayback, true);
  assert.equal(buffer().bytes, 0);
  managed.want(true);
  await settle();
  assert.equal(buffer().bytes, 100);
  managed.want(false);
  body.write(50);
  await settle();
  body.write(50);
  await settle();
  assert.ok(buffer().bytes <= 150);
  managed.want(true);
  await settle();
  assert.equal(buffer().bytes, 200);
});

test("without any MediaSource play() is unsupported, and playUrl() plays", () => {
  build({ MediaSource: undefined });
  player.play(respond(), MP3);
  assert.equal(errors[0]?.kind, "unsupported");
  player.playUrl("/speech.mp3");
  assert.deepEqual([browser.audio.src, browser.audio.plays], ["/speech.mp3", 1]);
});

test("an element that cannot play an address gets the server's words for it", async () => {
  browser.answer = async () =>
    new Response('{"error":{"message":"No such voice."}}', { status: 404 });
  player.playUrl("/speech");
  browser.audio.break(4);
  await settle();
  assert.deepEqual([errors[0]?.kind, errors[0]?.message], ["refused", "No such voice."]);
});
