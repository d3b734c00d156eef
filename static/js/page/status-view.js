/**
 * Says in words what is going on.
 * @module
 */

import { find } from "./elements.js";
import { isWorthSaying, tellPosition } from "./queue-words.js";

/** @typedef {import("../player/errors.js").PlayerError} PlayerError */
/** @typedef {import("../player/playback.js").PlayerState} PlayerState */

/**
 * @typedef {object} Way
 * @property {string} label
 * @property {() => void} take called within the click
 */

/** @type {Readonly<Record<PlayerState, string>>} */
const WORDS = Object.freeze({
  idle: "Stopped.",
  waiting: "Waiting for the first sound…",
  blocked: "The browser wants one more press: Resume starts the sound.",
  playing: "Speaking.",
  paused: "Paused.",
  stalled: "Waiting for more sound…",
  ended: "Finished.",
  failed: "Stopped by a problem.",
});

export class StatusView {
  #section = find("playback", HTMLElement);
  #status = find("status", HTMLElement);
  #problem = find("problem", HTMLElement);
  /** @type {number | null} the place in the queue that was said last */
  #said = null;

  /** @param {PlayerState} state */
  show(state) {
    this.#section.dataset.state = state;
    this.#said = null;
    this.#status.ariaLive = "polite";
    this.#status.textContent = WORDS[state];
    if (state !== "failed") this.#problem.replaceChildren();
  }

  /**
   * Shows the place in the queue, and has it read aloud now and then.
   * @param {number} position 0 once it has left the queue
   */
  showPosition(position) {
    if (this.#section.dataset.state !== "waiting") return;
    if (position === 0) return this.show("waiting");
    const isWorthIt = isWorthSaying(position, this.#said);
    if (isWorthIt) this.#said = position;
    this.#status.ariaLive = isWorthIt ? "polite" : "off";
    this.#status.textContent = tellPosition(position);
  }

  /**
   * Says what went wrong, where, and what to do.
   * @param {PlayerError} error
   * @param {Way} [way] out of it, as a button
   */
  showError({ message, remedy, atSeconds }, way) {
    const what = document.createElement("strong");
    what.textContent = message;
    const where = atSeconds ? `It stopped after ${atSeconds.toFixed(1)} s. ` : "";
    this.#problem.replaceChildren(what, `${where}${remedy}`);
    if (way) this.#problem.append(makeButton(way));
  }
}

/**
 * @param {Way} way
 * @returns {HTMLButtonElement}
 */
function makeButton({ label, take }) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = label;
  button.addEventListener("click", take);
  return button;
}
