/**
 * The numbers of the playback.
 * @module
 */

import { find } from "./elements.js";

/** @typedef {import("../player/playback-stats.js").Stats} Stats */

const UNKNOWN = "–";

export class StatsView {
  #firstSound = find("first-sound", HTMLElement);
  #received = find("received", HTMLElement);
  #buffered = find("buffered", HTMLElement);
  #realTimeFactor = find("real-time-factor", HTMLElement);
  #stalls = find("stalls", HTMLElement);

  /** @param {Stats} stats */
  show(stats) {
    this.#firstSound.textContent = seconds(stats.firstSoundSeconds, 2);
    this.#received.textContent = seconds(stats.receivedSeconds, 1);
    this.#buffered.textContent = seconds(stats.bufferedSeconds, 1);
    this.#realTimeFactor.textContent = stats.realTimeFactor?.toFixed(2) ?? UNKNOWN;
    this.#stalls.textContent = String(stats.stalls);
  }
}

/**
 * @param {number | null} value
 * @param {number} digits after the point
 * @returns {string}
 */
function seconds(value, digits) {
  return value === null ? UNKNOWN : `${value.toFixed(digits)} s`;
}
