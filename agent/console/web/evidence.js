// The pieces of a turn's evidence: what was looked up, scores against the floor, checks, passages.

import { chip, el, unseen } from "/static/base.js";
import { many, ms, plain, score } from "/static/words.js";

const percent = (share) => `${(100 * Math.min(1, Math.max(0, share))).toFixed(1)}%`;

// What was searched for, and by which rules it came from what was heard.
export function lookedUp(turn) {
  const { text, context } = turn.query;
  const parts = [el("span", { class: "words" }, text || "nothing")];
  for (const rule of turn.changes_text) parts.push(el("span", { class: "rule" }, rule));
  if (turn.changes_text.length && context) {
    parts.push(el("span", { class: "soft small block" }, `the question before: ${context}`));
  }
  if (turn.rewriting) {
    parts.push(el("span", { class: "soft small block" },
      `a language model was asked about the follow-up: ${plain(turn.rewriting.outcome ?? "no outcome")}`));
  }
  return parts;
}

// The score that was compared, drawn against its floor, with both as numbers.
export function againstFloor(turn) {
  if (turn.score === null || turn.score === undefined) {
    return el("p", { class: "soft" }, "No score: the documents were not asked.");
  }
  const { floor } = turn;
  if (floor === null || floor === undefined) return el("p", {}, `score ${score(turn.score)}, no floor`);
  const above = turn.score >= floor;
  return el("div", { class: "scale" },
    el("p", {}, el("b", {}, `score ${score(turn.score)}`), above ? " is above the floor " : " is below the floor ",
      el("b", {}, score(floor))),
    el("div", { class: `bar ${above ? "above" : "below"}`, "aria-hidden": "true" },
      el("span", { class: "fill", style: { width: percent(turn.score) } }),
      el("span", { class: "floor", style: { left: percent(floor) } })));
}

// The passages that were found, by likeness; the score above is another measure.
export function found(turn, most) {
  if (!turn.hits.length) return null;
  const first = turn.hits.slice(0, most);
  const rest = turn.hits.slice(most);
  return [
    el("p", { class: "soft small hits-of" }, "passages by likeness to the question"),
    el("ol", { class: "hits" }, first.map(hit)),
    rest.length
      ? el("details", {}, el("summary", {}, `${many(rest.length, "more passage")}`),
        el("ol", { class: "hits" }, rest.map(hit)))
      : null,
  ];
}

function hit(one) {
  const name = one.heading ?? one.id;
  return el("li", { class: one.cited ? "cited" : null },
    el("span", { class: "name" }, one.cited ? el("span", { "aria-hidden": "true" }, "▸ ") : null, name,
      one.cited ? unseen(" (cited)") : null, el("span", { class: "soft" }, ` ${from(one)}`)),
    el("span", { class: "bar thin", "aria-hidden": "true" },
      el("span", { class: "fill", style: { width: percent(one.score ?? 0) } })),
    el("span", { class: "figure" }, unseen("likeness "), score(one.score)));
}

// A passage's id begins with its document's name.
const from = (one) => (one.heading ? one.id : (one.document ?? ""));

// Failed checks in the open, passed ones counted.
export function checks(turn) {
  const failed = turn.checks.filter((check) => !check.passed);
  const passed = turn.checks.length - failed.length;
  if (!turn.checks.length) return el("p", { class: "soft" }, "None was needed.");
  const all = el("details", {},
    el("summary", {}, failed.length ? `${passed} passed, ${failed.length} failed` : `all ${passed} passed`),
    checkList(turn.checks));
  return failed.length ? [checkList(failed), all] : all;
}

export function checkList(list) {
  return el("ul", { class: "checks" }, list.map((check) =>
    el("li", { class: check.passed ? null : "failed" },
      chip(check.passed ? "" : "refused", check.passed ? "✓" : "✕", check.passed ? "passed" : "failed"), " ",
      plain(check.name), check.detail ? el("span", { class: "soft" }, ` ${check.detail}`) : null)));
}

// Where a passage stands, and in which revision.
export function source(passage) {
  const where = [passage.document, passage.heading,
    passage.page === null ? null : `page ${passage.page}`, passage.row === null ? null : `row ${passage.row}`];
  return [
    el("cite", {}, where.filter(Boolean).join(" › ") || passage.id), " ",
    el("span", { class: "soft" }, "passage "), el("code", { class: "passage" }, passage.id),
    el("span", { class: "soft" }, " revision "), el("code", { class: "revision" }, passage.revision || "unknown"),
  ];
}

// How the reply's time was spent, on the scale of the slowest reply of the call.
export function timeline(turn, slowest) {
  if (turn.reply_ms === null || !turn.stages.length) return null;
  const parts = turn.stages.filter((stage) => stage.to_ms > stage.from_ms);
  return el("div", { class: "times" },
    el("div", { class: "bar stages", "aria-hidden": "true" }, parts.map((stage) =>
      el("span", { title: stage.label, style: {
        left: percent(stage.from_ms / slowest), width: percent((stage.to_ms - stage.from_ms) / slowest) } }))),
    el("p", { class: "small" }, el("b", {}, ms(turn.reply_ms)), " from the caller's silence to the voice: ",
      parts.map((stage, at) =>
        el("span", { class: "stage" }, `${at ? ", " : ""}${stage.label} ${ms(stage.to_ms - stage.from_ms)}`))));
}
