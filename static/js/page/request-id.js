/**
 * Names for requests: random UUIDs.
 * @module
 */

/**
 * @param {Crypto} [source] of chance; only a secure context has its `randomUUID`
 * @returns {string} a UUID of version 4 (RFC 9562, section 5.4)
 */
export function makeRequestId(source = crypto) {
  return typeof source.randomUUID === "function" ? source.randomUUID() : draw(source);
}

/** @param {Crypto} source */
function draw(source) {
  const bytes = source.getRandomValues(new Uint8Array(16));
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const digits = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})/u, "$1-$2-$3-$4-");
}
