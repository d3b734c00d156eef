/**
 * Server-sent events over fetch, which can send a key where an EventSource can't.
 * @module
 */

import { EventParser } from "./event-parser.js";
import { wait as waitByClock } from "./wait.js";

/** @typedef {import("./event-parser.js").ServerEvent} ServerEvent */

/**
 * @typedef {object} FollowOptions
 * @property {AbortSignal} signal ends it, quietly
 * @property {Readonly<Record<string, string>>} [headers] sent with every request
 * @property {ReadonlySet<string>} [endings] the types of events that nothing follows
 * @property {(input: string, init: RequestInit) => Promise<Response>} [fetch]
 * @property {(milliseconds: number, signal: AbortSignal) => Promise<void>} [wait]
 */

/** Connections in a row that may bring nothing. */
const MOST_TRIES = 5;

/** The wait after the first of them, where the server names none; each further one doubles it. */
const FIRST_WAIT_MS = 250;

/**
 * Gives the events of a stream, and goes on by itself where a connection broke off. Ends after an
 * event that ends the stream, where the server says that there is nothing (204, or an error of the
 * client's), where it can't be reached any more, and with the signal.
 * @param {string} address
 * @param {FollowOptions} options
 * @returns {AsyncGenerator<ServerEvent, void, void>}
 */
export async function* followEvents(address, { endings = new Set(), ...options }) {
  const { signal, wait = waitByClock } = options;
  let parser = new EventParser();
  let firstWaitMs = FIRST_WAIT_MS;
  for (let failures = 0; failures < MOST_TRIES && !signal.aborted; failures += 1) {
    if (failures > 0) await wait(firstWaitMs * 2 ** (failures - 1), signal);
    parser = new EventParser(parser.lastEventId);
    try {
      const body = await connect(address, parser.lastEventId, options);
      if (!body) return;
      for await (const event of readEvents(body, parser)) {
        if (signal.aborted) return;
        failures = 0;
        yield event;
        if (endings.has(event.type)) return;
      }
    } catch {
      // Out of reach, overloaded or broken off: the next connection goes on where this one stopped.
    }
    firstWaitMs = parser.retryMs ?? firstWaitMs;
  }
}

/**
 * @param {string} address
 * @param {string} lastEventId "" for none
 * @param {FollowOptions} options
 * @returns {Promise<ReadableStream<Uint8Array<ArrayBuffer>> | null>} null where nothing will come
 * @throws {Error} where it may be worth another try
 */
async function connect(address, lastEventId, { signal, headers, fetch = globalThis.fetch }) {
  const sent = new Headers({ ...headers, Accept: "text/event-stream" });
  if (lastEventId) sent.set("Last-Event-ID", lastEventId);
  const response = await fetch(address, { headers: sent, signal, cache: "no-store" });
  const type = response.headers.get("Content-Type") ?? "";
  if (response.ok && type.startsWith("text/event-stream")) return response.body;
  await response.body?.cancel();
  if (response.status === 429 || response.status >= 500)
    throw new Error(`The server answered ${response.status}.`);
  return null;
}

/**
 * @param {ReadableStream<Uint8Array<ArrayBuffer>>} body
 * @param {EventParser} parser
 * @returns {AsyncGenerator<ServerEvent, void, void>}
 */
async function* readEvents(body, parser) {
  const reader = body.getReader();
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read())
      yield* parser.push(read.value);
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
