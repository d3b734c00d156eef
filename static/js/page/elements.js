/**
 * Finds what the template promises.
 * @module
 */

/**
 * @template {Element} E
 * @param {string} id
 * @param {new () => E} type
 * @returns {E}
 * @throws {Error} where the template has no such element
 */
export function find(id, type) {
  const element = document.getElementById(id);
  if (element instanceof type) return element;
  throw new Error(`The page has no ${type.name} named ${id}.`);
}
