/**
 * Ctrl or Cmd with Enter speaks, Escape stops.
 * @module
 */

import { find } from "./elements.js";

/**
 * @param {{onSpeak: () => void, onStop: () => void}} handlers
 */
export function listenToKeys({ onSpeak, onStop }) {
  const modifier = /Mac|iPhone|iPad/u.test(navigator.userAgent) ? "⌘" : "Ctrl";
  find("modifier", HTMLElement).textContent = modifier;
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.isComposing || event.repeat) return;
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      onSpeak();
    } else if (event.key === "Escape") {
      onStop();
    }
  });
}
