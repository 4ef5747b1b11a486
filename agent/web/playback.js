// Plays 16-bit PCM as it comes, says which marks were reached, drops all on a clear.

import { Resampler } from "./resampler.js";

const AHEAD_S = 0.06; // gathered before a reply begins, against the network's jitter
const DECAY = 0.98; // a sample: what is cut fades within 5 ms

class Playback extends AudioWorkletProcessor {
  constructor({ processorOptions: { rate } }) {
    super();
    this.rate = rate;
    this.ahead = AHEAD_S * sampleRate;
    this.clear();
    this.played = this.dropped = 0;
    this.port.onmessage = ({ data }) => this.told(data);
  }

  told({ pcm, mark, clear }) {
    if (pcm) {
      const given = Float32Array.from(new Int16Array(pcm), (value) => value / 32768);
      const samples = this.resampler.push(given);
      if (samples.length) this.queue.push(samples);
      this.queued += samples.length;
    } else if (mark !== undefined) {
      this.queue.push(mark);
      this.running ||= this.queued > 0; // all of it is here, however short
      if (!this.queued) this.reach();
    } else if (clear) {
      this.dropped += this.queued;
      const marks = this.queue.filter((one) => typeof one === "string");
      this.clear();
      this.report(marks);
    }
  }

  clear() {
    this.resampler = new Resampler(this.rate, sampleRate);
    this.queue = [];
    this.at = 0; // in the first of the queue
    this.queued = 0;
    this.running = false;
  }

  process(_, [[output]]) {
    if (!this.running && this.queued >= this.ahead) this.running = true;
    for (let n = 0; n < output.length; n++) output[n] = this.next();
    return true;
  }

  next() {
    if (!this.running) {
      this.last = (this.last || 0) * DECAY;
      return Math.abs(this.last) < 1e-5 ? 0 : this.last;
    }
    this.last = this.queue[0][this.at++];
    this.queued -= 1;
    this.played += 1;
    if (this.at === this.queue[0].length) this.reach();
    return this.last;
  }

  // Past pieces that are played, to the marks behind them.
  reach() {
    const marks = [];
    while (this.queue.length) {
      const first = this.queue[0];
      if (typeof first === "string") marks.push(first);
      else if (this.at < first.length) break;
      this.queue.shift();
      this.at = 0;
    }
    if (!this.queued) this.running = false;
    this.report(marks);
  }

  report(marks) {
    const { played, dropped } = this;
    if (marks.length || !this.queued) this.port.postMessage({ marks, stats: { played, dropped } });
  }
}

registerProcessor("playback", Playback);
