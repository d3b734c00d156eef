import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import { ApiKey } from "../../../static/js/page/api-key.js";

/** A Storage with the methods that are used here. */
class FakeStorage {
  /** @type {Map<string, string>} */
  items = new Map();
  /** @param {string} name */
  getItem = (name) => this.items.get(name) ?? null;
  /** @param {string} name @param {string} value */
  setItem = (name, value) => this.items.set(name, value);
  /** @param {string} name */
  removeItem = (name) => this.items.delete(name);
}

/** @type {FakeStorage} */
let tab;
/** @type {FakeStorage} */
let browser;

beforeEach(() => {
  [tab, browser] = [new FakeStorage(), new FakeStorage()];
});

const open = () => new ApiKey(/** @type {any} */ ({ tab: () => tab, browser: () => browser }));

test("without a key nothing is sent", () => {
  const key = open();
  assert.deepEqual([key.isKnown, key.headers], [false, {}]);
});

test("a key is sent, and known again in the same tab only", () => {
  open().keep("s3cret", { remember: false });
  assert.deepEqual(open().headers, { Authorization: "Bearer s3cret" });
  tab = new FakeStorage();
  assert.equal(open().isKnown, false);
});

test("a key that is to be remembered is known in other tabs", () => {
  open().keep("s3cret", { remember: true });
  tab = new FakeStorage();
  assert.deepEqual(open().headers, { Authorization: "Bearer s3cret" });
});

test("a new key leaves nothing of the one before", () => {
  open().keep("old", { remember: true });
  open().keep("new", { remember: false });
  assert.deepEqual(open().headers, { Authorization: "Bearer new" });
  assert.equal(browser.items.size, 0);
});

test("where the browser keeps nothing, the page knows the key as long as it is open", () => {
  const refuse = () => {
    throw new DOMException("no storage", "SecurityError");
  };
  const key = new ApiKey({ tab: refuse, browser: refuse });
  key.keep("s3cret", { remember: true });
  assert.equal(key.isKnown, true);
});
