/**
 * The person's key for a server that asks for one: kept for this tab, or for this browser.
 * @module
 */

const NAME = "legato.key";

export class ApiKey {
  /** @type {readonly (Storage | null)[]} the tab's, then the browser's; null where there is none */
  #storages;
  #key;

  /** @param {{tab: () => Storage, browser: () => Storage}} [storages] asking for one may throw */
  constructor({ tab, browser } = { tab: () => sessionStorage, browser: () => localStorage }) {
    this.#storages = [attempt(tab), attempt(browser)];
    this.#key = this.#storages.map((storage) => attempt(() => storage?.getItem(NAME))).find(Boolean);
  }

  /** Whether there is one. */
  get isKnown() {
    return Boolean(this.#key);
  }

  /** @returns {Readonly<Record<string, string>>} what a request sends to show it */
  get headers() {
    return this.#key ? { Authorization: `Bearer ${this.#key}` } : {};
  }

  /**
   * Takes a key in place of the one before.
   * @param {string} key
   * @param {{remember: boolean}} options whether this browser may keep it when the tab is closed
   */
  keep(key, { remember }) {
    this.#key = key;
    const [tab, browser] = this.#storages;
    for (const storage of this.#storages) attempt(() => storage?.removeItem(NAME));
    attempt(() => (remember ? browser : tab)?.setItem(NAME, key));
  }
}

/**
 * @template T
 * @param {() => T} ask
 * @returns {T | null} null where the browser keeps nothing for us, which is no reason not to speak
 */
function attempt(ask) {
  try {
    return ask();
  } catch {
    return null;
  }
}
