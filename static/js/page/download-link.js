/**
 * The finished sound as a file. A link without an address is disabled.
 * @module
 */

import { find } from "./elements.js";

export class DownloadLink {
  #link = find("download", HTMLAnchorElement);
  /** @type {string | null} the object URL that has to be freed */
  #objectUrl = null;

  /** Nothing to download, or not yet. */
  disable() {
    this.#free();
    this.#link.removeAttribute("href");
    this.#link.removeAttribute("download");
    this.#link.ariaDisabled = "true";
  }

  /**
   * @param {Blob} recording
   * @param {string} extension
   */
  offerRecording(recording, extension) {
    this.#free();
    this.#objectUrl = URL.createObjectURL(recording);
    this.offerAddress(this.#objectUrl, extension);
  }

  /**
   * @param {string} address
   * @param {string} extension
   */
  offerAddress(address, extension) {
    this.#link.href = address;
    this.#link.download = `legato.${extension}`;
    this.#link.ariaDisabled = null;
  }

  #free() {
    if (this.#objectUrl) URL.revokeObjectURL(this.#objectUrl);
    this.#objectUrl = null;
  }
}
