// A list with a form of filters, by pages. Its address holds what is asked, so that "back" and a
// bookmark find it again.

import { get, query } from "/static/api.js";
import { byId } from "/static/base.js";
import { failed } from "/static/frame.js";
import { count } from "/static/words.js";

const LIMIT = 50;

// path: the API's; name: the list in its reply; one, more: what its rows are called;
// draw(reply): puts the rows into the page.
export function listing({ path, name, one, more, draw }) {
  const form = byId("filters");
  let last = 0; // replies come out of order when somebody types fast

  function asked() {
    return Object.fromEntries(new FormData(form));
  }

  function fill() {
    const given = new URLSearchParams(location.search);
    for (const field of form.elements) {
      if (!field.name) continue;
      const value = given.get(field.name) ?? "";
      if (field.tagName === "SELECT" && ![...field.options].some((is) => is.value === value)) {
        field.add(new Option(value, value));
      }
      field.value = value;
    }
    return Number.parseInt(given.get("offset") ?? "0", 10) || 0;
  }

  async function load() {
    const mine = ++last;
    const offset = fill();
    const filters = asked();
    byId("main").setAttribute("aria-busy", "true");
    byId("csv").href = `${path}.csv${query(filters)}`;
    const reply = await get(path + query({ ...filters, offset, limit: LIMIT }));
    if (mine !== last) return;
    draw(reply);
    pages(reply, reply[name].length);
    byId("main").removeAttribute("aria-busy");
  }

  function pages({ total, offset }, shown) {
    const until = offset + shown;
    byId("status").textContent = shown
      ? `${count(offset + 1)}–${count(until)} of ${count(total)} ${total === 1 ? one : more}`
      : `No ${more} found.`;
    byId("csv").hidden = !total;
    byId("pages").hidden = total <= LIMIT && offset === 0;
    byId("newer").disabled = offset === 0;
    byId("older").disabled = until >= total;
    byId("page").textContent = `Page ${count(Math.floor(offset / LIMIT) + 1)}`;
  }

  function go(offset) {
    const where = location.pathname + query({ ...asked(), offset: offset || "" });
    history.pushState(null, "", where);
    return load().catch(failed);
  }

  async function turnPage(by) {
    const offset = Number.parseInt(new URLSearchParams(location.search).get("offset") ?? "0", 10);
    await go(Math.max(0, (offset || 0) + by));
    scrollTo(0, 0);
    byId("main").focus({ preventScroll: true });
  }

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    go(0);
  });
  form.addEventListener("reset", () => setTimeout(() => go(0)));
  for (const field of form.querySelectorAll("select")) {
    field.addEventListener("change", () => go(0));
  }
  byId("newer").addEventListener("click", () => turnPage(-LIMIT));
  byId("older").addEventListener("click", () => turnPage(LIMIT));
  addEventListener("popstate", () => load().catch(failed));
  load().catch(failed);
}

// Up, down, home and end go from row to row, where a row's link has the focus.
export function byArrows(rows) {
  rows.addEventListener("keydown", (event) => {
    const links = [...rows.querySelectorAll("a.row")];
    const at = links.indexOf(document.activeElement);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: links.length - 1 }[event.key];
    if (at < 0 || to === undefined || !links[to] || event.ctrlKey || event.altKey) return;
    event.preventDefault();
    links[to].focus();
  });
}
