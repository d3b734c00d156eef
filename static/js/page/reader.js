/**
 * Speaks what the form holds: chooses the way to play it and tells the views.
 * @module
 */

import { PlayerError, asPlayerError } from "../player/errors.js";
import { followEvents } from "../player/event-stream.js";
import { chooseFormat } from "../player/format-choice.js";
import { typeSupport } from "../player/platform.js";
import { estimateSeconds } from "./duration.js";
import { find } from "./elements.js";
import { makeRequestId } from "./request-id.js";
import { ENDINGS, hearSpeech } from "./speech-events.js";
import { addressOf, eventsOf, requestSpeech, sendPlayback } from "./speech-request.js";
import { UnderrunReport } from "./underrun-report.js";

/** @typedef {import("../player/stream-player.js").StreamPlayer} StreamPlayer */
/** @typedef {import("../player/playback.js").PlayerState} PlayerState */
/** @typedef {import("./speech-form.js").PageFormat} PageFormat */
/** @typedef {import("./speech-request.js").Speech} Speech */
/**
 * @template {import("../player/format-choice.js").Format} F
 * @typedef {import("../player/format-choice.js").Choice<F>} Choice
 */
/** @typedef {import("../player/playback-stats.js").Stats} Stats */

/**
 * @typedef {object} Views
 * @property {import("./captions-view.js").CaptionsView} captions
 * @property {import("./controls.js").Controls} controls
 * @property {import("./key-form.js").KeyForm} keyForm
 * @property {import("./status-view.js").StatusView} status
 * @property {import("./stats-view.js").StatsView} stats
 * @property {import("./timeline-view.js").TimelineView} timeline
 * @property {import("./download-link.js").DownloadLink} download
 */

/** States in which there is sound to move in. */
const LIVE = new Set(["playing", "paused", "stalled", "ended"]);

/** States in which nothing more is heard. */
const OVER = new Set(["idle", "ended", "failed"]);

export class Reader {
  #carrier = find("carrier", HTMLElement);
  /** @type {StreamPlayer} */
  #player;
  /** @type {import("./speech-form.js").SpeechForm} */
  #form;
  /** @type {import("./api-key.js").ApiKey} */
  #key;
  /** @type {Views} */
  #views;
  #extension = "";
  /** @type {string | null} where a plain `src` has its sound from */
  #address = null;
  /** @type {Stats | null} */
  #stats = null;
  #underruns = new UnderrunReport((id, report) => sendPlayback(id, report, this.#key.headers));

  /**
   * @param {StreamPlayer} player
   * @param {import("./speech-form.js").SpeechForm} form
   * @param {{key: import("./api-key.js").ApiKey, views: Views}} options
   */
  constructor(player, form, { key, views }) {
    this.#player = player;
    this.#form = form;
    this.#key = key;
    this.#views = views;
    player.addEventListener("state", ({ detail }) => this.#showState(detail));
    player.addEventListener("stats", ({ detail }) => this.#showStats(detail));
    player.addEventListener("error", ({ detail }) => this.#showError(detail));
    player.addEventListener("complete", ({ detail }) => this.#offer(detail));
  }

  /** Speaks. Call it within the click. */
  speak() {
    try {
      this.#start(this.#choose(this.#form.wantedFormat));
    } catch (reason) {
      this.#player.stop();
      this.#views.status.show("failed");
      this.#showError(asPlayerError(reason, "unsupported", "No sound plays here."));
    }
  }

  /** The page is left. */
  leave() {
    this.#underruns.end(this.#player.stats);
  }

  /**
   * @param {string} wanted
   * @returns {Choice<PageFormat>}
   */
  #choose(wanted) {
    return chooseFormat(this.#form.formats, typeSupport(), { wanted });
  }

  /** @param {Choice<PageFormat>} choice */
  #start({ format, mseType }) {
    const speech = this.#form.read(format.name);
    const { captions, download, keyForm, timeline } = this.#views;
    this.#underruns.end(this.#player.stats);
    this.#extension = format.extension;
    this.#address = mseType ? null : addressOf(speech);
    this.#carrier.textContent = `${format.label}, ${mseType ? "through MediaSource" : "as a plain source"}`;
    keyForm.hide();
    download.disable();
    captions.reset(speech.input);
    timeline.reset(estimateSeconds(speech.input.length, speech.speed));
    if (mseType) this.#stream(speech, mseType);
    else this.#load(addressOf(speech));
  }

  /**
   * @param {Speech} speech
   * @param {string} mseType
   */
  #stream(speech, mseType) {
    const id = makeRequestId();
    const { headers } = this.#key;
    const { captions, status } = this.#views;
    this.#underruns.begin(id);
    this.#player.play((signal) => requestSpeech(speech, { id, headers, signal }), {
      mseType,
      ending: (signal) =>
        hearSpeech(followEvents(eventsOf(id), { headers, signal, endings: ENDINGS }), {
          onPosition: (position) => status.showPosition(position),
          onWords: (marks) => captions.add(marks),
        }),
    });
  }

  /** @param {string} address */
  #load(address) {
    if (this.#key.isKnown) throw keyless();
    this.#player.playUrl(address);
  }

  /** @param {PlayerState} state */
  #showState(state) {
    const { captions, controls, download, status, timeline } = this.#views;
    controls.show(state);
    status.show(state);
    timeline.enable(LIVE.has(state));
    timeline.follow(state === "playing");
    captions.follow(state === "playing");
    if (OVER.has(state)) this.#underruns.end(this.#stats);
    if (state === "playing" && this.#address) download.offerAddress(this.#address, this.#extension);
  }

  /** @param {Stats} stats */
  #showStats(stats) {
    this.#stats = stats;
    this.#views.stats.show(stats);
    this.#views.timeline.show(stats);
    this.#views.captions.show();
  }

  /** @param {PlayerError} error */
  #showError(error) {
    const { keyForm, status } = this.#views;
    if (error.status !== 401) return status.showError(error);
    if (this.#address) return status.showError(keyless(), this.#findWay());
    const message = this.#key.isKnown ? "The server does not know this key." : "A key is needed.";
    status.showError(new PlayerError("refused", message, { remedy: "Enter it below to go on." }));
    keyForm.ask();
  }

  /** @returns {import("./status-view.js").Way | undefined} a format that can be played with a key */
  #findWay() {
    const { format, mseType } = this.#choose("");
    if (!mseType) return undefined;
    return {
      label: `Play as ${format.label}`,
      take: () => {
        this.#form.wantedFormat = format.name;
        this.#form.submit();
      },
    };
  }

  /** @param {Blob | null} recording */
  #offer(recording) {
    if (recording) this.#views.download.offerRecording(recording, this.#extension);
  }
}

/** @returns {PlayerError} what is said where the browser would load the sound by itself */
function keyless() {
  return new PlayerError("refused", "This format can't be played from a server that asks for a key.", {
    remedy: "The browser loads it by itself and sends no key. Choose a format that streams.",
    status: 401,
  });
}
