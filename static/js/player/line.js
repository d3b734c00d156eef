/**
 * Carries a body into the SourceBuffer, and has an answer to every way it can end.
 * @module
 */

import { readBody } from "./body.js";
import { hearEnding } from "./ending.js";
import { PlayerError, asPlayerError } from "./errors.js";
import { windowEndOf } from "./priming.js";
import { DRY_SECONDS, bufferedEnd, secondsAhead } from "./ranges.js";
import { TRY_LATER } from "./response-check.js";

/**
 * What works on one response.
 * @typedef {object} Line
 * @property {HTMLMediaElement} audio
 * @property {import("./playback.js").Playback} playback
 * @property {import("./stream.js").StreamJob} job
 * @property {Headers} headers
 * @property {ReadableStream<Uint8Array<ArrayBuffer>>} body
 * @property {import("./append-queue.js").AppendQueue} queue
 * @property {import("./read-gate.js").ReadGate} gate
 * @property {import("./ending.js").Tail} tail
 */

/**
 * With less ahead nothing is held back, so that neither the start nor a stall depends on it, unless
 * the end is known already: then what is held is the last there is.
 */
const NEARLY_DRY_SECONDS = 0.5;

/**
 * Reads the body to its end, or to where it was cut.
 * @param {Line} line
 */
export async function carry(line) {
  const { audio, body, gate, job, playback, queue, tail } = line;
  /** @type {Uint8Array<ArrayBuffer>[]} */
  const kept = [];
  job.ending?.then((ending) => ending && tail.keep()).catch(() => undefined);
  audio.addEventListener("timeupdate", () => spare(line), { signal: playback.signal });
  try {
    for await (const chunk of readBody(body, playback, gate)) {
      tail.take(chunk).forEach((bytes) => queue.append(bytes));
      spare(line);
      if (job.keep) kept.push(chunk);
    }
  } catch (reason) {
    return breakOff(line, reason);
  }
  await trimEnd(line);
  if (playback.signal.aborted) return;
  end(line);
  playback.stats.complete();
  playback.report();
  job.onComplete(job.keep ? new Blob(kept, { type: job.mseType }) : null);
}

/**
 * Something was read, appended or heard: lets go of the tail where the ear may need it.
 * @param {Line} line
 */
export function spare(line) {
  const { audio, queue, tail } = line;
  if (tail.isKept || queue.pendingBytes > 0) return;
  if (secondsAhead(audio) < NEARLY_DRY_SECONDS) letGo(line);
}

/**
 * Has the sound end with its last sample, where the server tells which that is.
 * @param {Line} line
 */
async function trimEnd(line) {
  const { audio, headers, job, queue, tail } = line;
  if (!tail.holds) return;
  tail.keep();
  const [ending] = await Promise.all([hear(line), queue.drained()]);
  const windowEnd = windowEndOf(ending?.seconds ?? NaN, { mseType: job.mseType, headers });
  // What is in already can't be cut any more: an end before it is not this sound's.
  if (windowEnd !== null && windowEnd >= bufferedEnd(audio)) queue.limit(windowEnd);
}

/**
 * The body was cut: says so once what arrived has been heard, in the server's words if it has any.
 * @param {Line} line
 * @param {unknown} reason
 */
async function breakOff(line, reason) {
  const failure = (await hear(line))?.failure;
  end(line);
  line.playback.interrupt(
    failure
      ? new PlayerError("interrupted", failure, { remedy: TRY_LATER, cause: reason })
      : asPlayerError(reason, "interrupted", "The connection broke off."),
  );
}

/**
 * @param {Line} line
 * @returns {ReturnType<typeof hearEnding>}
 */
function hear({ audio, job, playback }) {
  const { signal, stats } = playback;
  const spareSeconds = stats.hasSounded ? secondsAhead(audio) - DRY_SECONDS : Infinity;
  return hearEnding(job.ending, { platform: job.platform, signal, spareSeconds });
}

/** @param {Line} line */
function end(line) {
  letGo(line);
  line.queue.end();
}

/** @param {Line} line */
function letGo({ queue, tail }) {
  tail.drain().forEach((bytes) => queue.append(bytes));
}
