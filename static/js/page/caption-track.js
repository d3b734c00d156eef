/**
 * Which word is heard when. Pure.
 * @module
 */

/** @typedef {import("./speech-events.js").WordMark} WordMark */

export class CaptionTrack {
  /** @type {WordMark[]} */
  #marks = [];

  /** @param {readonly WordMark[]} marks later ones, in the order of their times */
  add(marks) {
    this.#marks.push(...marks);
  }

  /**
   * @param {number} seconds of the sound
   * @returns {number} how many words have begun by then
   */
  begunAt(seconds) {
    let [low, high] = [0, this.#marks.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#startOf(middle) <= seconds) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /**
   * @param {number} seconds of the sound
   * @returns {number | null} the index of the word that is heard then, null in a pause
   */
  indexAt(seconds) {
    const index = this.begunAt(seconds) - 1;
    const mark = this.#marks[index];
    return mark && seconds < mark.end ? index : null;
  }

  /** @param {number} index */
  #startOf(index) {
    return this.#marks[index]?.start ?? Infinity;
  }
}
