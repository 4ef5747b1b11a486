// Logging in: by the link that the server prints (the token behind "#"), or by hand.

import { byId } from "/static/base.js";

// Another site's address is never followed, as the browser itself reads it: "/\t/host" is one too.
function next() {
  const wanted = new URLSearchParams(location.search).get("next") ?? "/";
  try {
    const to = new URL(wanted, location.origin);
    const path = to.pathname + to.search + to.hash;
    return to.origin === location.origin ? location.origin + path : "/"; // a path may begin with "//"
  } catch {
    return "/";
  }
}

async function login(token) {
  const reply = await fetch("/api/login", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ token }),
  });
  if (reply.status === 204) return "";
  const { error = "that did not work" } = await reply.json().catch(() => ({}));
  return `${error.charAt(0).toUpperCase()}${error.slice(1)}.`;
}

async function tryWith(token) {
  let problem;
  try {
    problem = await login(token);
  } catch {
    problem = "The server cannot be reached. Is it running?";
  }
  if (!problem) return location.replace(next());
  byId("form").hidden = false;
  byId("problem").textContent = problem;
  byId("problem").hidden = false;
  byId("token").setAttribute("aria-invalid", "true");
  byId("token").focus();
}

byId("form").addEventListener("submit", (event) => {
  event.preventDefault();
  tryWith(byId("token").value.trim());
});

// A session's cookie is not sent along with a link from elsewhere, so it is asked for here.
async function begin() {
  const token = location.hash.slice(1);
  if (token) {
    history.replaceState(null, "", location.pathname + location.search);
    return tryWith(token);
  }
  const reply = await fetch("/api/me").catch(() => null);
  if (reply?.ok) return location.replace(next());
  byId("form").hidden = false;
  byId("token").focus();
}

begin();
