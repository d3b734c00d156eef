/**
 * The buttons beside Play.
 * @module
 */

import { find } from "./elements.js";

/** @typedef {import("../player/playback.js").PlayerState} PlayerState */
/** @typedef {"pause" | "resume" | "replay"} PauseAction */

/** @type {Readonly<Record<PauseAction, string>>} */
const LABELS = Object.freeze({ pause: "Pause", resume: "Resume", replay: "Replay" });

/**
 * What the second button does in each state; null where it does nothing.
 * @type {Readonly<Record<PlayerState, PauseAction | null>>}
 */
const ACTIONS = Object.freeze({
  idle: null,
  waiting: "pause",
  blocked: "resume",
  playing: "pause",
  paused: "resume",
  stalled: "pause",
  ended: "replay",
  failed: null,
});

export class Controls {
  #pause = find("pause", HTMLButtonElement);
  #label = find("pause-label", HTMLElement);
  #stop = find("stop", HTMLButtonElement);
  /** @type {PauseAction | null} */
  #action = null;

  /** @param {{onPause: () => void, onResume: () => void, onStop: () => void}} handlers */
  constructor({ onPause, onResume, onStop }) {
    this.#pause.addEventListener("click", () =>
      this.#action === "pause" ? onPause() : onResume(),
    );
    this.#stop.addEventListener("click", onStop);
    this.show("idle");
  }

  /** @param {PlayerState} state */
  show(state) {
    this.#action = ACTIONS[state];
    this.#pause.disabled = this.#action === null;
    this.#pause.dataset.does = this.#action ?? "pause";
    this.#label.textContent = LABELS[this.#action ?? "pause"];
    this.#stop.disabled = this.#action === null || state === "ended";
  }
}
