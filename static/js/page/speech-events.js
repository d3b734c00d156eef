/**
 * What the server tells of a speech beside its sound. Pure.
 * @module
 */

/** @typedef {import("../player/event-parser.js").ServerEvent} ServerEvent */
/** @typedef {import("../player/ending.js").Ending} Ending */

/**
 * A word and when it is heard.
 * @typedef {object} WordMark
 * @property {string} text as it is spoken
 * @property {number} text_start where it is written, in code points of the text
 * @property {number} text_end
 * @property {number} start in seconds of the sound
 * @property {number} end
 */

/**
 * @typedef {object} Listener
 * @property {(position: number) => void} onPosition its place in the queue, 0 once it has left it
 * @property {(marks: WordMark[]) => void} onWords more of it was made
 */

/** The events that nothing follows. */
export const ENDINGS = Object.freeze(new Set(["done", "failed", "cancelled"]));

/**
 * Tells the listener what happens.
 * @param {AsyncIterable<ServerEvent>} events
 * @param {Listener} listener
 * @returns {Promise<Ending | null>} as soon as the end is known; null where it never will be
 */
export function hearSpeech(events, listener) {
  return new Promise((resolve) => {
    const nothingMore = () => resolve(null);
    tellAll(events, { ...listener, onEnding: resolve }).then(nothingMore, nothingMore);
  });
}

/**
 * @param {AsyncIterable<ServerEvent>} events
 * @param {Listener & {onEnding: (ending: Ending) => void}} listener
 */
async function tellAll(events, { onEnding, onPosition, onWords }) {
  for await (const { type, data } of events) {
    const told = JSON.parse(data);
    if (type === "queued") onPosition(told.position);
    else if (type === "started") onPosition(0);
    else if (type === "chunk") onWords(told.marks);
    else if (type === "total") onEnding({ seconds: told.seconds });
    else if (type === "failed") onEnding({ failure: told.error.message });
  }
}
