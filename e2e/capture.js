// Runs before the page's own scripts: taps what <audio id="audio"> plays, sample by sample, and,
// where `recut` is asked for, cuts every append into pieces.
//
// The tap is an AudioWorklet, since it alone never drops a block: ScriptProcessor and captureStream
// show gaps of their own. The context runs at the signal's rate, so nothing resamples in between.
(() => {
  const BATCH = 2048;
  const LOUD = 0.005;
  const TAIL_SECONDS = 0.25;
  const PATIENCE = 90_000;

  const WORKLET = `
    registerProcessor("tap", class extends AudioWorkletProcessor {
      #batch = new Float32Array(${BATCH});
      #filled = 0;
      process([input], [output]) {
        if (input[0]) this.#batch.set(input[0], this.#filled);
        this.#filled += output[0].length;
        if (this.#filled === ${BATCH}) {
          this.port.postMessage(this.#batch);
          this.#batch = new Float32Array(${BATCH});
          this.#filled = 0;
        }
        return true;
      }
    });`;

  class Tap {
    batches = [];
    appends = 0;
    #waiting = [];

    async attach(rate) {
      this.audio = document.getElementById("audio");
      this.context = new AudioContext({ sampleRate: rate });
      const url = URL.createObjectURL(new Blob([WORKLET], { type: "text/javascript" }));
      await this.context.audioWorklet.addModule(url);
      const node = new AudioWorkletNode(this.context, "tap", { outputChannelCount: [1] });
      node.port.onmessage = ({ data }) => this.#take(data);
      this.context.createMediaElementSource(this.audio).connect(node).connect(this.context.destination);
      await this.context.resume();
      await this.until(() => this.batches.length > 0);
    }

    // Resolves once `condition` holds; asked again whenever a batch arrives.
    until(condition) {
      return new Promise((resolve, reject) => {
        this.#waiting.push({ condition, resolve });
        setTimeout(() => reject(new Error(`waited in vain for ${condition}`)), PATIENCE);
      });
    }

    // Resolves once something was heard.
    heard() {
      return this.until(() => this.batches.at(-1).some((sample) => Math.abs(sample) > LOUD));
    }

    // Goes to `seconds`, forgets what was captured, and plays on from there.
    async playFrom(seconds) {
      const seeked = new Promise((resolve) => {
        this.audio.addEventListener("seeked", resolve, { once: true });
      });
      this.audio.currentTime = seconds;
      await seeked;
      this.batches = [];
      await this.audio.play();
    }

    // Waits for the element to end, and a little longer; gives everything that was captured.
    async finish() {
      await this.until(() => this.audio.ended || document.querySelector("[data-state=failed]"));
      const end = this.batches.length + Math.ceil((TAIL_SECONDS * this.context.sampleRate) / BATCH);
      await this.until(() => this.batches.length >= end);
      return this.read();
    }

    async read() {
      const bytes = await new Blob(this.batches).arrayBuffer();
      return {
        samples: new Uint8Array(bytes).toBase64(),
        duration: this.audio.duration,
        appends: this.appends,
      };
    }

    #take(samples) {
      this.batches.push(samples);
      this.#waiting = this.#waiting.filter(({ condition, resolve }) => {
        const holds = condition();
        if (holds) resolve();
        return !holds;
      });
    }
  }

  const tap = new Tap();
  globalThis.legatoTap = tap;

  // Numbers that look random and are the same every time (mulberry32).
  function makeRandom(seed) {
    let state = seed;
    return () => {
      state = (state + 0x6d2b79f5) | 0;
      let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
      mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
      return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
    };
  }

  const append = SourceBuffer.prototype.appendBuffer;
  let cut = (bytes) => [bytes];

  // Cuts every append from now on into pieces of 1 to `longest` bytes.
  tap.recut = (seed, longest) => {
    const random = makeRandom(seed);
    cut = (bytes) => {
      const pieces = [];
      for (let start = 0; start < bytes.length; start += pieces.at(-1).length) {
        pieces.push(bytes.subarray(start, start + 1 + Math.floor(random() * longest)));
      }
      return pieces;
    };
  };

  // The pieces that are still to come, by buffer: the page hears of one append, when all are in.
  const rest = new WeakMap();

  function appendNext(buffer) {
    tap.appends += 1;
    append.call(buffer, rest.get(buffer).shift());
  }

  SourceBuffer.prototype.appendBuffer = function (data) {
    const bytes = ArrayBuffer.isView(data)
      ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
      : new Uint8Array(data);
    rest.set(this, cut(bytes.slice()));
    appendNext(this);
  };

  const addSourceBuffer = MediaSource.prototype.addSourceBuffer;
  MediaSource.prototype.addSourceBuffer = function (type) {
    const buffer = addSourceBuffer.call(this, type);
    const silence = (event) => {
      if (rest.get(buffer)?.length) event.stopImmediatePropagation();
    };
    buffer.addEventListener("updatestart", silence);
    buffer.addEventListener("update", silence);
    buffer.addEventListener("updateend", (event) => {
      if (!rest.get(buffer)?.length || ![...this.sourceBuffers].includes(buffer)) return;
      event.stopImmediatePropagation();
      appendNext(buffer);
    });
    buffer.addEventListener("abort", () => rest.delete(buffer));
    buffer.addEventListener("error", () => rest.delete(buffer));
    return buffer;
  };
})();
