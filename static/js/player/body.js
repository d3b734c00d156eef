/**
 * Reads a body no faster than there is room for it.
 * @module
 */

import { PlayerError } from "./errors.js";

/** @typedef {import("./playback.js").Playback} Playback */
/** @typedef {import("./read-gate.js").ReadGate} ReadGate */

/**
 * The body's chunks, asked for only while the gate is open.
 * @param {ReadableStream<Uint8Array<ArrayBuffer>>} body
 * @param {Playback} playback its signal ends the reading
 * @param {ReadGate} gate
 * @returns {AsyncGenerator<Uint8Array<ArrayBuffer>, void, void>}
 * @throws {PlayerError} `refused` where the body is empty
 */
export async function* readBody(body, { signal, stats }, gate) {
  const reader = body.getReader();
  const hangUp = () => void reader.cancel().catch(() => undefined);
  signal.addEventListener("abort", hangUp, { once: true });
  try {
    while (!signal.aborted) {
      if (!gate.isOpen) stats.park();
      await gate.opened();
      stats.unpark();
      const { done, value } = await reader.read();
      if (done) break;
      stats.receive(value.byteLength);
      yield value;
    }
    if (!stats.hasReceived && !signal.aborted)
      throw new PlayerError("refused", "The server sent no sound.");
  } finally {
    signal.removeEventListener("abort", hangUp);
  }
}
