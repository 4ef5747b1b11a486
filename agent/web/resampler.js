// Windowed-sinc resampling of a stream, for contexts that do not run at the wire's rate: Firefox
// takes a microphone only at the rate of its device.

const LOBES = 12;

export class Resampler {
  constructor(from, to) {
    this.step = from / to;
    this.cutoff = Math.min(1, to / from) * 0.94;
    this.reach = Math.ceil(LOBES / this.cutoff);
    this.kept = new Float32Array(2 * this.reach);
    this.at = this.reach; // where in `kept` and what follows it the next sample lies
  }

  push(samples) {
    if (this.step === 1) return samples;
    const all = new Float32Array(this.kept.length + samples.length);
    all.set(this.kept);
    all.set(samples, this.kept.length);
    const last = all.length - this.reach;
    const made = new Float32Array(Math.max(0, Math.ceil((last - this.at) / this.step)));
    let at = this.at;
    for (let n = 0; n < made.length; n++, at += this.step) made[n] = this.sample(all, at);
    const used = Math.max(0, Math.floor(at) - this.reach);
    this.kept = all.slice(used);
    this.at = at - used;
    return made;
  }

  sample(all, at) {
    const middle = Math.floor(at);
    let sum = 0;
    for (let n = middle - this.reach + 1; n <= middle + this.reach; n++) {
      const x = at - n;
      const window = 0.5 + 0.5 * Math.cos((Math.PI * x) / (this.reach + 1));
      const angle = Math.PI * x * this.cutoff;
      const sinc = Math.abs(angle) < 1e-9 ? 1 : Math.sin(angle) / angle;
      sum += (all[n] || 0) * sinc * window;
    }
    return sum * this.cutoff;
  }
}
