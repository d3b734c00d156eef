/**
 * Says in words what is going on.
 * @module
 */

import { find } from "./elements.js";

/** @typedef {import("../player/errors.js").PlayerError} PlayerError */
/** @typedef {import("../player/playback.js").PlayerState} PlayerState */

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

  /** @param {PlayerState} state */
  show(state) {
    this.#section.dataset.state = state;
    this.#status.textContent = WORDS[state];
    if (state !== "failed") this.#problem.replaceChildren();
  }

  /**
   * Says what went wrong, where, and what to do.
   * @param {PlayerError} error
   */
  showError({ message, remedy, atSeconds }) {
    const what = document.createElement("strong");
    what.textContent = message;
    const where = atSeconds ? `It stopped after ${atSeconds.toFixed(1)} s. ` : "";
    this.#problem.replaceChildren(what, `${where}${remedy}`);
  }
}
