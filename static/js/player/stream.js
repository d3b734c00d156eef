/**
 * From a response to a SourceBuffer: check the one, set up the other, and connect them.
 * @module
 */

import { AppendQueue } from "./append-queue.js";
import { Tail } from "./ending.js";
import { PlayerError, asPlayerError } from "./errors.js";
import { carry, spare } from "./line.js";
import { trimFromHeaders, trimsWithinFrames } from "./priming.js";
import { DRY_SECONDS, secondsAhead } from "./ranges.js";
import { ReadGate } from "./read-gate.js";
import { acceptAudio } from "./response-check.js";

/** @typedef {import("./platform.js").AnyMediaSource} AnyMediaSource */
/** @typedef {import("./line.js").Line} Line */
/** @typedef {import("./playback.js").Playback} Playback */

/**
 * @typedef {object} StreamJob
 * @property {AnyMediaSource} mediaSource attached to the element
 * @property {Promise<void>} opened when that source is open
 * @property {Promise<Response>} response
 * @property {string} mseType
 * @property {boolean} keep whether to keep the bytes
 * @property {number} leadSeconds of sound ahead of the ear that are enough to stop reading
 * @property {Promise<import("./ending.js").Ending | null> | undefined} ending what the server tells
 *   of the end
 * @property {import("./platform.js").Platform} platform
 * @property {(recording: Blob | null) => void} onComplete everything arrived
 */

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
    const tail = new Tail(job.ending !== undefined && trimsWithinFrames(job.platform.userAgent));
    await carry(connect({ audio, playback, job, headers, body, tail }, sourceBuffer));
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
function openBuffer({ mediaSource, mseType, platform }, headers) {
  try {
    const sourceBuffer = mediaSource.addSourceBuffer(mseType);
    const trim = trimsWithinFrames(platform.userAgent) ? trimFromHeaders(headers) : null;
    return trim ? Object.assign(sourceBuffer, trim) : sourceBuffer;
  } catch (reason) {
    throw new PlayerError("unsupported", `This browser refused ${mseType}.`, { cause: reason });
  }
}

/**
 * @param {Omit<Line, "queue" | "gate">} ends what is to be connected
 * @param {SourceBuffer} sourceBuffer
 * @returns {Line}
 */
function connect(ends, sourceBuffer) {
  const { audio, job, playback } = ends;
  const { leadSeconds, mediaSource } = job;
  const { signal } = playback;
  const queue = new AppendQueue(mediaSource, sourceBuffer, {
    signal,
    onAdvance: () => {
      spare(line);
      gate.check();
      playback.report();
    },
    onFailure: (error) => playback.fail(error),
    onLost: () => playback.abandon(),
  });
  const gate = new ReadGate(audio, mediaSource, queue, { leadSeconds, signal });
  const line = { ...ends, queue, gate };
  // What was played can be evicted, so every step of the ear may have made room.
  audio.addEventListener("timeupdate", () => queue.retry() && gate.check(), { signal });
  audio.addEventListener("waiting", () => giveUpWhenFull(audio, playback, queue), { signal });
  return line;
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
