// The list of calls.

import { byId, chip, el, unseen } from "/static/base.js";
import { byArrows, listing } from "/static/listing.js";
import { clock, count, fully, many, moment, ms, number } from "/static/words.js";

const MARKS = [["wrong", "✕"], ["doubtful", "?"], ["right", "✓"]];

function outcome(call) {
  const chips = [];
  if (call.live) chips.push(chip("live", "●", "in progress"));
  if (call.answered) chips.push(chip("answered", "✓", `${count(call.answered)} answered`));
  if (call.refused) chips.push(chip("refused", "✕", `${count(call.refused)} refused`));
  if (call.transferred) chips.push(chip("", "→", "transferred"));
  if (!chips.length) chips.push(chip("", "·", call.turns ? "small talk" : "nothing said"));
  return chips;
}

function marks(call) {
  return MARKS.filter(([label]) => call.marks[label]).map(([label, sign]) =>
    chip(label, sign, `${count(call.marks[label])} ${label}`),
  );
}

function row(call) {
  const when = el("time", { datetime: call.started_at, title: fully(call.started_at) },
    moment(call.started_at));
  const link = el("a", { class: "row", href: `/call/${encodeURIComponent(call.id)}` }, when);
  const cell = (name, ...content) => el("td", { role: "cell", class: name }, ...content);
  const named = (name, label, text) =>
    cell(`figure ${name}`, el("span", { class: "label", "aria-hidden": "true" }, label), text);
  return el("tr", { role: "row" },
    cell("when", link),
    cell("caller", number(call.caller), " ", el("span", { class: "soft by" }, call.wire,
      call.recording ? [el("span", { "aria-hidden": "true" }, " ♪"), unseen(" with a recording")] : null)),
    cell("outcome", outcome(call), el("span", { class: "soft how" },
      [many(call.turns, "turn"), call.ended].filter(Boolean).join(", "))),
    named("length", "", clock(call.seconds)),
    named("median", "median ", ms(call.reply_p50_ms)),
    named("high", "95th ", ms(call.reply_p95_ms)),
    cell("marks", marks(call)),
  );
}

function draw({ calls, wires }) {
  const select = byId("wire");
  const known = new Set([...select.options].map((option) => option.value));
  for (const wire of wires) if (!known.has(wire)) select.add(new Option(wire, wire));
  byId("rows").replaceChildren(...calls.map(row));
  byId("calls").hidden = !calls.length;
  sessionStorage.setItem("calls", location.search); // a call's page leads back here
}

byArrows(byId("rows"));
listing({ path: "/api/calls", name: "calls", one: "call", more: "calls", draw });
