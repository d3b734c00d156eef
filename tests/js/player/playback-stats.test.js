import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import { PlaybackStats } from "../../../static/js/player/playback-stats.js";

let clock = 0;
/** @type {PlaybackStats} */
let stats;

beforeEach(() => {
  clock = 5000;
  stats = new PlaybackStats(() => clock);
});

test("before anything happens nothing is known", () => {
  assert.deepEqual(stats.read(0, 0), {
    firstSoundSeconds: null,
    receivedSeconds: 0,
    bufferedSeconds: 0,
    receivedBytes: 0,
    realTimeFactor: null,
    stalls: 0,
    stalledSeconds: 0,
    complete: false,
  });
});

test("the first sound is dated back by what was heard since", () => {
  clock += 400;
  stats.sound(0.15, 1);
  assert.equal(stats.read(1, 0.15).firstSoundSeconds, 0.25);
});

test("at double speed twice as much was heard in that time", () => {
  clock += 400;
  stats.sound(0.2, 2);
  assert.equal(stats.read(1, 0.2).firstSoundSeconds, 0.3);
});

test("only the first sound counts, and only once something was heard", () => {
  stats.sound(0, 1);
  assert.equal(stats.hasSounded, false);
  clock += 300;
  stats.sound(0.1, 1);
  clock += 9000;
  stats.sound(5, 1);
  assert.equal(stats.read(6, 5).firstSoundSeconds, 0.2);
});

test("the real-time factor is the time to arrive over what arrived", () => {
  clock += 1000;
  stats.receive(10);
  clock += 1000;
  stats.receive(10);
  assert.equal(stats.read(4, 0).realTimeFactor, 0.5);
});

test("the real-time factor leaves out the time in which nothing was asked for", () => {
  clock += 1000;
  stats.receive(10);
  stats.park();
  clock += 30_000;
  stats.park();
  stats.unpark();
  clock += 1000;
  stats.receive(10);
  assert.equal(stats.read(4, 0).realTimeFactor, 0.5);
});

test("what was received stays received when it is evicted or let go", () => {
  stats.read(12, 3);
  const { receivedSeconds, bufferedSeconds } = stats.read(0, 0);
  assert.deepEqual([receivedSeconds, bufferedSeconds], [12, 0]);
});

test("bytes, stalls and the end are counted", () => {
  stats.receive(3);
  stats.receive(4);
  stats.stall();
  stats.complete();
  const { receivedBytes, stalls, complete } = stats.read(1, 0);
  assert.deepEqual([receivedBytes, stalls, complete], [7, 1, true]);
});

test("a stall lasts until the sound is heard again, and one that goes on counts until now", () => {
  stats.stall();
  clock += 400;
  assert.equal(stats.read(1, 1).stalledSeconds, 0.4);
  stats.resume();
  clock += 9000;
  stats.resume();
  stats.stall();
  clock += 100;
  assert.equal(stats.read(1, 1).stalledSeconds, 0.5);
});
