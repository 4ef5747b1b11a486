// The console's API. Whoever is not logged in is led to the login and comes back here after it.

export class Problem extends Error {}

let csrf = null;

export async function get(path) {
  return answered(await asked(path, {}));
}

export async function post(path, body) {
  csrf ??= (await get("/api/me")).csrf;
  const headers = { "Content-Type": "application/json", "X-CSRF-Token": csrf };
  return answered(await asked(path, { method: "POST", headers, body: JSON.stringify(body) }));
}

// "?text=card&offset=50" of what is set in the form or the object.
export function query(of) {
  const set = Object.entries(of).filter(([, value]) => value !== "" && value !== null);
  const text = new URLSearchParams(set).toString();
  return text ? `?${text}` : "";
}

export function toLogin() {
  const here = location.pathname + location.search + location.hash;
  location.replace(`/login?next=${encodeURIComponent(here)}`);
}

async function asked(path, how) {
  try {
    return await fetch(path, { credentials: "same-origin", ...how });
  } catch {
    throw new Problem("The server cannot be reached. Is it running?");
  }
}

async function answered(reply) {
  if (reply.status === 401) {
    toLogin();
    await new Promise(() => {}); // the page is left
  }
  if (reply.status === 204) return null;
  let body;
  try {
    body = await reply.json();
  } catch {
    throw new Problem(`The server's reply could not be read (${reply.status}).`);
  }
  if (!reply.ok) throw new Problem(sentence(body.error ?? `error ${reply.status}`));
  return body;
}

function sentence(text) {
  const begun = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(begun) ? begun : `${begun}.`;
}
