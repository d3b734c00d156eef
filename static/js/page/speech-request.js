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
 * @returns {{method: string, headers: Record<string, string>, body: string}} a POST whose answer arrives while it is made
 */
export function postOf(speech) {
  const body = JSON.stringify({ ...fieldsOf(speech), stream: true });
  return { method: "POST", headers: { "Content-Type": "application/json" }, body };
}

/**
 * Asks for a speech.
 * @param {Speech} speech
 * @param {{id: string, headers: Readonly<Record<string, string>>, signal: AbortSignal}} options
 *   `id` names the request, `headers` are the person's key
 * @returns {Promise<Response>}
 */
export function requestSpeech(speech, { id, headers, signal }) {
  const post = postOf(speech);
  return fetch(ENDPOINT, {
    ...post,
    headers: { ...post.headers, ...headers, "X-Request-Id": id },
    signal,
  });
}

/**
 * @param {string} id of a speech's request
 * @returns {string} where the server tells what happens to it
 */
export function eventsOf(id) {
  return `${ENDPOINT}/${id}/events`;
}

/**
 * Tells the server that the sound ran out, even as the page is left. What becomes of it matters to
 * nobody here.
 * @param {string} id of the speech's request
 * @param {{underruns: number, stalled_seconds: number}} report
 * @param {Readonly<Record<string, string>>} headers
 */
export function sendPlayback(id, report, headers) {
  fetch(`${ENDPOINT}/${id}/playback`, {
    method: "POST",
    keepalive: true,
    headers: { ...headers, "Content-Type": "application/json" },
    body: JSON.stringify(report),
  }).catch(() => undefined);
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
