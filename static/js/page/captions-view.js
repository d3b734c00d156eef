/**
 * The text as it is spoken, the word that is heard in a colour of its own.
 * @module
 */

import { CaptionTrack } from "./caption-track.js";
import { find } from "./elements.js";
import { WrittenText } from "./written-text.js";

/** @typedef {import("./speech-events.js").WordMark} WordMark */

export class CaptionsView {
  #box = find("captions", HTMLElement);
  /** What is yet to be made. */
  #rest = document.createTextNode("");
  #track = new CaptionTrack();
  #text = new WrittenText("");
  /** @type {HTMLElement[]} by the index of their mark */
  #words = [];
  #begun = 0;
  /** @type {HTMLElement | null} */
  #heard = null;
  #frame = 0;
  /** @type {HTMLMediaElement} */
  #audio;

  /** @param {HTMLMediaElement} audio */
  constructor(audio) {
    this.#audio = audio;
  }

  /**
   * Begins anew, out of sight until the first words are timed: not every voice times them.
   * @param {string} text
   */
  reset(text) {
    this.#track = new CaptionTrack();
    this.#text = new WrittenText(text);
    this.#words = [];
    this.#begun = 0;
    this.#heard = null;
    this.#box.replaceChildren(this.#rest);
    this.#box.hidden = true;
  }

  /** @param {readonly WordMark[]} marks of words that follow those before */
  add(marks) {
    if (marks.length === 0) return;
    this.#track.add(marks);
    for (const { text_start, text_end } of marks) this.#write(text_start, text_end);
    this.#rest.data = this.#text.rest;
    this.#box.hidden = false;
  }

  /** Shows the word that is heard now. */
  show() {
    const seconds = this.#audio.currentTime;
    this.#fade(this.#track.begunAt(seconds));
    const index = this.#track.indexAt(seconds);
    const heard = index === null ? null : (this.#words[index] ?? null);
    if (heard === this.#heard) return;
    this.#heard?.classList.remove("heard");
    heard?.classList.add("heard");
    this.#heard = heard;
    if (heard) this.#keepInView(heard);
  }

  /** @param {boolean} moving whether to follow the voice from frame to frame */
  follow(moving) {
    cancelAnimationFrame(this.#frame);
    if (!moving) return;
    this.#frame = requestAnimationFrame(() => {
      this.show();
      this.follow(true);
    });
  }

  /**
   * @param {number} start in code points of the text
   * @param {number} end
   */
  #write(start, end) {
    const gap = this.#text.takeTo(start);
    const written = this.#text.takeTo(end);
    const last = this.#words.at(-1);
    // What is written as one may be spoken as several.
    if (written === "" && last) return void this.#words.push(last);
    const word = document.createElement("span");
    word.textContent = written + this.#text.takePunctuation();
    this.#rest.before(gap, word);
    this.#words.push(word);
  }

  /** @param {number} begun how many words have begun */
  #fade(begun) {
    const [from, to] = begun > this.#begun ? [this.#begun, begun] : [begun, this.#begun];
    for (const word of this.#words.slice(from, to))
      word.classList.toggle("begun", begun > this.#begun);
    this.#begun = begun;
  }

  /** @param {HTMLElement} word brought to the second line where it is out of sight, or the last */
  #keepInView({ offsetTop, offsetHeight }) {
    const { clientHeight, scrollTop } = this.#box;
    const lineHeight = Number.parseFloat(getComputedStyle(this.#box).lineHeight);
    const line = Math.floor((offsetTop + offsetHeight / 2) / lineHeight);
    const first = Math.round(scrollTop / lineHeight);
    const last = first + Math.floor(clientHeight / lineHeight) - 1;
    if (first <= line && line < last) return;
    const isCalm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    const behavior = isCalm ? "instant" : "smooth";
    this.#box.scrollTo({ top: (line - 1) * lineHeight, behavior });
  }
}
