/**
 * Joins small chunks for an append, which has a fixed cost. Pure.
 * @module
 */

/** What goes in together; a block that is refused for want of room must stay small. */
const BLOCK_BYTES = 64 * 1024;

/**
 * Takes one block off the front of the list: a lone chunk as it is, small ones joined.
 * @param {Uint8Array<ArrayBuffer>[]} pending shortened by what was taken
 * @returns {Uint8Array<ArrayBuffer> | null}
 */
export function takeBlock(pending) {
  let count = 0;
  let bytes = 0;
  while (count < pending.length && (count === 0 || bytes + sizeOf(pending, count) <= BLOCK_BYTES)) {
    bytes += sizeOf(pending, count);
    count += 1;
  }
  return count === 0 ? null : join(pending.splice(0, count), bytes);
}

/**
 * @param {Uint8Array<ArrayBuffer>[]} chunks
 * @param {number} index
 */
function sizeOf(chunks, index) {
  return chunks[index]?.byteLength ?? 0;
}

/**
 * @param {Uint8Array<ArrayBuffer>[]} chunks one or more
 * @param {number} totalBytes
 * @returns {Uint8Array<ArrayBuffer>}
 */
function join(chunks, totalBytes) {
  const [only] = chunks;
  if (only && chunks.length === 1) return only;
  const joined = new Uint8Array(totalBytes);
  let offset = 0;
  for (const chunk of chunks) {
    joined.set(chunk, offset);
    offset += chunk.byteLength;
  }
  return joined;
}
