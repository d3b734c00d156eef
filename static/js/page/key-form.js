/**
 * Asks for the key that a server wants.
 * @module
 */

import { find } from "./elements.js";

export class KeyForm {
  #form = find("key-form", HTMLFormElement);
  #key = find("key", HTMLInputElement);
  #remember = find("remember-key", HTMLInputElement);

  /**
   * @param {(key: string, options: {remember: boolean}) => void} onKey called within the person's
   *   own click or key press
   */
  constructor(onKey) {
    this.#form.addEventListener("submit", (event) => {
      event.preventDefault();
      const key = this.#key.value;
      this.hide();
      onKey(key, { remember: this.#remember.checked });
    });
  }

  /** Shows the field and goes there. */
  ask() {
    this.#form.hidden = false;
    this.#key.focus();
  }

  /** Nobody asks any more. */
  hide() {
    this.#form.hidden = true;
    this.#key.value = "";
  }
}
