/**
 * The only hand that touches a SourceBuffer. One append at a time, in order; only `updateend`
 * lets the next one go.
 * @module
 */

import { takeBlock } from "./blocks.js";
import { PlayerError, nameOf } from "./errors.js";

/**
 * @typedef {object} QueueEvents
 * @property {() => void} onAdvance an append is in, or there is room again to ask for
 * @property {(error: PlayerError) => void} onFailure nothing more can be appended
 * @property {() => void} onLost someone else took the buffer, or the element, away
 */

export class AppendQueue {
  /** @type {Uint8Array<ArrayBuffer>[]} */
  #pending = [];
  /** @type {Uint8Array<ArrayBuffer> | null} the block that is being appended, or waits for room */
  #block = null;
  #pendingBytes = 0;
  #busy = false;
  #full = false;
  #ending = false;
  #closed = false;
  /** @type {(() => void) | null} */
  #release = null;

  /** @type {MediaSource} */
  #mediaSource;
  /** @type {SourceBuffer} */
  #sourceBuffer;
  /** @type {QueueEvents} */
  #events;

  /**
   * @param {MediaSource} mediaSource open
   * @param {SourceBuffer} sourceBuffer of that source, set up and idle
   * @param {QueueEvents & {signal: AbortSignal}} options the signal ends the queue's life: what the
   *   buffer says afterwards belongs to a playback that is over
   */
  constructor(mediaSource, sourceBuffer, { signal, ...events }) {
    this.#mediaSource = mediaSource;
    this.#sourceBuffer = sourceBuffer;
    this.#events = events;
    const lost = () => this.#lose();
    sourceBuffer.addEventListener("updateend", () => this.#appended(), { signal });
    sourceBuffer.addEventListener("error", () => this.#fail(), { signal });
    // Nobody here calls abort(): a buffer that is taken off its source says so.
    sourceBuffer.addEventListener("abort", lost, { signal });
    mediaSource.addEventListener("sourceclose", lost, { signal });
    signal.addEventListener("abort", () => this.close(), { once: true });
  }

  /** Bytes taken in and not yet in the SourceBuffer. */
  get pendingBytes() {
    return this.#pendingBytes;
  }

  /** Whether the SourceBuffer refused the next block for want of room. */
  get isFull() {
    return this.#full;
  }

  /**
   * Takes bytes in; they are not copied unless they have to be joined with others.
   * @param {Uint8Array<ArrayBuffer>} bytes
   */
  append(bytes) {
    if (this.#closed || this.#ending || bytes.byteLength === 0) return;
    this.#pending.push(bytes);
    this.#pendingBytes += bytes.byteLength;
    if (!this.#full) this.#advance();
  }

  /**
   * Waits until everything is in, or the queue is closed.
   * @returns {Promise<void>}
   */
  async drained() {
    if (this.#pendingBytes === 0) return;
    await new Promise((/** @type {(value: void) => void} */ resolve) => {
      this.#release = resolve;
    });
  }

  /**
   * Has the SourceBuffer drop what sounds later, of all that is yet to come. Only once drained.
   * @param {number} seconds
   */
  limit(seconds) {
    if (this.#closed || this.#sourceBuffer.updating) return;
    try {
      this.#sourceBuffer.appendWindowEnd = seconds;
    } catch {
      // Taken off its source: `sourceclose` is still on its way.
    }
  }

  /** Ends the stream once everything before it is in. */
  end() {
    this.#ending = true;
    this.#advance();
  }

  /**
   * Tries a refused block again, after something was played.
   * @returns {boolean} whether there is no refused block any more
   */
  retry() {
    if (this.#full) this.#advance();
    return !this.#full;
  }

  /** Drops everything; harmless when repeated. */
  close() {
    this.#closed = true;
    this.#pending = [];
    this.#block = null;
    this.#pendingBytes = 0;
    this.#release?.();
  }

  #appended() {
    if (this.#closed) return;
    this.#busy = false;
    this.#pendingBytes -= this.#block?.byteLength ?? 0;
    this.#block = null;
    if (this.#pendingBytes === 0) this.#release?.();
    this.#advance();
    this.#events.onAdvance();
  }

  #advance() {
    if (this.#closed || this.#busy || this.#sourceBuffer.updating) return;
    this.#block ??= takeBlock(this.#pending);
    if (this.#block) this.#push(this.#block);
    else if (this.#ending) this.#finish();
  }

  /** @param {Uint8Array<ArrayBuffer>} block */
  #push(block) {
    try {
      this.#sourceBuffer.appendBuffer(block);
      this.#busy = true;
      this.#full = false;
    } catch (reason) {
      if (nameOf(reason) === "QuotaExceededError") this.#full = true;
      // `sourceclose` is still on its way.
      else if (this.#mediaSource.readyState === "closed") this.#lose();
      else this.#fail(reason);
    }
  }

  #finish() {
    // Without an argument, whatever happened: "network" would silence what is still to be heard.
    if (this.#mediaSource.readyState === "open") this.#mediaSource.endOfStream();
  }

  /** @param {unknown} [cause] */
  #fail(cause) {
    if (this.#closed) return;
    this.close();
    this.#events.onFailure(new PlayerError("decode", "The sound could not be decoded.", { cause }));
  }

  #lose() {
    if (this.#closed) return;
    this.close();
    this.#events.onLost();
  }
}
