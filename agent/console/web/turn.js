// One turn's chain, in its order: heard, looked up, found, checked, said.

import { chip, el, unseen } from "/static/base.js";
import { againstFloor, checks, found, lookedUp, source, timeline } from "/static/evidence.js";
import { marking } from "/static/marking.js";
import { beginning } from "/static/player.js";
import { clock, ms, outcome } from "/static/words.js";

export function turnCard(call, turn, { slowest, why, play }) {
  const title = `turn-${turn.turn}-title`;
  const button = el("button", { class: "main ask", type: "button", on: { click: () => why(turn.turn) } },
    turn.decision === "refused" ? "Why no answer?" : "Why this answer?", unseen(` Turn ${turn.turn}`));
  return el("li", { class: "turn card", id: `turn-${turn.turn}`, tabindex: "-1", "aria-labelledby": title },
    el("header", {},
      el("h3", { id: title }, `Turn ${turn.turn}`),
      chip(turn.decision, ...outcome(turn.decision)),
      el("span", { class: "soft" }, turn.reason_text),
      el("span", { class: "buttons" },
        play ? el("button", { class: "plain", type: "button", id: `play-${turn.turn}`,
          "aria-label": `${clock(beginning(turn))}, play or pause turn ${turn.turn}`, on: { click: () => play(turn) } },
          "▶ ", clock(beginning(turn))) : null,
        button)),
    el("dl", { class: "chain" }, chain(turn, slowest)),
    marking(call, turn));
}

function chain(turn, slowest) {
  const steps = [["Heard", heard(turn)]];
  if (turn.decision !== "conversation" || turn.hits.length) {
    steps.push(["Looked up", lookedUp(turn)]);
    steps.push(["Found", [againstFloor(turn), found(turn, 3)]]);
    steps.push(["Checks", checks(turn)]);
  }
  steps.push(["Said", said(turn)]);
  const times = timeline(turn, slowest);
  if (times) steps.push(["Time", times]);
  return steps.flatMap(([name, content]) => [el("dt", {}, name), el("dd", {}, content)]);
}

function heard(turn) {
  const again = turn.heard_again;
  return [
    quoted("heard", turn.heard, "nothing was understood"),
    again ? el("span", { class: "soft small block" }, `heard again: “${again.text}” (${again.outcome})`) : null,
  ];
}

function said(turn) {
  const { interrupted } = turn;
  return [
    quoted("say", turn.say, "nothing"),
    turn.passages.map((passage) => el("p", { class: "small source" }, source(passage))),
    turn.passages.filter((passage) => passage.note).map((passage) =>
      el("p", { class: "small changed" }, chip("doubtful", "!", "changed since"), ` ${passage.note}`)),
    interrupted ? el("p", { class: "small" },
      `The caller cut in after ${ms(interrupted.played_ms)}. Not heard: `, el("s", {}, interrupted.rest ?? "")) : null,
    turn.taken_back_ms === null ? null : el("p", { class: "small" },
      `Taken back after ${ms(turn.taken_back_ms)}: the caller went on.`),
  ];
}

export function quoted(name, text, otherwise) {
  return text ? el("q", { class: name }, text) : el("span", { class: `soft ${name}` }, otherwise);
}

// What the agent says of itself: a greeting, "are you still there?".
export function promptCard(prompt) {
  return el("li", { class: "prompt" },
    el("span", { class: "clock soft" }, clock(prompt.at_ms / 1000)), " ",
    el("span", { class: "soft" }, "Agent: "), el("q", {}, prompt.say));
}
