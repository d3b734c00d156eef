/**
 * When to read on. A reader that stops reading is how the server learns to slow down.
 * @module
 */

import { secondsAhead } from "./ranges.js";

/** @typedef {import("./append-queue.js").AppendQueue} AppendQueue */
/** @typedef {import("./platform.js").AnyMediaSource} AnyMediaSource */

/** Bytes that may wait for the SourceBuffer; more would only be memory. */
const PENDING_BYTES = 128 * 1024;

export class ReadGate {
  /** @type {() => boolean} */
  #hasRoom;
  /** @type {(() => void) | null} */
  #release = null;

  /**
   * @param {HTMLMediaElement} audio
   * @param {AnyMediaSource} mediaSource
   * @param {AppendQueue} queue
   * @param {{leadSeconds: number, signal: AbortSignal}} options `leadSeconds` of sound ahead of the
   *   ear are enough; the signal opens the gate for good
   */
  constructor(audio, mediaSource, queue, { leadSeconds, signal }) {
    this.#hasRoom = () =>
      signal.aborted ||
      (!queue.isFull &&
        queue.pendingBytes < PENDING_BYTES &&
        mediaSource.streaming !== false &&
        secondsAhead(audio) < leadSeconds);
    const check = () => this.check();
    audio.addEventListener("timeupdate", check, { signal });
    audio.addEventListener("seeking", check, { signal });
    mediaSource.addEventListener("startstreaming", check, { signal });
    signal.addEventListener("abort", check, { once: true });
  }

  /** Whether one may read now. */
  get isOpen() {
    return this.#hasRoom();
  }

  /**
   * Waits for room.
   * @returns {Promise<void>}
   */
  async opened() {
    if (this.isOpen) return;
    await new Promise((/** @type {(value: void) => void} */ resolve) => {
      this.#release = resolve;
    });
  }

  /** Something changed: lets a waiting reader go if there is room now. */
  check() {
    if (!this.#release || !this.isOpen) return;
    this.#release();
    this.#release = null;
  }
}
