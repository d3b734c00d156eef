/**
 * What can go wrong while speech is played, as a closed set, each with what the person can do.
 * @module
 */

/** @typedef {"unsupported" | "refused" | "interrupted" | "decode" | "quota"} PlayerErrorKind */

/**
 * @typedef {object} PlayerErrorDetails
 * @property {string} [remedy] what the person can do; each kind has its own default
 * @property {number} [atSeconds] where in the sound it happened
 * @property {number} [status] what the server answered, where it refused
 * @property {unknown} [cause] the exception behind it
 */

/** @type {Readonly<Record<PlayerErrorKind, string>>} */
const REMEDIES = Object.freeze({
  unsupported: "Choose another format, or try another browser.",
  refused: "Change the text or the settings, then press Play again.",
  interrupted: "Check the connection, then press Play to hear it from the start.",
  decode: "Choose another format, then press Play again.",
  quota: "Choose a smaller format such as MP3 or Opus, or split the text.",
});

/** A playback that cannot go on: its kind for programs, its words for people. */
export class PlayerError extends Error {
  /**
   * @param {PlayerErrorKind} kind
   * @param {string} message one sentence that says what happened
   * @param {PlayerErrorDetails} [details]
   */
  constructor(kind, message, { remedy = REMEDIES[kind], ...details } = {}) {
    super(message, { cause: details.cause });
    this.name = "PlayerError";
    /** @readonly */
    this.kind = kind;
    /** @readonly */
    this.remedy = remedy;
    /** @readonly */
    this.atSeconds = details.atSeconds;
    /** @readonly */
    this.status = details.status;
  }
}

/**
 * Keeps a PlayerError as it is and names any other reason.
 * @param {unknown} reason
 * @param {PlayerErrorKind} kind the name for a reason that has none yet
 * @param {string} message
 * @returns {PlayerError}
 */
export function asPlayerError(reason, kind, message) {
  return reason instanceof PlayerError ? reason : new PlayerError(kind, message, { cause: reason });
}

/**
 * The name of a DOMException-like reason, or "" where it has none.
 * @param {unknown} reason
 * @returns {string}
 */
export function nameOf(reason) {
  return reason instanceof Error || reason instanceof DOMException ? reason.name : "";
}
