// A day's or a week's report, as agent.insight counts it.

import { byId, chip, el } from "/static/base.js";
import { overDays } from "/static/days.js";
import { figures, tableOf } from "/static/figures.js";
import { count, ms } from "/static/words.js";

function tiles({ total, marks }) {
  return figures([
    ["calls", count(total.calls)],
    ["minutes", count(Math.round(total.minutes))],
    ["questions answered", count(total.answered)],
    ["questions refused", count(total.refused)],
    ["calls transferred", count(total.transferred)],
    ["caller hung up", count(total.hung_up)],
    ["reply, median", ms(total.reply_p50_ms)],
    ["reply, 95th percentile", ms(total.reply_p95_ms)],
    ["marked wrong", count(marks.wrong)],
    ["marked doubtful", count(marks.doubtful)],
  ]);
}

// Answered and refused of each day, or hour, as a bar of two parts beside its numbers.
function parts({ parts }) {
  const most = Math.max(1, ...parts.map((part) => part.answered + part.refused));
  const width = (many) => ({ width: `${(100 * many) / most}%` });
  const bar = (part) => el("span", { class: "pair", "aria-hidden": "true" },
    el("span", { class: "answered", style: width(part.answered) }),
    el("span", { class: "refused", style: width(part.refused) }));
  return section("Over time", tableOf(
    ["When", "Calls", "Answered", "Refused", "Answered and refused", "Reply, median", "95th"],
    parts.map((part) => [part.at, count(part.calls), count(part.answered), count(part.refused),
      bar(part), ms(part.reply_p50_ms), ms(part.reply_p95_ms)]), [1, 2, 3, 5, 6]));
}

function top({ top }) {
  return section("Asked most", tableOf(["Question, as most put it", "Times", "Answered", "Refused"],
    top.map((one) => [el("q", {}, one.heard), count(one.times), count(one.answered), count(one.refused)]),
    [1, 2, 3]));
}

function judged({ judged }) {
  const sign = { wrong: "✕", doubtful: "?" };
  return section("Marked by a person", tableOf(["Mark", "Heard", "Said", "Note"], judged.map((one) => [
    chip(one.label, sign[one.label] ?? "", one.label),
    el("a", { href: `/call/${encodeURIComponent(one.call)}#turn-${one.turn}` }, one.heard || "nothing"),
    el("q", {}, one.say), one.note]), []));
}

const section = (title, ...content) => el("section", {}, el("h2", {}, title), ...content);

function draw(report) {
  const shown = [tiles(report)];
  if (report.total.calls) shown.push(parts(report));
  if (report.top.length) shown.push(top(report));
  if (report.judged.length) shown.push(judged(report));
  byId("report").replaceChildren(...shown);
  return `${report.since} to ${report.until}, days of ${report.zone}`;
}

overDays("/api/report", draw);
