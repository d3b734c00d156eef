/**
 * How long a text will sound, and how to write a time. Pure.
 * @module
 */

/** English read aloud at an even pace: about 150 words of 6 characters a minute. */
const CHARACTERS_PER_SECOND = 15;

/**
 * Guesses before the sound is there.
 * @param {number} characters of the text
 * @param {number} speed
 * @returns {number} seconds
 */
export function estimateSeconds(characters, speed) {
  return characters / CHARACTERS_PER_SECOND / speed;
}

/**
 * @param {number} seconds
 * @returns {string} as a clock shows it: 1:05, or 1:00:05
 */
export function formatTime(seconds) {
  const whole = Math.max(0, Math.floor(seconds));
  const hours = Math.floor(whole / 3600);
  const minutes = Math.floor(whole / 60) % 60;
  const tail = String(whole % 60).padStart(2, "0");
  return hours > 0 ? `${hours}:${String(minutes).padStart(2, "0")}:${tail}` : `${minutes}:${tail}`;
}
