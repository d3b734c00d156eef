/**
 * One press of Play: its life, its state, its numbers. Everything it listens to ends with its
 * signal, so a late callback of an earlier press finds nobody.
 * @module
 */

import { PlayerError, nameOf } from "./errors.js";
import { PlaybackStats } from "./playback-stats.js";
import { bufferedEnd } from "./ranges.js";

/** @typedef {import("./playback-stats.js").Stats} Stats */

/**
 * `waiting`: nothing heard yet. `blocked`: the browser wants a press before it plays. `stalled`:
 * the sound ran dry. `idle`: nothing there, or stopped.
 * @typedef {"idle" | "waiting" | "blocked" | "playing" | "paused" | "stalled" | "ended" | "failed"}
 *   PlayerState
 */

/**
 * @typedef {object} PlaybackEvents
 * @property {(state: PlayerState) => void} onState
 * @property {(stats: Stats) => void} onStats
 * @property {(error: PlayerError) => void} onError
 * @property {(error: PlayerError) => Promise<PlayerError>} explain finds out more about an error
 *   of the element, which keeps the server's words to itself; never rejects
 */

export class Playback {
  #controller = new AbortController();
  /** @type {PlayerState} */
  #state = "waiting";
  /** @type {PlayerError | null} told once what arrived has been heard */
  #interruption = null;
  /** @type {HTMLMediaElement} */
  #audio;
  /** @type {PlaybackEvents} */
  #events;
  /** @readonly @type {PlaybackStats} */
  stats;

  /**
   * @param {HTMLMediaElement} audio
   * @param {PlaybackEvents} events
   * @param {{now: () => number}} options a monotonic clock in milliseconds
   */
  constructor(audio, events, { now }) {
    this.#audio = audio;
    this.#events = events;
    this.stats = new PlaybackStats(now);
    this.#listen();
  }

  /** Ends when the playback is stopped, failed or replaced. */
  get signal() {
    return this.#controller.signal;
  }

  /** @returns {PlayerState} */
  get state() {
    return this.#state;
  }

  /** Starts or resumes the element. Call it within the click, before any `await`. */
  press() {
    this.#audio.play().catch((reason) => this.#refuse(reason));
  }

  /** Tells the numbers. */
  report() {
    if (!this.signal.aborted) this.#events.onStats(this.read());
  }

  /** @returns {Stats} the numbers just now */
  read() {
    return this.stats.read(bufferedEnd(this.#audio), this.#audio.currentTime);
  }

  /**
   * Nothing more will arrive, though more should have: told after the rest has been heard.
   * @param {PlayerError} error
   */
  interrupt(error) {
    if (this.signal.aborted) return;
    this.#interruption = error;
    if (bufferedEnd(this.#audio) === 0) this.fail(error);
  }

  /**
   * Ends the playback with an error.
   * @param {PlayerError} error
   */
  fail(error) {
    if (this.signal.aborted) return;
    this.#enter("failed");
    this.close();
    this.#events.onError(error);
  }

  /** Someone else gave the element another source: leaves it to them. */
  abandon() {
    if (this.signal.aborted) return;
    this.#enter("idle");
    this.#controller.abort();
  }

  /** Lets go of the element and of everything that was started; harmless when repeated. */
  close() {
    if (this.signal.aborted) return;
    this.#controller.abort();
    this.#audio.removeAttribute("src");
    this.#audio.load();
  }

  #listen() {
    const { signal } = this;
    /** @param {string} type @param {() => void} handle */
    const on = (type, handle) => this.#audio.addEventListener(type, handle, { signal });
    on("playing", () => this.#enter("playing"));
    on("pause", () => this.#paused());
    on("waiting", () => this.#ranDry());
    on("timeupdate", () => this.#moved());
    on("ended", () => this.#ended());
    on("error", () => this.#broke());
    on("seeked", () => this.report());
  }

  /** @param {PlayerState} state */
  #enter(state) {
    if (this.#state === state || this.signal.aborted) return;
    this.#state = state;
    if (state !== "stalled") this.stats.resume();
    // Whoever hears of the last state knows the last numbers.
    this.report();
    this.#events.onState(state);
  }

  #paused() {
    // At the end the element pauses itself first, and `ended` follows.
    if (!this.#audio.ended) this.#enter("paused");
  }

  #ranDry() {
    if (this.#audio.paused || this.#audio.seeking || !this.stats.hasSounded) return;
    if (this.#state === "playing" && !this.stats.isComplete) this.stats.stall();
    this.#enter("stalled");
  }

  #moved() {
    if (!this.#audio.seeking) this.stats.sound(this.#audio.currentTime, this.#audio.playbackRate);
    this.report();
  }

  #ended() {
    this.#moved();
    if (!this.#interruption) return this.#enter("ended");
    const { kind, message, remedy, cause } = this.#interruption;
    this.fail(
      new PlayerError(kind, message, { remedy, cause, atSeconds: bufferedEnd(this.#audio) }),
    );
  }

  #broke() {
    // Bytes cut off before the first whole frame cannot be decoded: the cut is what happened.
    const error = this.#interruption ?? errorOf(this.#audio.error);
    void this.#events.explain(error).then((explained) => this.fail(explained));
  }

  /** @param {unknown} reason why `play()` was refused */
  #refuse(reason) {
    const name = nameOf(reason);
    if (name === "NotAllowedError") return this.#enter("blocked");
    // AbortError only says that a pause or another source came first; the element tells the rest.
    if (name === "AbortError" || this.signal.aborted || this.#audio.error) return;
    this.fail(
      new PlayerError("unsupported", "This browser cannot play the sound.", { cause: reason }),
    );
  }
}

/**
 * @param {MediaError | null} error
 * @returns {PlayerError}
 */
function errorOf(error) {
  switch (error?.code) {
    case 2:
      return new PlayerError("interrupted", "The connection broke off.", { cause: error });
    case 4:
      return new PlayerError("unsupported", "This browser cannot play this format.", {
        cause: error,
      });
    default:
      return new PlayerError("decode", "The sound could not be decoded.", { cause: error });
  }
}
