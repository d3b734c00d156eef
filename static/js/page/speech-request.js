/**
 * What the page asks the server for. Pure, apart from chance.
 * @module
 */

/**
 * @typedef {object} Speech
 * @property {string} input the text
 * @property {string} model
 * @property {string} voice
 * @property {number} speed 1 is the voice's own pace
 * @property {string} responseFormat
 * @property {number} seed the same one gives the same sound again
 */

const ENDPOINT = "/v1/audio/speech";

/** The server takes 32 bits. */
const SEEDS = 2 ** 32;

/**
 * @returns {number} a seed that makes this speech repeatable
 */
export function drawSeed() {
  return Math.floor(Math.random() * SEEDS);
}

/**
 * @param {Speech} speech
 * @returns {RequestInit} a POST whose answer arrives while it is made
 */
export function postOf(speech) {
  const body = JSON.stringify({ ...fieldsOf(speech), stream: true });
  return { method: "POST", headers: { "Content-Type": "application/json" }, body };
}

/**
 * Asks for a speech.
 * @param {Speech} speech
 * @param {AbortSignal} signal
 * @returns {Promise<Response>}
 */
export function requestSpeech(speech, signal) {
  return fetch(ENDPOINT, { ...postOf(speech), signal });
}

/**
 * @param {Speech} speech
 * @returns {string} an address that gives the same sound to a plain `src`
 */
export function addressOf(speech) {
  const fields = Object.entries(fieldsOf(speech));
  return `${ENDPOINT}?${new URLSearchParams(fields.map(([name, value]) => [name, String(value)]))}`;
}

/**
 * @param {Speech} speech
 */
function fieldsOf({ responseFormat, ...rest }) {
  const fields = { ...rest, response_format: responseFormat };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== ""));
}
