// A page over some days: its form, its address, its downloads.

import { get, query } from "/static/api.js";
import { byId } from "/static/base.js";
import { failed } from "/static/frame.js";

// draw(reply) puts it into the page and returns the status line.
export function overDays(path, draw) {
  const form = byId("filters");

  async function load() {
    const given = new URLSearchParams(location.search);
    for (const name of ["since", "until"]) byId(name).value = given.get(name) ?? "";
    byId("main").setAttribute("aria-busy", "true");
    const reply = await get(path + query(Object.fromEntries(new FormData(form))));
    byId("status").textContent = draw(reply);
    for (const kind of ["csv", "html"]) {
      const link = byId(kind);
      if (!link) continue;
      link.hidden = !reply[kind];
      if (reply[kind]) link.href = reply[kind];
    }
    byId("main").removeAttribute("aria-busy");
  }

  function go() {
    history.pushState(null, "", location.pathname + query(Object.fromEntries(new FormData(form))));
    load().catch(failed);
  }

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    go();
  });
  for (const button of form.querySelectorAll("[data-days]")) {
    button.addEventListener("click", () => {
      byId("since").value = day(1 - Number(button.dataset.days));
      byId("until").value = day(0);
      go();
    });
  }
  addEventListener("popstate", () => load().catch(failed));
  load().catch(failed);
}

// The date so many days from now, as this place has it.
function day(from) {
  const at = new Date();
  at.setDate(at.getDate() + from);
  const two = (number) => String(number).padStart(2, "0");
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
}
