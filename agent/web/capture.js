// The microphone as 20 ms pieces of 16-bit PCM at the wire's rate. What is not to be heard leaves
// as silence: the time of the call goes on, and nothing of the room gets out.

import { Resampler } from "./resampler.js";

const FADE = 0.01; // of a step a sample: opens and closes within 10 ms, without a click

class Capture extends AudioWorkletProcessor {
  constructor({ processorOptions: { rate } }) {
    super();
    this.resampler = new Resampler(sampleRate, rate);
    this.piece = new Int16Array(rate / 50);
    this.filled = 0;
    this.open = false;
    this.gain = 0;
    this.peak = 0;
    this.port.onmessage = ({ data }) => { this.open = data.open; };
  }

  process([input]) {
    const heard = input[0] || new Float32Array(128);
    for (const sample of this.resampler.push(heard)) {
      this.gain += ((this.open ? 1 : 0) - this.gain) * FADE;
      if (!this.open && this.gain < 0.001) this.gain = 0;
      const value = Math.max(-1, Math.min(1, sample * this.gain));
      this.peak = Math.max(this.peak, Math.abs(value));
      this.piece[this.filled++] = Math.round(value * 32767);
      if (this.filled === this.piece.length) this.send();
    }
    return true;
  }

  send() {
    const { piece, peak } = this;
    this.piece = new Int16Array(piece.length);
    this.filled = 0;
    this.peak = 0;
    this.port.postMessage({ pcm: piece.buffer, peak }, [piece.buffer]);
  }
}

registerProcessor("capture", Capture);
