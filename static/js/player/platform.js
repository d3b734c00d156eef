/**
 * What the player takes from the browser, in one place, so that tests can hand in their own.
 * @module
 */

import { wait } from "./wait.js";

/**
 * `ManagedMediaSource` adds when the browser wants data to what `MediaSource` has.
 * @typedef {MediaSource & {streaming?: boolean}} AnyMediaSource
 */

/**
 * @typedef {object} Platform
 * @property {typeof MediaSource | undefined} MediaSource
 * @property {typeof MediaSource | undefined} ManagedMediaSource
 * @property {string} userAgent
 * @property {(input: Request | URL | string, init: RequestInit) => Promise<Response>} fetch
 * @property {(source: MediaSource) => string} createObjectURL
 * @property {(url: string) => void} revokeObjectURL
 * @property {() => number} now a monotonic clock in milliseconds
 * @property {(milliseconds: number, signal: AbortSignal) => Promise<void>} wait ends early with the
 *   signal, and never rejects
 */

/**
 * The browser that this runs in.
 * @returns {Platform}
 */
export function browserPlatform() {
  const scope = /** @type {{ManagedMediaSource?: typeof MediaSource}} */ (globalThis);
  return {
    MediaSource: globalThis.MediaSource,
    ManagedMediaSource: scope.ManagedMediaSource,
    userAgent: navigator.userAgent,
    fetch: (input, init) => fetch(input, init),
    createObjectURL: (source) => URL.createObjectURL(source),
    revokeObjectURL: (url) => URL.revokeObjectURL(url),
    now: () => performance.now(),
    wait,
  };
}

/**
 * The source to use: MediaSource where there is one, since the managed one may drop sound at will.
 * @param {Platform} platform
 * @returns {typeof MediaSource | null}
 */
export function mediaSourceOf(platform) {
  return platform.MediaSource ?? platform.ManagedMediaSource ?? null;
}

/**
 * MediaSource's own test, for `chooseFormat`.
 * @param {Platform} [platform]
 * @returns {((type: string) => boolean) | null} null where there is no MediaSource of any kind
 */
export function typeSupport(platform = browserPlatform()) {
  const Source = mediaSourceOf(platform);
  return Source && ((type) => Source.isTypeSupported(type));
}

/**
 * Gives the element a source of its own. Synchronous, so that `play()` can follow within the click.
 * @param {HTMLMediaElement} audio
 * @param {Platform} platform
 * @param {AbortSignal} signal
 * @returns {{mediaSource: AnyMediaSource, opened: Promise<void>}} `opened` stays pending where the
 *   signal ends the playback first
 */
export function attachMediaSource(audio, platform, signal) {
  const Source = /** @type {typeof MediaSource} */ (mediaSourceOf(platform));
  // A managed source never opens while the sound might be sent to another device.
  if (!platform.MediaSource) audio.disableRemotePlayback = true;
  const mediaSource = new Source();
  /** @type {Promise<void>} */
  const opened = new Promise((resolve) => {
    mediaSource.addEventListener("sourceopen", () => resolve(), { once: true, signal });
  });
  const url = platform.createObjectURL(mediaSource);
  audio.src = url;
  // The element holds the source from here on; the URL alone would keep it for the page's life.
  void opened.then(() => platform.revokeObjectURL(url));
  signal.addEventListener("abort", () => platform.revokeObjectURL(url), { once: true });
  return { mediaSource, opened };
}
