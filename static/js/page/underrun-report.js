/**
 * Tells the server, once a playback is over, that its sound ran out on the way. Pure.
 * @module
 */

/** @typedef {import("../player/playback-stats.js").Stats} Stats */

export class UnderrunReport {
  /** @type {string | null} */
  #id = null;
  #send;

  /** @param {(id: string, report: {underruns: number, stalled_seconds: number}) => void} send */
  constructor(send) {
    this.#send = send;
  }

  /** @param {string} id of the speech that begins */
  begin(id) {
    this.#id = id;
  }

  /**
   * The playback is over; tells nothing twice, and nothing where there is nothing to tell.
   * @param {Stats | null} stats its last numbers
   */
  end(stats) {
    const id = this.#id;
    this.#id = null;
    if (id === null || !stats?.stalls) return;
    this.#send(id, { underruns: stats.stalls, stalled_seconds: stats.stalledSeconds });
  }
}
