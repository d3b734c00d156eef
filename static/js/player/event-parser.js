/**
 * Reads text/event-stream as the HTML standard interprets it (section 9.2.6), however it is cut.
 * Pure.
 * @module
 */

/**
 * @typedef {object} ServerEvent
 * @property {string} type "message" where the server names none
 * @property {string} data its lines, joined by line feeds
 * @property {string} id the last one that the server gave, of this event or of one before
 */

const LINE_END = /\r\n|\r|\n/u;
const DIGITS = /^\d+$/u;

export class EventParser {
  /** Drops a byte order mark at the start, and puts U+FFFD for what is no UTF-8. */
  #decoder = new TextDecoder();
  #line = "";
  /** A line ended in CR: an LF that comes next belongs to it. */
  #endedInReturn = false;
  #type = "";
  /** @type {string[]} */
  #data = [];
  #id;
  #lastEventId;
  /** @type {number | null} */
  #retryMs = null;

  /** @param {string} [lastEventId] where an earlier connection stopped */
  constructor(lastEventId = "") {
    this.#id = lastEventId;
    this.#lastEventId = lastEventId;
  }

  /** The id to go on after. */
  get lastEventId() {
    return this.#lastEventId;
  }

  /** How long the server wants a client to wait before it connects again, null: not told. */
  get retryMs() {
    return this.#retryMs;
  }

  /**
   * @param {Uint8Array} bytes the next ones
   * @returns {ServerEvent[]} the events that they complete
   */
  push(bytes) {
    const text = this.#decoder.decode(bytes, { stream: true });
    return text ? this.#split(text).flatMap((line) => this.#take(line)) : [];
  }

  /**
   * @param {string} text not empty
   * @returns {string[]} the lines that it ends
   */
  #split(text) {
    const fresh = this.#endedInReturn && text.startsWith("\n") ? text.slice(1) : text;
    this.#endedInReturn = text.endsWith("\r");
    const lines = fresh.split(LINE_END);
    lines[0] = this.#line + lines[0];
    this.#line = lines.pop() ?? "";
    return lines;
  }

  /**
   * @param {string} line
   * @returns {ServerEvent[]} one where the line ends an event
   */
  #take(line) {
    if (line === "") return this.#dispatch();
    const colon = line.indexOf(":");
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1);
    this.#set(name, value.startsWith(" ") ? value.slice(1) : value);
    return [];
  }

  /**
   * @param {string} name of a field; "" is a comment's, and unknown ones mean nothing
   * @param {string} value
   */
  #set(name, value) {
    if (name === "data") this.#data.push(value);
    else if (name === "event") this.#type = value;
    else if (name === "id" && !value.includes("\0")) this.#id = value;
    else if (name === "retry" && DIGITS.test(value)) this.#retryMs = Number(value);
  }

  /** @returns {ServerEvent[]} */
  #dispatch() {
    this.#lastEventId = this.#id;
    const [type, data] = [this.#type || "message", this.#data];
    this.#type = "";
    this.#data = [];
    return data.length ? [{ type, data: data.join("\n"), id: this.#id }] : [];
  }
}
