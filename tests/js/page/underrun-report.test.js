import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import { UnderrunReport } from "../../../static/js/page/underrun-report.js";

const SMOOTH = {
  firstSoundSeconds: 0.1,
  receivedSeconds: 2,
  bufferedSeconds: 0,
  receivedBytes: 9,
  realTimeFactor: 0.1,
  stalls: 0,
  stalledSeconds: 0,
  complete: true,
};
const HALTING = { ...SMOOTH, stalls: 2, stalledSeconds: 1.25 };

/** @type {unknown[]} */
let sent;
/** @type {UnderrunReport} */
let report;

beforeEach(() => {
  sent = [];
  report = new UnderrunReport((...told) => sent.push(told));
});

test("a speech whose sound ran out is told once", () => {
  report.begin("a");
  report.end(HALTING);
  report.end(HALTING);
  assert.deepEqual(sent, [["a", { underruns: 2, stalled_seconds: 1.25 }]]);
});

test("a smooth one, one without numbers, and none at all are not told", () => {
  report.begin("a");
  report.end(SMOOTH);
  report.begin("b");
  report.end(null);
  report.end(HALTING);
  assert.deepEqual(sent, []);
});
