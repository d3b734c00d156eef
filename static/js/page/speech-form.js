/**
 * The form: what to say and how.
 * @module
 */

import { find } from "./elements.js";
import { drawSeed } from "./speech-request.js";

/** @typedef {import("./speech-request.js").Speech} Speech */

/**
 * A format as the form lists it.
 * @typedef {object} PageFormat
 * @property {string} name
 * @property {string} label
 * @property {string | null} mseType
 * @property {string} extension
 */

export class SpeechForm {
  #form = find("speech", HTMLFormElement);
  #text = find("text", HTMLTextAreaElement);
  #count = find("count", HTMLElement);
  #voice = find("voice", HTMLSelectElement);
  #speed = find("speed", HTMLSelectElement);
  #format = find("format", HTMLSelectElement);
  #maxCharacters = Number(this.#text.dataset.maxCharacters);

  constructor() {
    this.#text.addEventListener("input", () => this.#showCount());
    this.#showCount();
  }

  /** Settings that are worth keeping, by the name of their field. */
  get settings() {
    return [this.#voice, this.#speed, this.#format];
  }

  /** The name of the format that the person chose, "" for none. */
  get wantedFormat() {
    return this.#format.value;
  }

  set wantedFormat(name) {
    this.#format.value = name;
  }

  /** @returns {PageFormat[]} what the server offers */
  get formats() {
    return [...this.#format.options].filter(({ value }) => value).map(readFormat);
  }

  /**
   * What is asked for now.
   * @param {string} responseFormat
   * @returns {Speech}
   */
  read(responseFormat) {
    return {
      input: this.#text.value,
      model: this.#voice.selectedOptions[0]?.dataset.model ?? "",
      voice: this.#voice.value,
      speed: Number(this.#speed.value),
      responseFormat,
      seed: drawSeed(),
    };
  }

  /**
   * Calls back instead of sending the form.
   * @param {() => void} speak called within the person's own click or key press
   */
  onSpeak(speak) {
    this.#form.addEventListener("submit", (event) => {
      event.preventDefault();
      speak();
    });
  }

  /** Speaks as if Play had been pressed, after the same checks. */
  submit() {
    this.#form.requestSubmit();
  }

  #showCount() {
    const characters = [...this.#text.value].length;
    const excess = characters - this.#maxCharacters;
    const limit = this.#maxCharacters.toLocaleString("en");
    this.#count.textContent = `${characters.toLocaleString("en")} of ${limit} characters`;
    this.#count.classList.toggle("over", excess > 0);
    this.#text.setCustomValidity(excess > 0 ? `This is ${excess} characters too long.` : "");
  }
}

/**
 * @param {HTMLOptionElement} option
 * @returns {PageFormat}
 */
function readFormat({ value, label, dataset }) {
  const { mseType, extension } = dataset;
  return { name: value, label, mseType: mseType || null, extension: extension || value };
}
