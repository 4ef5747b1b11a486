// Numbers in tiles, and tables that scroll by themselves where the screen is small.

import { el } from "/static/base.js";

export function figures(pairs) {
  return el("dl", { class: "figures" }, pairs.map(([name, value]) =>
    el("div", {}, el("dt", {}, name), el("dd", {}, value))));
}

// numbers: which columns are set to the right.
export function tableOf(heads, rows, numbers) {
  const kind = (at) => (numbers.includes(at) ? "figure" : null);
  return el("div", { class: "wide-table", tabindex: "0", role: "region", "aria-label": heads[0] },
    el("table", { class: "plain-rows" },
      el("thead", {}, el("tr", {}, heads.map((head, at) => el("th", { scope: "col", class: kind(at) }, head)))),
      el("tbody", {}, rows.map((row) =>
        el("tr", {}, row.map((cell, at) => el("td", { class: kind(at) }, cell)))))));
}
