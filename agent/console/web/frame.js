// What stands around every page: who is logged in, and whether calls are recorded at all.

import { get, post } from "/static/api.js";
import { byId } from "/static/base.js";

export const me = get("/api/me");

async function frame() {
  byId("logout").addEventListener("click", async () => {
    await post("/api/logout", {});
    location.replace("/login");
  });
  byId("talk").hidden = !(await me).talk;
  const { trouble } = await get("/api/health");
  if (trouble) {
    byId("trouble").textContent = `Calls go on, but their records are behind: ${trouble}`;
    byId("trouble").hidden = false;
  }
}

// Shows why a page has nothing to show; the page's own code ends there.
export function failed(problem) {
  byId("trouble").textContent = problem.message;
  byId("trouble").hidden = false;
  byId("main").removeAttribute("aria-busy");
}

frame().catch(failed);
