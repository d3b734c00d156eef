/**
 * Speaks what the form holds: chooses the way to play it and tells the views.
 * @module
 */

import { asPlayerError } from "../player/errors.js";
import { chooseFormat } from "../player/format-choice.js";
import { typeSupport } from "../player/platform.js";
import { estimateSeconds } from "./duration.js";
import { find } from "./elements.js";
import { addressOf, requestSpeech } from "./speech-request.js";

/** @typedef {import("../player/stream-player.js").StreamPlayer} StreamPlayer */
/** @typedef {import("../player/playback.js").PlayerState} PlayerState */
/** @typedef {import("./speech-form.js").PageFormat} PageFormat */
/**
 * @template {import("../player/format-choice.js").Format} F
 * @typedef {import("../player/format-choice.js").Choice<F>} Choice
 */
/** @typedef {import("../player/playback-stats.js").Stats} Stats */

/**
 * @typedef {object} Views
 * @property {import("./controls.js").Controls} controls
 * @property {import("./status-view.js").StatusView} status
 * @property {import("./stats-view.js").StatsView} stats
 * @property {import("./timeline-view.js").TimelineView} timeline
 * @property {import("./download-link.js").DownloadLink} download
 */

/** States in which there is sound to move in. */
const LIVE = new Set(["playing", "paused", "stalled", "ended"]);

export class Reader {
  #carrier = find("carrier", HTMLElement);
  /** @type {StreamPlayer} */
  #player;
  /** @type {import("./speech-form.js").SpeechForm} */
  #form;
  /** @type {Views} */
  #views;
  #extension = "";
  /** @type {string | null} where a plain `src` has its sound from */
  #address = null;

  /**
   * @param {StreamPlayer} player
   * @param {import("./speech-form.js").SpeechForm} form
   * @param {{views: Views}} options
   */
  constructor(player, form, { views }) {
    this.#player = player;
    this.#form = form;
    this.#views = views;
    player.addEventListener("state", ({ detail }) => this.#showState(detail));
    player.addEventListener("stats", ({ detail }) => this.#showStats(detail));
    player.addEventListener("error", ({ detail }) => views.status.showError(detail));
    player.addEventListener("complete", ({ detail }) => this.#offer(detail));
  }

  /** Speaks. Call it within the click. */
  speak() {
    try {
      this.#start(
        chooseFormat(this.#form.formats, typeSupport(), { wanted: this.#form.wantedFormat }),
      );
    } catch (reason) {
      this.#views.status.show("failed");
      this.#views.status.showError(asPlayerError(reason, "unsupported", "No sound plays here."));
    }
  }

  /** @param {Choice<PageFormat>} choice */
  #start({ format, mseType }) {
    const speech = this.#form.read(format.name);
    this.#extension = format.extension;
    this.#address = mseType ? null : addressOf(speech);
    const way = mseType ? "through MediaSource" : "as a plain source";
    this.#carrier.textContent = `${format.label}, ${way}`;
    this.#views.download.disable();
    this.#views.timeline.reset(estimateSeconds(speech.input.length, speech.speed));
    if (mseType) this.#player.play((signal) => requestSpeech(speech, signal), { mseType });
    else this.#player.playUrl(addressOf(speech));
  }

  /** @param {PlayerState} state */
  #showState(state) {
    const { controls, download, status, timeline } = this.#views;
    controls.show(state);
    status.show(state);
    timeline.enable(LIVE.has(state));
    timeline.follow(state === "playing");
    if (state === "playing" && this.#address) download.offerAddress(this.#address, this.#extension);
  }

  /** @param {Stats} stats */
  #showStats(stats) {
    this.#views.stats.show(stats);
    this.#views.timeline.show(stats);
  }

  /** @param {Blob | null} recording */
  #offer(recording) {
    if (recording) this.#views.download.offerRecording(recording, this.#extension);
  }
}
