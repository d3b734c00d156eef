import assert from "node:assert/strict";
import { test } from "node:test";

import { makeRequestId } from "../../../static/js/page/request-id.js";

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/u;

test("a request's id is a random UUID", () => {
  assert.match(makeRequestId(), UUID);
});

test("an insecure origin has them too, from the bytes that it is given", () => {
  /** @param {number} value */
  const filledWith = (value) =>
    makeRequestId(
      /** @type {any} */ ({ getRandomValues: (/** @type {Uint8Array} */ bytes) => bytes.fill(value) }),
    );
  assert.equal(filledWith(0xff), "ffffffff-ffff-4fff-bfff-ffffffffffff");
  assert.equal(filledWith(0x01), "01010101-0101-4101-8101-010101010101");
});
