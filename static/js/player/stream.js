/**
 * From a response to a SourceBuffer: check, trim, read, append, and an answer to every way it can
 * end.
 * @module
 */

import { AppendQueue } from "./append-queue.js";
import { PlayerError, asPlayerError } from "./errors.js";
import { trimFromHeaders, trimsWithinFrames } from "./priming.js";
import { secondsAhead } from "./ranges.js";
import { ReadGate } from "./read-gate.js";
import { acceptAudio } from "./response-check.js";

/** @typedef {import("./platform.js").AnyMediaSource} AnyMediaSource */
/** @typedef {import("./playback.js").Playback} Playback */

/**
 * @typedef {object} StreamJob
 * @property {AnyMediaSource} mediaSource attached to the element
 * @property {Promise<void>} opened when that source is open
 * @property {Promise<Response>} response
 * @property {string} mseType
 * @property {boolean} keep whether to keep the bytes
 * @property {number} leadSeconds of sound ahead of the ear that are enough to stop reading
 * @property {string} userAgent
 * @property {(recording: Blob | null) => void} onComplete everything arrived
 */

/** Below this the element waits for data: about what Chromium wants before it starts. */
const DRY_SECONDS = 0.2;

/**
 * Streams one response into the element. Never rejects: failures are the playback's.
 * @param {HTMLMediaElement} audio
 * @param {Playback} playback
 * @param {StreamJob} job
 * @returns {Promise<void>}
 */
export async function streamInto(audio, playback, job) {
  try {
    const [{ headers, body }] = await Promise.all([accept(job), job.opened]);
    playback.signal.throwIfAborted();
    const sourceBuffer = openBuffer(job, headers);
    const line = connect(audio, playback, { ...job, sourceBuffer });
    await readAll(body, playback, { ...job, ...line });
  } catch (reason) {
    playback.fail(asPlayerError(reason, "interrupted", "The server could not be reached."));
  }
}

/**
 * @param {StreamJob} job
 * @returns {Promise<{headers: Headers, body: ReadableStream<Uint8Array<ArrayBuffer>>}>}
 */
async function accept({ response, mseType }) {
  const answer = await response;
  return { headers: answer.headers, body: await acceptAudio(answer, mseType) };
}

/**
 * Adds the buffer and moves the first real sample to time zero, which only works before the first
 * append.
 * @param {StreamJob} job
 * @param {Headers} headers
 * @returns {SourceBuffer}
 */
function openBuffer({ mediaSource, mseType, userAgent }, headers) {
  try {
    const sourceBuffer = mediaSource.addSourceBuffer(mseType);
    const trim = trimsWithinFrames(userAgent) ? trimFromHeaders(headers) : null;
    return trim ? Object.assign(sourceBuffer, trim) : sourceBuffer;
  } catch (reason) {
    throw new PlayerError("unsupported", `This browser refused ${mseType}.`, { cause: reason });
  }
}

/**
 * @param {HTMLMediaElement} audio
 * @param {Playback} playback
 * @param {StreamJob & {sourceBuffer: SourceBuffer}} job
 * @returns {{queue: AppendQueue, gate: ReadGate}}
 */
function connect(audio, playback, { mediaSource, sourceBuffer, leadSeconds }) {
  const { signal } = playback;
  const queue = new AppendQueue(mediaSource, sourceBuffer, {
    signal,
    onAdvance: () => {
      gate.check();
      playback.report();
    },
    onFailure: (error) => playback.fail(error),
    onLost: () => playback.abandon(),
  });
  const gate = new ReadGate(audio, mediaSource, queue, { leadSeconds, signal });
  // What was played can be evicted, so every step of the ear may have made room.
  audio.addEventListener("timeupdate", () => queue.retry() && gate.check(), { signal });
  audio.addEventListener("waiting", () => giveUpWhenFull(audio, playback, queue), { signal });
  return { queue, gate };
}

/**
 * Full, and yet nothing left to play: no eviction will ever make room.
 * @param {HTMLMediaElement} audio
 * @param {Playback} playback
 * @param {AppendQueue} queue
 */
function giveUpWhenFull(audio, playback, queue) {
  if (queue.retry() || secondsAhead(audio) > DRY_SECONDS) return;
  const message = "The browser has no room for the rest of the sound.";
  playback.fail(new PlayerError("quota", message, { atSeconds: audio.currentTime }));
}

/**
 * Reads the body to its end, or to where it was cut.
 * @param {ReadableStream<Uint8Array<ArrayBuffer>>} body
 * @param {Playback} playback
 * @param {{queue: AppendQueue, gate: ReadGate, keep: boolean, mseType: string,
 *   onComplete: (recording: Blob | null) => void}} line
 */
async function readAll(body, playback, { queue, gate, keep, mseType, onComplete }) {
  /** @type {Uint8Array<ArrayBuffer>[]} */
  const kept = [];
  try {
    for await (const chunk of chunksOf(body, playback, gate)) {
      queue.append(chunk);
      if (keep) kept.push(chunk);
    }
  } catch (reason) {
    queue.end();
    return playback.interrupt(asPlayerError(reason, "interrupted", "The connection broke off."));
  }
  if (playback.signal.aborted) return;
  queue.end();
  playback.stats.complete();
  playback.report();
  onComplete(keep ? new Blob(kept, { type: mseType }) : null);
}

/**
 * The body's chunks, asked for only while the gate is open.
 * @param {ReadableStream<Uint8Array<ArrayBuffer>>} body
 * @param {Playback} playback
 * @param {ReadGate} gate
 * @returns {AsyncGenerator<Uint8Array<ArrayBuffer>, void, void>}
 * @throws {PlayerError} `refused` where the body is empty
 */
async function* chunksOf(body, { signal, stats }, gate) {
  const reader = body.getReader();
  const hangUp = () => void reader.cancel().catch(() => undefined);
  signal.addEventListener("abort", hangUp, { once: true });
  try {
    while (!signal.aborted) {
      if (!gate.isOpen) stats.park();
      await gate.opened();
      stats.unpark();
      const { done, value } = await reader.read();
      if (done) break;
      stats.receive(value.byteLength);
      yield value;
    }
    if (!stats.hasReceived && !signal.aborted)
      throw new PlayerError("refused", "The server sent no sound.");
  } finally {
    signal.removeEventListener("abort", hangUp);
  }
}
