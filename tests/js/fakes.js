/**
 * Stand-ins for the browser's media classes: as strict as the real ones about order, with events
 * that come later, and with a clock that only the test moves.
 * @module
 */

/** How much sound a byte is worth here. */
export const SECONDS_PER_BYTE = 0.01;

/** More turns of the event loop than any chain of events in these tests is long. */
const TURNS = 50;

/** Lets every queued event and promise run: counted in turns, so that no clock is involved. */
export async function settle() {
  for (let turn = 0; turn < TURNS; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** @param {EventTarget} target @param {string} type */
function fireLater(target, type) {
  setImmediate(() => target.dispatchEvent(new Event(type)));
}

/** @param {boolean} allowed @param {string} what */
function demand(allowed, what) {
  if (!allowed) throw new DOMException(what, "InvalidStateError");
}

export class FakeSourceBuffer extends EventTarget {
  updating = false;
  removed = false;
  timestampOffset = 0;
  appendWindowStart = 0;
  appendWindowEnd = Infinity;
  /** @type {number[]} where the window ended for each append */
  windowEnds = [];
  /** Bytes that fit in all, until some were evicted. */
  budget = Infinity;
  /** The next append fails as if it held no audio. */
  damaged = false;
  /** @type {Uint8Array[]} */
  appends = [];

  get bytes() {
    return this.appends.reduce((sum, { byteLength }) => sum + byteLength, 0);
  }

  /** @param {Uint8Array} data */
  appendBuffer(data) {
    demand(!this.removed, "removed from its source");
    demand(!this.updating, "still updating");
    if (this.bytes + data.byteLength > this.budget)
      throw new DOMException("full", "QuotaExceededError");
    this.updating = true;
    this.windowEnds.push(this.appendWindowEnd);
    setImmediate(() => this.#finish(data));
  }

  /** As when the element is given another source. */
  detach() {
    this.removed = true;
    if (this.updating) for (const type of ["abort", "updateend"]) fireLater(this, type);
    this.updating = false;
  }

  /** @param {Uint8Array} data */
  #finish(data) {
    if (this.removed) return;
    this.updating = false;
    if (!this.damaged) this.appends.push(data.slice());
    this.dispatchEvent(new Event(this.damaged ? "error" : "update"));
    this.dispatchEvent(new Event("updateend"));
  }
}

export class FakeMediaSource extends EventTarget {
  /** @param {string} type */
  static isTypeSupported(type) {
    return type === "audio/mpeg";
  }

  readyState = "closed";
  /** @type {FakeSourceBuffer[]} */
  sourceBuffers = [];
  /** @type {string[]} */
  endings = [];

  /** @param {string} type */
  addSourceBuffer(type) {
    demand(this.readyState === "open", "not open");
    if (!FakeMediaSource.isTypeSupported(type)) throw new DOMException(type, "NotSupportedError");
    const buffer = new FakeSourceBuffer();
    this.sourceBuffers.push(buffer);
    return buffer;
  }

  /** @param {string} [reason] */
  endOfStream(reason = "") {
    demand(this.readyState === "open", "not open");
    demand(!this.sourceBuffers.some(({ updating }) => updating), "still updating");
    this.endings.push(reason);
    this.readyState = "ended";
  }

  open() {
    if (this.readyState !== "closed") return;
    this.readyState = "open";
    fireLater(this, "sourceopen");
  }

  close() {
    if (this.readyState === "closed") return;
    this.readyState = "closed";
    this.sourceBuffers.forEach((buffer) => buffer.detach());
    fireLater(this, "sourceclose");
  }
}

export class FakeManagedMediaSource extends FakeMediaSource {
  streaming = false;

  /** @param {boolean} wanted */
  want(wanted) {
    this.streaming = wanted;
    this.dispatchEvent(new Event(wanted ? "startstreaming" : "endstreaming"));
  }
}

export class FakeAudio extends EventTarget {
  currentTime = 0;
  playbackRate = 1;
  paused = true;
  ended = false;
  seeking = false;
  disableRemotePlayback = false;
  /** @type {{code: number} | null} */
  error = null;
  plays = 0;
  /** @type {DOMException | null} what `play()` is refused with */
  refusal = null;
  /** @type {FakeMediaSource | null} */
  source = null;
  #src = "";
  /** @type {Map<string, FakeMediaSource>} */
  #urls;

  /** @param {Map<string, FakeMediaSource>} urls */
  constructor(urls) {
    super();
    this.#urls = urls;
  }

  get src() {
    return this.#src;
  }

  set src(url) {
    this.load();
    this.#src = url;
    this.source = this.#urls.get(url) ?? null;
    this.source?.open();
  }

  get end() {
    return (this.source?.sourceBuffers[0]?.bytes ?? 0) * SECONDS_PER_BYTE;
  }

  get buffered() {
    const { end } = this;
    return { length: end > 0 ? 1 : 0, start: () => 0, end: () => end };
  }

  /** @param {string} name */
  removeAttribute(name) {
    if (name === "src") this.#src = "";
  }

  load() {
    this.source?.close();
    this.source = null;
    Object.assign(this, { currentTime: 0, paused: true, ended: false, error: null });
  }

  async play() {
    this.plays += 1;
    if (this.refusal) throw this.refusal;
    this.paused = false;
    this.ended = false;
  }

  pause() {
    if (this.paused) return;
    this.paused = true;
    this.dispatchEvent(new Event("pause"));
  }

  /** Plays on for some seconds, or to where the sound ends. @param {number} seconds */
  hear(seconds) {
    if (this.currentTime === 0 && this.end > 0) this.dispatchEvent(new Event("playing"));
    this.currentTime = Math.min(this.end, this.currentTime + seconds);
    this.dispatchEvent(new Event("timeupdate"));
    if (this.currentTime < this.end) return;
    if (this.source?.readyState === "ended") this.#finish();
    else this.dispatchEvent(new Event("waiting"));
  }

  /** @param {number} code of a MediaError */
  break(code) {
    this.error = { code };
    this.dispatchEvent(new Event("error"));
  }

  #finish() {
    this.paused = true;
    this.ended = true;
    this.dispatchEvent(new Event("pause"));
    this.dispatchEvent(new Event("ended"));
  }
}

/** A body that the test writes, counting what was asked for. */
export class FakeBody {
  /** @type {ReadableStreamDefaultController<Uint8Array> | null} */
  #controller = null;
  cancelled = false;
  stream = new ReadableStream({
    start: (controller) => {
      this.#controller = controller;
    },
    cancel: () => {
      this.cancelled = true;
    },
  });

  /** @param {number} bytes @param {number} [value] */
  write(bytes, value = 0) {
    this.#controller?.enqueue(new Uint8Array(bytes).fill(value));
  }

  end() {
    this.#controller?.close();
  }

  cut() {
    this.#controller?.error(new TypeError("network error"));
  }
}

/** A browser in which only the test moves the clock. */
export class FakeBrowser {
  /** @type {Map<string, FakeMediaSource>} */
  urls = new Map();
  /** @type {FakeMediaSource[]} */
  sources = [];
  clock = 0;
  /** @type {{milliseconds: number, signal: AbortSignal, end: () => void}[]} what waits for the test to end it */
  waits = [];
  /** @type {(input: unknown, init: {signal?: AbortSignal}) => Promise<Response>} */
  answer = () => Promise.reject(new TypeError("no network"));
  audio = new FakeAudio(this.urls);

  /** @param {Record<string, unknown>} [overrides] */
  platform(overrides = {}) {
    return /** @type {any} */ ({
      MediaSource: FakeMediaSource,
      ManagedMediaSource: undefined,
      userAgent: "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0",
      fetch: (/** @type {unknown} */ input, /** @type {any} */ init) => this.answer(input, init),
      createObjectURL: (/** @type {FakeMediaSource} */ source) => {
        const url = `blob:${this.sources.push(source)}`;
        this.urls.set(url, source);
        return url;
      },
      revokeObjectURL: (/** @type {string} */ url) => this.urls.delete(url),
      now: () => this.clock,
      wait: (/** @type {number} */ milliseconds, /** @type {AbortSignal} */ signal) =>
        new Promise((/** @type {(value: void) => void} */ resolve) => {
          this.waits.push({ milliseconds, signal, end: resolve });
          signal.addEventListener("abort", () => resolve());
        }),
      ...overrides,
    });
  }
}
