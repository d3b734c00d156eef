/**
 * How to drop the coded silence that an encoder puts before the first sample and after the last.
 * Pure.
 * @module
 */

/**
 * @typedef {object} Trim
 * @property {number} timestampOffset in seconds, zero or negative
 * @property {number} appendWindowStart in seconds
 */

/** Gecko names itself with a date; every other engine only claims to be "like Gecko". */
const GECKO = /\bGecko\/\d/u;

/**
 * What a Layer III decoder adds before its first sample. Chromium drops it, but cuts at the window's
 * edge before it does, so that the edge lies as much later.
 */
const MP3_DECODER_DELAY_SAMPLES = 529;

/**
 * Whether the append window cuts inside a coded frame in this browser. Chromium and WebKit decode
 * the frame across the edge and drop its first samples; Firefox drops the whole frame.
 * @param {string} userAgent
 * @returns {boolean}
 */
export function trimsWithinFrames(userAgent) {
  return !GECKO.test(userAgent);
}

/**
 * Moves the first real sample to time zero, where the append window begins.
 * @param {number} primingSamples coded silence before sample 0
 * @param {number} sampleRate of those samples, in Hz
 * @returns {Trim | null} null where there is nothing to drop, or the numbers make no sense
 */
export function trimOf(primingSamples, sampleRate) {
  if (!(primingSamples > 0) || !(sampleRate > 0)) return null;
  return { timestampOffset: -primingSamples / sampleRate, appendWindowStart: 0 };
}

/**
 * Reads what the server declares with the response.
 * @param {Headers} headers
 * @returns {Trim | null}
 */
export function trimFromHeaders(headers) {
  const samples = Number(headers.get("X-Audio-Priming-Samples"));
  return trimOf(samples, Number(headers.get("X-Audio-Sample-Rate")));
}

/**
 * Where the append window has to end for the sound to end with its last sample.
 * @param {number} seconds from the first sample to the last
 * @param {{mseType: string, headers: Headers}} stream
 * @returns {number | null} in seconds; null where the numbers make no sense
 */
export function windowEndOf(seconds, { mseType, headers }) {
  const delay = mseType === "audio/mpeg" ? MP3_DECODER_DELAY_SAMPLES : 0;
  const end = seconds + (delay && delay / Number(headers.get("X-Audio-Sample-Rate")));
  return seconds > 0 && Number.isFinite(end) ? end : null;
}
