// What was not answered, with its score and the floor it was held against.

import { byId, el } from "/static/base.js";
import { againstFloor } from "/static/evidence.js";
import { byArrows, listing } from "/static/listing.js";
import { fully, moment } from "/static/words.js";

function row(refusal) {
  const when = el("time", { datetime: refusal.at, title: fully(refusal.at) }, moment(refusal.at));
  const href = `/call/${encodeURIComponent(refusal.call)}#turn-${refusal.turn}`;
  const cell = (name, ...content) => el("td", { role: "cell", class: name }, ...content);
  const asDifferent = refusal.question && refusal.context !== null;
  return el("tr", { role: "row" },
    cell("when", el("a", { class: "row", href }, when)),
    cell("full", refusal.heard ? el("q", {}, refusal.heard) : el("span", { class: "soft" }, "nothing understood"),
      asDifferent ? el("span", { class: "soft small block" }, `looked up: ${refusal.question}`) : null),
    cell("full", refusal.reason_text),
    cell("full measured", againstFloor(refusal)));
}

function draw({ refusals }) {
  byId("rows").replaceChildren(...refusals.map(row));
  byId("refusals").hidden = !refusals.length;
}

byArrows(byId("rows"));
listing({ path: "/api/refusals", name: "refusals", one: "refusal", more: "refusals", draw });
