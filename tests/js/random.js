/**
 * A repeatable source of chance (mulberry32), so that a failure can be seen again.
 * @param {number} seed
 * @returns {(limit: number) => number} whole numbers from 0 to limit - 1
 */
export function drawer(seed) {
  let state = seed;
  return (limit) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit;
  };
}
