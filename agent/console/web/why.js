// "Why this answer?": one turn's evidence on one sheet, with the quoted words of the passage marked.

import { byId, chip, el, unseen } from "/static/base.js";
import { againstFloor, checkList, lookedUp, source } from "/static/evidence.js";
import { quoted } from "/static/turn.js";
import { outcome } from "/static/words.js";

// Returns what opens the sheet for a turn's number.
export function drawer(turns) {
  const sheet = byId("why");
  let at = 0;

  function fill() {
    const turn = turns[at];
    const what = { refused: "Why no answer", conversation: "Why this reply" }[turn.decision] ?? "Why this answer";
    byId("why-title").textContent = `${what} · turn ${turn.turn} of ${turns.length}`;
    byId("why-content").replaceChildren(...sections(turn));
    byId("why-content").scrollTop = 0;
    byId("why-before").disabled = at === 0;
    byId("why-after").disabled = at === turns.length - 1;
  }

  function go(by) {
    at += by;
    fill();
    byId("why-title").focus();
  }

  byId("why-close").addEventListener("click", () => sheet.close());
  byId("why-before").addEventListener("click", () => go(-1));
  byId("why-after").addEventListener("click", () => go(1));
  sheet.addEventListener("click", (event) => event.target === sheet && sheet.close());

  return (number) => {
    at = Math.max(0, turns.findIndex((turn) => turn.turn === number));
    fill();
    sheet.showModal();
  };
}

function sections(turn) {
  const shown = [
    section("Heard", quoted("heard", turn.heard, "nothing was understood")),
    section("Said", quoted("say", turn.say, "nothing")),
    section("Decided", chip(turn.decision, ...outcome(turn.decision)), ` ${turn.reason_text}. `,
      el("span", { class: "soft" }, turn.answered_by ? WORDED[turn.answered_by] ?? turn.answered_by : "")),
  ];
  if (turn.passages.length) shown.push(section("Quoted from", turn.passages.map(passage)));
  else if (turn.decision === "refused" && turn.hits.length) {
    const best = turn.hits[0];
    shown.push(section("Quoted from", el("p", {}, "Nothing. The closest passage was ",
      el("cite", {}, [best.document, best.heading].filter(Boolean).join(" › ") || best.id), " ",
      el("code", { class: "passage" }, best.id), ".")));
  }
  shown.push(section("Score", againstFloor(turn),
    turn.detail && !/^score [\d.]+$/.test(turn.detail) ? el("p", { class: "soft small" }, turn.detail) : null));
  if (turn.query.text) shown.push(section("Looked up", lookedUp(turn)));
  if (turn.checks.length) shown.push(section("Checks", checkList(turn.checks)));
  return shown;
}

const WORDED = {
  extractive: "In the passage's own words.",
  generated: "Worded by a language model, then checked against the passage.",
};

function section(title, ...content) {
  return el("section", {}, el("h3", {}, title), ...content);
}

function passage(one) {
  return el("figure", {},
    el("figcaption", {}, source(one)),
    one.note ? el("p", { class: "changed" }, chip("doubtful", "!", one.state), ` ${one.note}`) : null,
    one.pieces.length ? el("blockquote", {}, one.pieces.map(piece)) : null,
    el("p", { class: "soft small" }, "hash in the record ", el("code", {}, one.sha256)));
}

function piece({ text, quoted }) {
  return quoted ? [unseen("[quoted:] "), el("mark", {}, text), unseen(" [end of the quote]")] : text;
}
