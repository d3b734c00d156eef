/**
 * The numbers of one playback. Pure: the clock is handed in.
 * @module
 */

/**
 * @typedef {object} Stats
 * @property {number | null} firstSoundSeconds from the press to the first audible sample
 * @property {number} receivedSeconds of sound that arrived
 * @property {number} bufferedSeconds of sound ahead of the ear
 * @property {number} receivedBytes
 * @property {number | null} realTimeFactor time taken to arrive over duration, below 1 is fast
 * @property {number} stalls times that the sound ran dry after it had started
 * @property {number} stalledSeconds how long it was dry in all
 * @property {boolean} complete whether everything has arrived
 */

export class PlaybackStats {
  /** @type {() => number} */
  #now;
  /** @type {number} */
  #startedAt;
  /** @type {number | null} */
  #parkedAt = null;
  #parkedMs = 0;
  #receivingMs = 0;
  /** @type {number | null} */
  #firstSoundMs = null;
  #receivedSeconds = 0;
  #receivedBytes = 0;
  #stalls = 0;
  /** @type {number | null} */
  #dryAt = null;
  #stalledMs = 0;
  #complete = false;

  /** @param {() => number} now a monotonic clock in milliseconds; the press is now */
  constructor(now) {
    this.#now = now;
    this.#startedAt = now();
  }

  /** Whether a sample has been heard. */
  get hasSounded() {
    return this.#firstSoundMs !== null;
  }

  /** Whether a byte has arrived. */
  get hasReceived() {
    return this.#receivedBytes > 0;
  }

  /** Whether everything has arrived. */
  get isComplete() {
    return this.#complete;
  }

  /** @param {number} bytes that just arrived */
  receive(bytes) {
    this.unpark();
    this.#receivedBytes += bytes;
    this.#receivingMs = this.#now() - this.#startedAt - this.#parkedMs;
  }

  /** The reader stops asking: time spent so says nothing about the server. */
  park() {
    this.#parkedAt ??= this.#now();
  }

  /** The reader asks again. */
  unpark() {
    if (this.#parkedAt === null) return;
    this.#parkedMs += this.#now() - this.#parkedAt;
    this.#parkedAt = null;
  }

  /** Everything has arrived. */
  complete() {
    this.unpark();
    this.#complete = true;
  }

  /**
   * Sound is heard. Playback events come late by up to a quarter of a second, but the position
   * tells how long ago the first sample was.
   * @param {number} positionSeconds
   * @param {number} playbackRate
   */
  sound(positionSeconds, playbackRate) {
    if (this.hasSounded || !(positionSeconds > 0)) return;
    const playedMs = (positionSeconds * 1000) / playbackRate;
    this.#firstSoundMs = Math.max(0, this.#now() - this.#startedAt - playedMs);
  }

  /** The sound ran dry. */
  stall() {
    this.#stalls += 1;
    this.#dryAt = this.#now();
  }

  /** It is heard again, or is not to be heard. */
  resume() {
    this.#stalledMs = this.#dryMs();
    this.#dryAt = null;
  }

  /** @returns {number} how long it was dry, until now where it still is */
  #dryMs() {
    return this.#stalledMs + (this.#dryAt === null ? 0 : this.#now() - this.#dryAt);
  }

  /**
   * @param {number} bufferedEndSeconds where the buffered sound ends
   * @param {number} positionSeconds where the ear is
   * @returns {Stats}
   */
  read(bufferedEndSeconds, positionSeconds) {
    this.#receivedSeconds = Math.max(this.#receivedSeconds, bufferedEndSeconds);
    const seconds = this.#receivedSeconds;
    return {
      firstSoundSeconds: this.#firstSoundMs === null ? null : this.#firstSoundMs / 1000,
      receivedSeconds: seconds,
      bufferedSeconds: Math.max(0, bufferedEndSeconds - positionSeconds),
      receivedBytes: this.#receivedBytes,
      realTimeFactor:
        seconds > 0 && this.#receivingMs > 0 ? this.#receivingMs / 1000 / seconds : null,
      stalls: this.#stalls,
      stalledSeconds: this.#dryMs() / 1000,
      complete: this.#complete,
    };
  }
}
