// The page: what is said, and the buttons. The call itself is in call.js.

import { Call, CallProblem, UNPLUGGED } from "./call.js";

const $ = (id) => document.getElementById(id);
const ENDINGS = {
  left: "You ended the call.",
  "hung up": "The agent has said goodbye.",
  microphone: UNPLUGGED,
  lost: "The connection was lost, and the call with it. Start again when you are online.",
  busy: "All our lines are busy. Try again in a few minutes.",
};
const FAILED = new Set(["lost", "microphone", "busy"]);

let call = null;
let opening = false;
let holding = false;
let following = true; // the end of the conversation is in view, not what was said long ago
let reply = null; // the agent's last line in the log

function mode() {
  return document.querySelector("input[name=mode]:checked").value;
}

function say(status) {
  if ($("status").textContent !== status) $("status").textContent = status;
}

function complain(text) {
  $("problem").textContent = text;
  $("problem").hidden = !text;
}

function line(kind, who, text) {
  const item = document.createElement("li");
  item.className = kind;
  if (who) {
    const name = document.createElement("span");
    name.className = "who";
    name.textContent = who;
    item.append(name);
  }
  const words = document.createElement("span");
  words.className = "words";
  words.dir = "auto";
  words.textContent = item.dataset.words = text;
  item.append(words);
  $("empty").hidden = true;
  $("log").append(item);
  follow();
  return item;
}

function follow() {
  if (following) window.scrollTo({ top: document.body.scrollHeight });
}

function atEnd() {
  return window.innerHeight + window.scrollY > document.body.scrollHeight - 80;
}

function sources(citations) {
  const box = document.createElement("details");
  box.className = "sources";
  const head = document.createElement("summary");
  box.addEventListener("toggle", () => { following = atEnd(); });
  head.textContent = citations.length === 1 ? "From 1 passage" : `From ${citations.length} passages`;
  box.append(head);
  for (const { id, heading, text } of citations) {
    const quote = document.createElement("blockquote");
    quote.dir = "auto";
    quote.textContent = text || "";
    const name = document.createElement("code");
    name.textContent = heading ? `${id} · ${heading}` : id;
    box.append(quote, name);
  }
  return box;
}

const HEARD = {
  hearing({ text }) {
    $("hearing").textContent = text;
    $("hearing").hidden = !text;
    follow();
  },
  said({ say: words }) {
    reply = line("agent", "Agent", words);
  },
  answer({ heard, say: words, citations }) {
    HEARD.hearing({ text: "" });
    if (heard) line("caller", "You", heard);
    if (!words) return;
    reply = line("agent", "Agent", words);
    if (citations.length) reply.append(sources(citations));
  },
  interrupted({ heard, rest }) {
    if (!reply || !rest) return;
    const all = reply.dataset.words;
    const unheard = document.createElement("span");
    unheard.className = "unheard";
    unheard.textContent = all.startsWith(heard) ? all.slice(heard.length).trim() : rest;
    reply.querySelector(".words").replaceChildren(heard ? `${heard} ` : "", unheard);
  },
  resumed({ heard }) {
    HEARD.hearing({ text: "" });
    if (heard) line("caller", "You", heard);
    if (reply) reply.querySelector(".words").textContent = reply.dataset.words;
  },
  ignored() {
    HEARD.hearing({ text: "" });
  },
  reply_started() { say("The agent is speaking. You may cut in."); },
  reply_ended() { say(ready()); },
  hang_up() { say("The agent is saying goodbye."); },
};

function ready() {
  if (mode() === "open") return "Listening. Speak when you like.";
  return holding ? "Listening while you hold." : "Hold the button or the space bar to talk.";
}

async function start() {
  complain("");
  opening = following = true;
  $("call").setAttribute("aria-disabled", "true"); // not disabled: that would lose the focus
  say("Connecting. Allow the microphone if you are asked.");
  const made = new Call({
    on: (message) => HEARD[message.type]?.(message),
    onLevel: (peak) => { $("level").style.transform = `scaleX(${Math.min(1, 1.6 * Math.sqrt(peak)).toFixed(2)})`; },
    onEnd: ended,
  });
  try {
    await made.start();
  } catch (error) {
    say("Ready.");
    complain(error instanceof CallProblem ? error.message : `The call could not start (${error.name}).`);
    show(false);
    return;
  }
  call = globalThis.frontdeskCall = made; // the console's and the tests' way in
  show(true);
  hear();
  say(ready());
  if (mode() === "hold") $("hold").focus();
}

function show(inCall) {
  opening = false;
  $("call").removeAttribute("aria-disabled");
  $("call").classList.toggle("on", inCall);
  $("call").textContent = inCall ? "End the call" : "Start the call";
  $("keypad").hidden = !inCall;
  $("hold").hidden = !inCall || mode() !== "hold";
}

function ended(why) {
  call = null;
  holding = false;
  reply = null;
  HEARD.hearing({ text: "" });
  $("level").style.transform = "scaleX(0)";
  show(false);
  line("note", "", ENDINGS[why]);
  if (FAILED.has(why)) {
    complain(ENDINGS[why]);
    say("Not connected.");
  } else {
    say(ENDINGS[why]);
  }
  if (document.activeElement === document.body || document.activeElement === $("hold")) $("call").focus();
}

// Opens or closes the microphone's way to the agent.
function hear() {
  call?.listen(mode() === "open" || holding);
  $("hold").setAttribute("aria-pressed", String(holding));
}

function hold(down) {
  if (!call || mode() !== "hold" || holding === down) return;
  holding = down;
  hear();
  say(ready());
}

$("call").addEventListener("click", () => {
  if (call) call.end();
  else if (!opening) start();
});
for (const radio of document.querySelectorAll("input[name=mode]")) {
  radio.addEventListener("change", () => {
    holding = false;
    if (!call) return;
    show(true);
    hear();
    say(ready());
  });
}

$("hold").addEventListener("pointerdown", (event) => {
  event.target.setPointerCapture?.(event.pointerId);
  hold(true);
});
for (const name of ["pointerup", "pointercancel", "lostpointercapture"]) {
  $("hold").addEventListener(name, () => hold(false));
}
// Enter, and whoever cannot hold a key or a pointer (a screen reader's click): on and off.
$("hold").addEventListener("click", (event) => {
  if (event.detail === 0) hold(!holding);
});
$("hold").addEventListener("contextmenu", (event) => event.preventDefault());

// The space bar holds wherever the focus is, unless it works something there.
function holds(event) {
  const on = event.target.closest?.("button, input, summary, a");
  return event.code === "Space" && call && mode() === "hold" && (!on || on === $("hold"));
}
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") hold(false);
  if (event.key === "Enter" && event.repeat) event.preventDefault();
  if (!holds(event)) return;
  event.preventDefault();
  if (!event.repeat) hold(true);
});
document.addEventListener("keyup", (event) => {
  if (event.code !== "Space" || !holding) return;
  event.preventDefault();
  hold(false);
});
window.addEventListener("blur", () => hold(false));
window.addEventListener("scroll", () => { following = atEnd(); }, { passive: true });
window.addEventListener("pagehide", () => call?.end());

$("keypad").addEventListener("toggle", follow);
for (const digit of "123456789*0#") {
  const key = document.createElement("button");
  key.type = "button";
  key.textContent = digit;
  key.addEventListener("click", () => call?.press(digit));
  $("keys").append(key);
}
