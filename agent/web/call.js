// One call: the microphone, the loudspeaker and the socket between them and the agent.

const RATE = 16000;
const TRY_LATER = 1013; // the close code of a switchboard that has filled up meanwhile
const MOST_WAITING = RATE * 2; // bytes in the socket, one second: then the network is too slow

const REFUSED = {
  NotAllowedError: "The microphone was not allowed. Allow it for this page in the browser, then start again.",
  NotFoundError: "No microphone was found. Plug one in, then start again.",
  NotReadableError: "Another program is using the microphone. Close it, then start again.",
};

export const UNPLUGGED = "The microphone was unplugged or taken away. Start again when it is back.";

export class CallProblem extends Error {}

function unreachable() {
  throw new CallProblem("The server cannot be reached. Try again in a moment.");
}

export class Call {
  // `on` is called with every message of the agent, `onLevel` with 0 to 1 of the microphone,
  // `onEnd` once, with why: "hung up", "left", "lost", "microphone", "busy".
  constructor({ on, onLevel, onEnd }) {
    Object.assign(this, { on, onLevel, onEnd });
    this.stats = { played: 0, dropped: 0, sent: 0, skipped: 0, clears: 0, marks: 0 };
    this.why = "lost";
    this.over = false;
  }

  async start() {
    try {
      await this.openAudio();
      await this.openSocket();
      if (this.microphone.readyState === "ended") throw new CallProblem(UNPLUGGED);
    } catch (error) {
      this.release();
      throw error;
    }
    this.microphone.onended = () => this.end("microphone");
  }

  async openAudio() {
    if (!navigator.mediaDevices?.getUserMedia || !window.AudioWorkletNode) {
      throw new CallProblem("The microphone needs a secure page: https, or this machine's own address.");
    }
    try {
      this.stream = await navigator.mediaDevices.getUserMedia({
        audio: { echoCancellation: true, noiseSuppression: true, autoGainControl: true, channelCount: 1 },
      });
    } catch (error) {
      throw new CallProblem(REFUSED[error.name] || `The microphone does not work (${error.name}).`);
    }
    [this.microphone] = this.stream.getAudioTracks();
    this.context = new AudioContext({ latencyHint: "interactive" });
    for (const name of ["capture.js", "playback.js"]) {
      await this.context.audioWorklet.addModule(new URL(name, import.meta.url)).catch(unreachable);
    }
    const processorOptions = { rate: RATE };
    this.capture = new AudioWorkletNode(this.context, "capture", { numberOfOutputs: 0, processorOptions });
    this.playback = new AudioWorkletNode(this.context, "playback", {
      numberOfInputs: 0, outputChannelCount: [1], processorOptions,
    });
    this.context.createMediaStreamSource(this.stream).connect(this.capture);
    this.playback.connect(this.context.destination);
    this.playback.port.onmessage = ({ data }) => this.played(data);
    this.capture.port.onmessage = ({ data }) => this.captured(data);
    await this.context.resume();
  }

  async openSocket() {
    const reply = await fetch(new URL("token", import.meta.url), { method: "POST", cache: "no-store" })
      .catch(unreachable);
    if (reply.status === 503) throw new CallProblem("All our lines are busy. Try again in a few minutes.");
    if (reply.status === 429) throw new CallProblem("Too many calls from here. Try again in a minute.");
    if (!reply.ok) throw new CallProblem("The server did not let this page in.");
    const url = new URL(`socket/${(await reply.json()).token}`, import.meta.url);
    url.protocol = url.protocol.replace("http", "ws");
    this.socket = new WebSocket(url);
    this.socket.binaryType = "arraybuffer";
    await new Promise((resolve, reject) => {
      this.socket.onopen = resolve;
      this.socket.onclose = () => reject(new CallProblem("The server did not take the call. Try again."));
    });
    this.socket.onmessage = ({ data }) => this.received(data);
    this.socket.onclose = ({ code }) => {
      if (code === TRY_LATER) this.why = "busy";
      this.finish();
    };
  }

  listen(open) {
    this.capture?.port.postMessage({ open });
  }

  press(digit) {
    this.send({ type: "digit", digit });
  }

  end(why = "left") {
    if (this.over) return;
    this.why = why;
    this.send({ type: "stop" });
    this.socket?.close(1000);
    this.finish();
  }

  captured({ pcm, peak }) {
    this.onLevel(peak);
    if (this.socket?.readyState !== WebSocket.OPEN) return;
    if (this.socket.bufferedAmount > MOST_WAITING) {
      this.stats.skipped += 1;
      return;
    }
    this.socket.send(pcm);
    this.stats.sent += 1;
  }

  received(data) {
    if (typeof data !== "string") {
      this.playback.port.postMessage({ pcm: data }, [data]);
      return;
    }
    const message = JSON.parse(data);
    if (message.type === "mark") {
      this.playback.port.postMessage({ mark: message.mark });
    } else if (message.type === "clear") {
      this.stats.clears += 1;
      this.playback.port.postMessage({ clear: true });
    } else {
      if (message.type === "hang_up") this.why = "hung up";
      this.on(message);
    }
  }

  // What the worklet has rendered is heard when it has gone through the device.
  played({ marks, stats }) {
    Object.assign(this.stats, stats);
    this.stats.marks += marks.length;
    const later = 1000 * (this.context.outputLatency || this.context.baseLatency || 0);
    for (const mark of marks) setTimeout(() => this.send({ type: "played", mark }), later);
  }

  send(message) {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
  }

  finish() {
    if (this.over) return;
    this.over = true;
    this.release();
    this.onEnd(this.why);
  }

  release() {
    this.stream?.getTracks().forEach((track) => { track.onended = null; track.stop(); });
    if (this.context && this.context.state !== "closed") this.context.close();
    if (this.socket) this.socket.onclose = null;
    this.socket?.close();
  }
}
