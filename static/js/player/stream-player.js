/**
 * Plays speech while it is being made: any URL, Request or Response into any media element.
 *
 * ```js
 * import { StreamPlayer } from "./player/stream-player.js";
 * const player = new StreamPlayer(document.querySelector("audio"));
 * player.addEventListener("error", ({ detail }) => alert(`${detail.message} ${detail.remedy}`));
 * button.onclick = () => player.play("/v1/audio/speech?input=Hello", { mseType: "audio/mpeg" });
 * ```
 * @module
 */

import { PlayerError } from "./errors.js";
import { Playback } from "./playback.js";
import { attachMediaSource, browserPlatform, typeSupport } from "./platform.js";
import { nearestBuffered } from "./ranges.js";
import { explain } from "./response-check.js";
import { streamInto } from "./stream.js";

/** @typedef {import("./playback.js").PlaybackEvents} PlaybackEvents */
/** @typedef {import("./playback.js").PlayerState} PlayerState */
/** @typedef {import("./playback-stats.js").Stats} Stats */
/** @typedef {import("./platform.js").Platform} Platform */
/** @typedef {import("./ending.js").Ending} Ending */

/**
 * Where the sound comes from. A function gets the signal that ends the playback.
 * @typedef {Request | URL | string | Response | ((signal: AbortSignal) => Promise<Response>)}
 *   Source
 */

/**
 * @typedef {object} PlayOptions
 * @property {string} mseType what `addSourceBuffer` is to be told
 * @property {boolean} [keep] whether to keep the bytes and hand them out with `complete`
 * @property {(signal: AbortSignal) => Promise<Ending | null>} [ending] gets the signal that ends the
 *   playback and hears, beside the sound, how it ends: so the sound is cut after its last sample,
 *   and a broken stream has a reason. Called after the sound was asked for
 */

/**
 * The events and what their `detail` is.
 * @typedef {object} PlayerEvents
 * @property {PlayerState} state it changed
 * @property {Stats} stats the numbers moved
 * @property {PlayerError} error the playback failed; told after what arrived was heard
 * @property {Blob | null} complete everything arrived; null where the bytes were not kept
 */

/** Enough for any pause of a network, and little enough to let the server rest. */
const LEAD_SECONDS = 60;

export class StreamPlayer extends EventTarget {
  /** @type {HTMLMediaElement} */
  #audio;
  /** @type {Platform} */
  #platform;
  /** @type {number} */
  #leadSeconds;
  /** @type {Playback | null} */
  #playback = null;

  /**
   * @param {HTMLMediaElement} audio
   * @param {{leadSeconds?: number, platform?: Platform}} [options] how many seconds of sound ahead
   *   of the ear are enough to stop reading
   */
  constructor(audio, { leadSeconds = LEAD_SECONDS, platform = browserPlatform() } = {}) {
    super();
    this.#audio = audio;
    this.#leadSeconds = leadSeconds;
    this.#platform = platform;
  }

  /** @returns {PlayerState} */
  get state() {
    return this.#playback?.state ?? "idle";
  }

  /** @returns {Stats | null} the numbers of the playback just now; null where there is none */
  get stats() {
    return this.#playback?.read() ?? null;
  }

  /**
   * Plays a stream through MediaSource. Call it in the click handler, before any `await`.
   * @param {Source} source
   * @param {PlayOptions} options
   */
  play(source, { mseType, keep = true, ending }) {
    const playback = this.#begin();
    if (!typeSupport(this.#platform)?.(mseType)) {
      const message = `This browser cannot play ${mseType} while it arrives.`;
      return playback.fail(new PlayerError("unsupported", message));
    }
    const attached = attachMediaSource(this.#audio, this.#platform, playback.signal);
    playback.press();
    const response = this.#request(source, playback.signal);
    void streamInto(this.#audio, playback, {
      ...attached,
      response,
      mseType,
      keep,
      leadSeconds: this.#leadSeconds,
      platform: this.#platform,
      ending: ending?.(playback.signal),
      onComplete: (blob) => this.#emit("complete", blob),
    });
  }

  /**
   * Lets the element load a URL by itself, for what MediaSource does not take.
   * @param {string} url
   */
  playUrl(url) {
    const playback = this.#begin((error) => explain(error, this.#request(url, playback.signal)));
    this.#audio.addEventListener("progress", () => playback.report(), { signal: playback.signal });
    this.#audio.src = url;
    playback.press();
  }

  /** Holds the sound where it is; what is on its way still arrives. */
  pause() {
    this.#audio.pause();
  }

  /** Goes on after a pause, a blocked start or the end. Call it in the click handler. */
  resume() {
    this.#playback?.press();
  }

  /**
   * Goes to the nearest position that is there to be heard.
   * @param {number} seconds
   */
  seek(seconds) {
    const position = nearestBuffered(this.#audio.buffered, seconds);
    if (position !== null) this.#audio.currentTime = position;
  }

  /** Ends the playback and hangs up, so that the server stops too. */
  stop() {
    const playback = this.#playback;
    if (!playback) return;
    playback.close();
    this.#emit("stats", playback.read());
    this.#playback = null;
    this.#emit("state", "idle");
  }

  /**
   * @template {keyof PlayerEvents} T
   * @param {T} type
   * @param {((event: CustomEvent<PlayerEvents[T]>) => void) | EventListenerObject | null} listener
   * @param {boolean | AddEventListenerOptions} [options]
   * @override
   */
  addEventListener(type, listener, options) {
    super.addEventListener(type, /** @type {EventListener} */ (listener), options);
  }

  /**
   * @template {keyof PlayerEvents} T
   * @param {T} type
   * @param {PlayerEvents[T]} detail
   */
  #emit(type, detail) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }

  /**
   * @param {PlaybackEvents["explain"]} [explain]
   * @returns {Playback} a new one, in place of the one before
   */
  #begin(explain = (error) => Promise.resolve(error)) {
    this.#playback?.close();
    /** @type {PlaybackEvents} */
    const events = {
      onState: (state) => this.#emit("state", state),
      onStats: (stats) => this.#emit("stats", stats),
      onError: (error) => this.#emit("error", error),
      explain,
    };
    this.#playback = new Playback(this.#audio, events, { now: this.#platform.now });
    this.#emit("state", this.#playback.state);
    this.#playback.report();
    return this.#playback;
  }

  /**
   * @param {Source} source
   * @param {AbortSignal} signal ends the request
   * @returns {Promise<Response>}
   */
  async #request(source, signal) {
    if (source instanceof Response) return source;
    if (typeof source === "function") return source(signal);
    return this.#platform.fetch(source, { signal });
  }
}
