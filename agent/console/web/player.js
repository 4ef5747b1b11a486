// The recording: both sides' loudness, the turns on it, and a playhead. A click plays from there.

import { get } from "/static/api.js";
import { byId, el, svg } from "/static/base.js";
import { clock } from "/static/words.js";

const BUCKETS = 800;
const APART = 28; // pixels between two turns' buttons; one that is closer is left out
const EARLIER_S = 0.2;
const STEP_S = 2;

// Returns what plays a turn, or pauses the one that plays. reveal(number) brings a turn into view.
export function player({ audio, turns, prompts }, reveal) {
  const sound = byId("audio");
  const position = byId("position");
  const seconds = audio.seconds;
  let current = null; // the turn that the playhead is in
  const starts = turns.map((turn) => ({ number: turn.turn, at: beginning(turn) }));

  function here() {
    const at = sound.currentTime;
    const now = starts.findLast((start) => start.at <= at + EARLIER_S);
    byId("clock").textContent = `${clock(at)} of ${clock(seconds)}`;
    byId("head").style.left = `${(100 * at) / seconds}%`;
    position.value = at;
    position.setAttribute("aria-valuetext",
      `${clock(at)} of ${clock(seconds)}${now ? `, turn ${now.number}` : ""}`);
    for (const { number } of starts) {
      const isNow = number === now?.number && at > 0;
      byId(`turn-${number}`)?.classList.toggle("now", isNow);
      byId(`play-${number}`)?.firstChild.replaceWith(isNow && !sound.paused ? "❚❚ " : "▶ ");
    }
    current = now?.number ?? null;
    if (!sound.paused) requestAnimationFrame(here);
  }

  async function playFrom(at) {
    sound.currentTime = at;
    here();
    await play();
  }

  async function play() {
    try {
      await sound.play();
    } catch (problem) {
      if (problem.name !== "AbortError") byId("clock").textContent = "The recording cannot be played.";
    }
  }

  sound.src = audio.url;
  position.max = seconds;
  byId("play").addEventListener("click", () => (sound.paused ? play() : sound.pause()));
  byId("speed").addEventListener("change", (event) => {
    sound.playbackRate = Number(event.target.value);
  });
  position.addEventListener("input", () => {
    sound.currentTime = Number(position.value);
    here();
  });
  position.addEventListener("pointerup", () => play());
  position.addEventListener("keydown", (event) => {
    const by = { ArrowLeft: -STEP_S, ArrowRight: STEP_S }[event.key];
    if (!by) return;
    event.preventDefault();
    sound.currentTime = Math.min(seconds, Math.max(0, sound.currentTime + by));
  });
  for (const event of ["play", "pause", "ended"]) {
    sound.addEventListener(event, () => {
      byId("play").textContent = sound.paused ? "Play" : "Pause";
      here();
    });
  }
  sound.addEventListener("seeked", here);
  byId("sound").hidden = false;
  here();
  turnButtons(starts, seconds, (start) => {
    playFrom(start.at);
    reveal(start.number);
  });
  lanes(audio.peaks, seconds, turns, prompts);
  return (turn) =>
    !sound.paused && current === turn.turn ? sound.pause() : playFrom(beginning(turn));
}

// Seconds at which the caller began; where that is not known, a little before the agent did.
export function beginning(turn) {
  const ms = turn.spoke_ms[0] ?? (turn.spoke_ms[1] ?? turn.at_ms) - 2500;
  return Math.max(0, ms / 1000);
}

function turnButtons(starts, seconds, act) {
  const row = byId("marks");
  row.replaceChildren(...starts.map((start) =>
    el("button", { type: "button", title: clock(start.at), style: { left: `${(100 * start.at) / seconds}%` },
      "aria-label": `Turn ${start.number}, ${clock(start.at)}`, on: { click: () => act(start) } },
    String(start.number))));
  new ResizeObserver(() => {
    let free = -Infinity;
    for (const [at, button] of [...row.children].entries()) {
      const x = (starts[at].at / seconds) * row.clientWidth;
      button.hidden = x < free;
      if (!button.hidden) free = x + APART;
    }
  }).observe(row);
}

async function lanes(path, seconds, turns, prompts) {
  let peaks;
  try {
    peaks = await get(`${path}?buckets=${BUCKETS}`);
  } catch {
    return; // the sound plays without its picture
  }
  const spans = [...turns, ...prompts].map((one) => one.reply_span_ms).filter(Boolean);
  const wide = peaks.caller.length;
  const loudest = Math.max(0.05, ...peaks.caller, ...peaks.agent);
  const drawn = svg("svg", { viewBox: `0 0 ${wide} 100`, preserveAspectRatio: "none" });
  for (const [from, to] of spans) {
    const at = (ms) => (ms / 1000 / seconds) * wide;
    drawn.append(svg("rect", { class: "reply", x: at(from), width: Math.max(0, at(to) - at(from)), y: 51, height: 49 }));
  }
  drawn.append(svg("path", { class: "caller", d: outline(peaks.caller, loudest, 25) }));
  drawn.append(svg("path", { class: "agent", d: outline(peaks.agent, loudest, 75) }));
  byId("lanes").replaceChildren(drawn);
}

// A bar for each bucket, up and down from the middle of its lane.
function outline(peaks, loudest, middle) {
  return peaks.map((peak, at) => {
    const half = Math.max(0.4, (22 * peak) / loudest).toFixed(1);
    return `M${at + 0.5} ${(middle - half).toFixed(1)}V${(middle + Number(half)).toFixed(1)}`;
  }).join("");
}
