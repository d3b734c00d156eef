/**
 * Where the ear is, what has arrived, and how long it may become.
 * @module
 */

import { formatTime } from "./duration.js";
import { find } from "./elements.js";

/** @typedef {import("../player/playback-stats.js").Stats} Stats */

/** What an arrow key moves. */
const STEP_SECONDS = 5;

/** @type {Readonly<Record<string, number>>} */
const STEPS = Object.freeze({
  ArrowLeft: -STEP_SECONDS,
  ArrowDown: -STEP_SECONDS,
  ArrowRight: STEP_SECONDS,
  ArrowUp: STEP_SECONDS,
});

export class TimelineView {
  #range = find("timeline", HTMLInputElement);
  #position = find("position", HTMLElement);
  #total = find("total", HTMLElement);
  /** @type {HTMLMediaElement} */
  #audio;
  #estimatedSeconds = 0;
  #receivedSeconds = 0;
  #complete = false;
  #dragging = false;
  #frame = 0;

  /**
   * @param {HTMLMediaElement} audio
   * @param {{onSeek: (seconds: number) => void}} handlers
   */
  constructor(audio, { onSeek }) {
    this.#audio = audio;
    this.#range.addEventListener("input", () => this.#drag());
    this.#range.addEventListener("change", () => {
      this.#dragging = false;
      onSeek(this.#range.valueAsNumber);
    });
    this.#range.addEventListener("keydown", (event) => {
      const step = STEPS[event.key];
      if (step === undefined) return;
      event.preventDefault();
      onSeek(audio.currentTime + step);
    });
  }

  /**
   * Begins anew.
   * @param {number} estimatedSeconds a guess at the whole length
   */
  reset(estimatedSeconds) {
    this.#estimatedSeconds = estimatedSeconds;
    this.#receivedSeconds = 0;
    this.#complete = false;
    this.#dragging = false;
    this.#paint(0);
  }

  /** @param {boolean} live whether there is sound that one can move in */
  enable(live) {
    this.#range.disabled = !live;
  }

  /** @param {Stats} stats */
  show({ receivedSeconds, complete }) {
    this.#receivedSeconds = receivedSeconds;
    this.#complete = complete;
    if (!this.#dragging) this.#paint(this.#audio.currentTime);
  }

  /** @param {boolean} moving whether to follow the ear from frame to frame */
  follow(moving) {
    cancelAnimationFrame(this.#frame);
    if (!moving || matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    this.#frame = requestAnimationFrame(() => {
      if (!this.#dragging) this.#paint(this.#audio.currentTime);
      this.follow(true);
    });
  }

  #drag() {
    this.#dragging = true;
    this.#paint(this.#range.valueAsNumber);
  }

  /** @param {number} position in seconds */
  #paint(position) {
    const total = this.#complete
      ? this.#receivedSeconds
      : Math.max(this.#estimatedSeconds, this.#receivedSeconds);
    const about = this.#complete || total === 0 ? "" : "about ";
    this.#range.max = String(total || 1);
    this.#range.value = String(position);
    this.#range.ariaValueText = `${formatTime(position)} of ${about}${formatTime(total)}`;
    this.#position.textContent = formatTime(position);
    this.#total.textContent = about ? `~${formatTime(total)}` : formatTime(total);
    this.#shade("--played", position / (total || 1));
    this.#shade("--arrived", this.#receivedSeconds / (total || 1));
  }

  /**
   * @param {string} property
   * @param {number} share of the whole
   */
  #shade(property, share) {
    this.#range.style.setProperty(property, `${(Math.min(1, share) * 100).toFixed(2)}%`);
  }
}
