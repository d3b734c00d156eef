import assert from "node:assert/strict";
import { mock, test } from "node:test";

import { wait } from "../../../static/js/player/wait.js";

test("a wait ends when its time has come", async () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  let over = false;
  const waited = wait(500, new AbortController().signal).then(() => (over = true));
  mock.timers.tick(499);
  await Promise.resolve();
  assert.equal(over, false);
  mock.timers.tick(1);
  await waited;
  mock.timers.reset();
});

test("a wait ends with its signal, also with one that has ended before", async () => {
  const life = new AbortController();
  const waited = wait(1e9, life.signal);
  life.abort();
  await waited;
  await wait(1e9, life.signal);
});
