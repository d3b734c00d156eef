/**
 * Which container to ask the server for, and how the element is to play it. Pure.
 * @module
 */

import { PlayerError } from "./errors.js";

/**
 * One line of the server's list.
 * @typedef {object} Format
 * @property {string} name the value of `response_format`
 * @property {string | null} mseType what MediaSource calls it, or null where it takes no such thing
 */

/**
 * @template {Format} F
 * @typedef {object} Choice
 * @property {F} format
 * @property {string | null} mseType the type for `addSourceBuffer`, or null for a plain `src`
 */

/** Best first: cheap and open, then what Safari has always taken, then what everything takes. */
const MEDIA_SOURCE_ORDER = Object.freeze(["webm", "mp4", "mp3"]);

/** Without MediaSource: what every media element can play while it arrives. */
const PLAIN_ORDER = Object.freeze(["mp3", "mp4", "webm"]);

/**
 * Chooses the container.
 * @template {Format} F
 * @param {readonly F[]} formats what the server offers
 * @param {((type: string) => boolean) | null} isTypeSupported MediaSource's own test, or null where
 *   there is no MediaSource. Never `canPlayType`: it says "probably" to types MediaSource refuses.
 * @param {{wanted?: string}} [options] `wanted` is the person's own choice, "" to choose for them
 * @returns {Choice<F>}
 * @throws {PlayerError} `unsupported` where the server offers nothing that fits
 */
export function chooseFormat(formats, isTypeSupported, { wanted = "" } = {}) {
  const candidates = wanted ? [wanted] : MEDIA_SOURCE_ORDER;
  for (const format of pick(formats, candidates)) {
    const mseType = supportedType(format.mseType, isTypeSupported);
    if (mseType) return { format, mseType };
  }
  const [plain] = pick(formats, wanted ? [wanted] : PLAIN_ORDER);
  if (plain) return { format: plain, mseType: null };
  throw new PlayerError("unsupported", "The server offers no format that this page can play.");
}

/**
 * @template {Format} F
 * @param {readonly F[]} formats
 * @param {readonly string[]} names
 * @returns {F[]} the formats with these names, in the order of the names
 */
function pick(formats, names) {
  return names.flatMap((name) => formats.filter((format) => format.name === name));
}

/**
 * @param {string | null} type
 * @param {((type: string) => boolean) | null} isTypeSupported
 * @returns {string | null} the spelling that this browser takes
 */
function supportedType(type, isTypeSupported) {
  if (!type || !isTypeSupported) return null;
  // WebKit knows Opus in MP4 by its sample entry's name only, which has a capital.
  const spellings = type.startsWith("audio/mp4")
    ? [type, type.replace('"opus"', '"Opus"')]
    : [type];
  return spellings.find((spelling) => isTypeSupported(spelling)) ?? null;
}
