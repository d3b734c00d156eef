/**
 * Looks at an answer before a byte of it reaches a SourceBuffer, which would swallow anything.
 * @module
 */

import { PlayerError } from "./errors.js";

/** What helps where the trouble is the server's. */
export const TRY_LATER = "Wait a moment, then press Play again.";

/**
 * Passes a response that carries the expected audio.
 * @param {Response} response
 * @param {string} expectedType a MIME type, with or without parameters
 * @returns {Promise<ReadableStream<Uint8Array<ArrayBuffer>>>} its body, not yet read
 * @throws {PlayerError} `refused`, with the server's own words where it sent any
 */
export async function acceptAudio(response, expectedType) {
  if (!response.ok) throw await refusal(response);
  const type = essenceOf(response.headers.get("Content-Type") ?? "");
  if (type !== essenceOf(expectedType) || !response.body) {
    await response.body?.cancel();
    const got = type || "nothing that names its type";
    const message = `The server sent ${got} instead of ${essenceOf(expectedType)}.`;
    throw new PlayerError("refused", message, { remedy: TRY_LATER });
  }
  return response.body;
}

/**
 * Finds the server's words for an error of an element, which does not tell what was answered.
 * @param {PlayerError} error the element's own word
 * @param {Promise<Response>} answer to the same request, asked once more
 * @returns {Promise<PlayerError>} a refusal, or `error` where that is all there is
 */
export async function explain(error, answer) {
  try {
    const response = await answer;
    if (!response.ok) return await refusal(response);
    await response.body?.cancel();
  } catch {
    // Out of reach, or the playback is over.
  }
  return error;
}

/**
 * Turns an error answer into words.
 * @param {Response} response a response with a status of 400 or more
 * @returns {Promise<PlayerError>}
 */
async function refusal(response) {
  const message = (await serverMessage(response)) ?? `The server answered ${response.status}.`;
  const busy = response.status === 429 || response.status >= 500;
  const remedy = busy ? { remedy: remedyWhenBusy(response) } : {};
  return new PlayerError("refused", message, { ...remedy, status: response.status });
}

/**
 * @param {Response} response
 * @returns {string}
 */
function remedyWhenBusy(response) {
  const seconds = Number(response.headers.get("Retry-After"));
  return seconds > 0 ? `Wait ${seconds} s, then press Play again.` : TRY_LATER;
}

/**
 * @param {Response} response
 * @returns {Promise<string | null>} the message of an OpenAI-shaped error
 */
async function serverMessage(response) {
  try {
    const message = (await response.json())?.error?.message;
    return typeof message === "string" && message ? message : null;
  } catch {
    return null;
  }
}

/**
 * @param {string} type
 * @returns {string} the MIME type without its parameters
 */
function essenceOf(type) {
  return (type.split(";")[0] ?? "").trim().toLowerCase();
}
