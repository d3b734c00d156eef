/**
 * Wires the page together.
 * @module
 */

import { StreamPlayer } from "../player/stream-player.js";
import { ApiKey } from "./api-key.js";
import { CaptionsView } from "./captions-view.js";
import { Controls } from "./controls.js";
import { DownloadLink } from "./download-link.js";
import { KeyForm } from "./key-form.js";
import { listenToKeys } from "./keyboard.js";
import { Reader } from "./reader.js";
import { keepSettings } from "./saved-settings.js";
import { SpeechForm } from "./speech-form.js";
import { StatsView } from "./stats-view.js";
import { StatusView } from "./status-view.js";
import { TimelineView } from "./timeline-view.js";

function main() {
  const audio = document.body.appendChild(Object.assign(new Audio(), { id: "audio" }));
  const player = new StreamPlayer(audio);
  const form = new SpeechForm();
  const key = new ApiKey();
  const stop = () => player.stop();
  const views = {
    captions: new CaptionsView(audio),
    controls: new Controls({
      onPause: () => player.pause(),
      onResume: () => player.resume(),
      onStop: stop,
    }),
    download: new DownloadLink(),
    keyForm: new KeyForm((entered, options) => {
      key.keep(entered, options);
      form.submit();
    }),
    stats: new StatsView(),
    status: new StatusView(),
    timeline: new TimelineView(audio, { onSeek: (seconds) => player.seek(seconds) }),
  };
  const reader = new Reader(player, form, { key, views });
  form.onSpeak(() => reader.speak());
  listenToKeys({ onSpeak: () => form.submit(), onStop: stop });
  keepSettings(form.settings);
  addEventListener("pagehide", () => reader.leave());
  document.documentElement.classList.add("ready");
}

main();
