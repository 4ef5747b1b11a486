// One call: its sound, each turn from what was heard to what was said, and why.

import { get } from "/static/api.js";
import { byId, el, show } from "/static/base.js";
import { failed } from "/static/frame.js";
import { player } from "/static/player.js";
import { promptCard, turnCard } from "/static/turn.js";
import { drawer } from "/static/why.js";
import { clock, fully, many, moment, ms, number } from "/static/words.js";

const id = decodeURIComponent(location.pathname.split("/")[2] ?? "");

function head({ call, audio, record }) {
  document.title = `Call of ${moment(call.started_at)} · Frontdesk`;
  byId("title").replaceChildren("Call of ",
    el("time", { datetime: call.started_at, title: fully(call.started_at) }, moment(call.started_at)));
  const facts = [
    `from ${number(call.caller)}`, call.called ? `to ${call.called}` : null, `by ${call.wire}`,
    call.live ? "in progress" : clock(call.seconds),
    many(call.turns, "turn"),
    call.reply_p50_ms === null ? null : `replies after ${ms(call.reply_p50_ms)} (95th ${ms(call.reply_p95_ms)})`,
    call.ended,
  ];
  byId("facts").replaceChildren(facts.filter(Boolean).join(" · "), el("span", { class: "links" },
    el("a", { href: record, download: true }, "Download the record"),
    audio ? el("a", { href: audio.url, download: true }, "Download the audio") : "No recording was kept."));
  byId("back").href = `/${sessionStorage.getItem("calls") ?? ""}`;
}

function turns({ call, turns, prompts }, why, play) {
  const slowest = Math.max(1000, ...turns.map((turn) => turn.reply_ms ?? 0));
  const cards = [
    ...turns.map((turn) => [turn.at_ms, turnCard(call.id, turn, { slowest, why, play })]),
    ...prompts.map((prompt) => [prompt.at_ms, promptCard(prompt)]),
  ];
  cards.sort(([one], [other]) => one - other);
  byId("turns").replaceChildren(...cards.map(([, card]) => card));
  if (!cards.length) byId("turns").append(el("li", { class: "soft" }, "Nothing was said."));
}

function rest({ call, events }) {
  byId("events").replaceChildren(...events.map((event) =>
    el("li", {}, el("span", { class: "clock" }, clock(event.t_ms / 1000)),
      el("span", {}, event.text), el("code", { class: "soft" }, event.event))));
  const versions = Object.entries({ id: call.id, ...call.versions, "last link of the chain": call.head });
  byId("versions").replaceChildren(...versions.flatMap(([name, value]) =>
    [el("dt", {}, name.replaceAll("_", " ")), el("dd", {}, el("code", {}, worded(value)))]));
}

function worded(value) {
  if (value === null || value === "") return "none";
  if (typeof value !== "object") return String(value);
  const parts = Object.entries(value).map(([name, of]) => `${name} ${worded(of)}`);
  return parts.join(", ") || "none";
}

async function load() {
  const shown = await get(`/api/calls/${encodeURIComponent(id)}`);
  head(shown);
  const open = drawer(shown.turns);
  const play = shown.audio ? player(shown, reveal) : null;
  turns(shown, open, play);
  rest(shown);
  byId("main").removeAttribute("aria-busy");
  toTurnOfAddress();
}

function reveal(turn) {
  const card = byId(`turn-${turn}`);
  if (card) show(card, { block: "start" });
}

// /call/ID#turn-4, as the list of refusals links it.
function toTurnOfAddress() {
  const card = /^#turn-\d+$/.test(location.hash) && byId(location.hash.slice(1));
  if (!card) return;
  card.scrollIntoView();
  card.focus({ preventScroll: true });
}

load().catch(failed);
