/**
 * A text that the server counts in code points and JavaScript in UTF-16. Pure.
 * @module
 */

const PUNCTUATION = /[\p{P}\p{S}]*/uy;

/** Cuts a text from its start to its end, in steps. */
export class WrittenText {
  #text;
  #codePoints = 0;
  #index = 0;

  /** @param {string} text */
  constructor(text) {
    this.#text = text;
  }

  /** What has not been taken. */
  get rest() {
    return this.#text.slice(this.#index);
  }

  /**
   * @param {number} end in code points
   * @returns {string} what lies from where the last one ended to there; "" where that is behind
   */
  takeTo(end) {
    const start = this.#index;
    while (this.#codePoints < end && this.#index < this.#text.length) {
      this.#index += (this.#text.codePointAt(this.#index) ?? 0) > 0xffff ? 2 : 1;
      this.#codePoints += 1;
    }
    return this.#text.slice(start, this.#index);
  }

  /** @returns {string} the punctuation that comes next, if any */
  takePunctuation() {
    PUNCTUATION.lastIndex = this.#index;
    const [taken = ""] = PUNCTUATION.exec(this.#text) ?? [];
    return this.takeTo(this.#codePoints + [...taken].length);
  }
}
