/**
 * Keeps the person's last voice, speed and format in this browser.
 * @module
 */

const KEY = "legato.settings";

/**
 * Restores the settings, unless the address says what to show, and keeps them from then on.
 * @param {readonly HTMLSelectElement[]} fields
 */
export function keepSettings(fields) {
  if (!location.search) restore(fields);
  for (const field of fields) field.addEventListener("change", () => save(fields));
}

/** @param {readonly HTMLSelectElement[]} fields */
function restore(fields) {
  const saved = load();
  for (const field of fields) {
    const known = [...field.options].some(({ value }) => value === saved[field.name]);
    if (known) field.value = String(saved[field.name]);
  }
}

/** @returns {Record<string, unknown>} */
function load() {
  try {
    return Object(JSON.parse(localStorage.getItem(KEY) ?? "{}"));
  } catch {
    return {};
  }
}

/** @param {readonly HTMLSelectElement[]} fields */
function save(fields) {
  try {
    localStorage.setItem(
      KEY,
      JSON.stringify(Object.fromEntries(fields.map((f) => [f.name, f.value]))),
    );
  } catch {
    // A browser that keeps nothing for us still speaks.
  }
}
