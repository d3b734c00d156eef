/**
 * The end of a stream: what is held back of it, and what the server tells of it beside the sound.
 * @module
 */

/** @typedef {import("./platform.js").Platform} Platform */

/**
 * What the server tells of the end, through another channel than the sound.
 * @typedef {object} Ending
 * @property {number} [seconds] how long the sound is, from its first sample to its last
 * @property {string} [failure] why there is no more of it, in words for the person
 */

/**
 * The bytes that are held back until the body ends, since only what is appended after
 * `appendWindowEnd` is set is cut there. An encoder's padding lies in the last two frames at most:
 * 836 bytes of MP3 at 128 kbit/s, 418 at the 64 kbit/s that speech is sent with. There it is 128 ms
 * of sound, which is missed by nobody: nothing is held back while little lies ahead of the ear.
 */
const TAIL_BYTES = 1024;

/** How long the end may be waited for. */
const PATIENCE_MS = 1000;

/** And at the least, since it comes on a connection of its own. */
const LEAST_PATIENCE_MS = 100;

/** Holds back the last bytes of a body. They are not copied. */
export class Tail {
  /** @type {Uint8Array<ArrayBuffer>[]} */
  #chunks = [];
  #bytes = 0;
  #heldBytes;
  #isKept = false;

  /** @param {boolean} holds whether to hold anything back */
  constructor(holds) {
    this.#heldBytes = holds ? TAIL_BYTES : 0;
  }

  /** Whether anything is held back. */
  get holds() {
    return this.#heldBytes > 0;
  }

  /** Whether what is held is known to be the last there is. */
  get isKept() {
    return this.#isKept;
  }

  /** What is held, and what may yet come, is the last there is. */
  keep() {
    this.#isKept = true;
  }

  /**
   * @param {Uint8Array<ArrayBuffer>} chunk the next one
   * @returns {Uint8Array<ArrayBuffer>[]} what is not the tail any more
   */
  take(chunk) {
    this.#chunks.push(chunk);
    this.#bytes += chunk.byteLength;
    return this.#release(this.#bytes - this.#heldBytes);
  }

  /** @returns {Uint8Array<ArrayBuffer>[]} all that is held */
  drain() {
    return this.#release(this.#bytes);
  }

  /**
   * @param {number} count of bytes
   * @returns {Uint8Array<ArrayBuffer>[]}
   */
  #release(count) {
    const released = [];
    for (let [first] = this.#chunks; first && count > 0; [first] = this.#chunks) {
      const piece = first.subarray(0, count);
      if (piece.byteLength === first.byteLength) this.#chunks.shift();
      else this.#chunks[0] = first.subarray(count);
      this.#bytes -= piece.byteLength;
      count -= piece.byteLength;
      released.push(piece);
    }
    return released;
  }
}

/**
 * Waits for what the server tells, for a second at most, and less where the sound would run dry.
 * @param {Promise<Ending | null> | undefined} ending
 * @param {{platform: Platform, signal: AbortSignal, spareSeconds: number}} options `spareSeconds`
 *   is how long the sound lasts without what is waited for; Infinity where none is heard yet
 * @returns {Promise<Ending | null>} null where nothing came
 */
export async function hearEnding(ending, { platform, signal, spareSeconds }) {
  if (!ending) return null;
  const heard = new AbortController();
  const milliseconds = Math.max(LEAST_PATIENCE_MS, Math.min(PATIENCE_MS, spareSeconds * 1000));
  const patience = platform.wait(milliseconds, AbortSignal.any([signal, heard.signal]));
  try {
    return await Promise.race([ending.catch(() => null), patience.then(() => null)]);
  } finally {
    heard.abort();
  }
}
