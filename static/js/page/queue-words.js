/**
 * A place in a queue, in words. Pure.
 * @module
 */

const RULES = new Intl.PluralRules("en", { type: "ordinal" });

/** @type {Readonly<Partial<Record<Intl.LDMLPluralRule, string>>>} */
const SUFFIXES = Object.freeze({ one: "st", two: "nd", few: "rd" });

/**
 * @param {number} position from 1
 * @returns {string}
 */
export function tellPosition(position) {
  if (position === 1) return "Waiting: next in the queue.";
  return `Waiting: ${position}${SUFFIXES[RULES.select(position)] ?? "th"} in the queue.`;
}

/**
 * Whether to interrupt a person who listens to the page: when the queue has halved, and near its
 * end.
 * @param {number} position
 * @param {number | null} told the position that they heard last, null for none
 * @returns {boolean}
 */
export function isWorthSaying(position, told) {
  return told === null || position <= Math.max(3, told / 2);
}
