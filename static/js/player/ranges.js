/**
 * What the element has buffered. Asks the element, never the SourceBuffer: that one throws once it
 * was removed.
 * @module
 */

/** With less ahead the element waits for data: about what Chromium wants before it starts. */
export const DRY_SECONDS = 0.2;

/** How far inside a range to land, so that rounding does not put the ear outside. */
const INSIDE_SECONDS = 0.001;

/**
 * @param {HTMLMediaElement} audio
 * @returns {number} where the buffered sound ends, in seconds
 */
export function bufferedEnd({ buffered }) {
  return buffered.length === 0 ? 0 : buffered.end(buffered.length - 1);
}

/**
 * @param {HTMLMediaElement} audio
 * @returns {number} seconds of sound between the ear and the end of what is buffered
 */
export function secondsAhead(audio) {
  return Math.max(0, bufferedEnd(audio) - audio.currentTime);
}

/**
 * The buffered position nearest to a wanted one: seeking elsewhere would wait, maybe for ever.
 * @param {TimeRanges} buffered
 * @param {number} seconds
 * @returns {number | null} null where nothing is buffered
 */
export function nearestBuffered(buffered, seconds) {
  /** @type {number | null} */
  let nearest = null;
  for (let index = 0; index < buffered.length; index += 1) {
    const last = Math.max(buffered.start(index), buffered.end(index) - INSIDE_SECONDS);
    const inside = Math.min(Math.max(seconds, buffered.start(index)), last);
    if (nearest === null || Math.abs(inside - seconds) < Math.abs(nearest - seconds))
      nearest = inside;
  }
  return nearest;
}
