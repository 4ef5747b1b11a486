// Calls in progress, as they are spoken.

import { toLogin } from "/static/api.js";
import { byId } from "/static/base.js";
import { LiveCall } from "/static/live_call.js";
import { many } from "/static/words.js";

const LATER_MS = [1000, 2000, 5000, 10000];
const OVER = 4401; // the session is
const KEPT = 12; // calls that are over and still shown

const calls = new Map();
let followed = null; // the call whose transcript is read aloud: one at a time
let chosen = false; // whether somebody has said which
let tries = 0;

function connect() {
  const scheme = location.protocol === "https:" ? "wss:" : "ws:";
  const socket = new WebSocket(`${scheme}//${location.host}/api/live`);
  socket.addEventListener("message", (event) => {
    tries = 0;
    took(JSON.parse(event.data));
    tell();
  });
  socket.addEventListener("close", async (event) => {
    if (event.code === OVER || !(await isLoggedIn())) return toLogin();
    byId("status").textContent = "The connection is lost; trying again …";
    setTimeout(connect, LATER_MS[Math.min(tries++, LATER_MS.length - 1)]);
  });
}

// A socket that is refused does not say why. A server that is away may come back.
async function isLoggedIn() {
  const reply = await fetch("/api/me").catch(() => null);
  return reply === null || reply.status !== 401;
}

function took(message) {
  if (message.type === "calls") return all(message.calls);
  let call = calls.get(message.call);
  if (message.type === "ended") return call?.end(message.reason);
  if (!call) call = add({ id: message.call, ...message.started, state: message.state, log: [] });
  call.state(message.state);
  if (message.line) call.line(message.line);
}

// What the server tells anew replaces what is shown, but for calls that are over.
function all(given) {
  const now = new Set(given.map((call) => call.id));
  for (const [id, call] of calls) {
    if (now.has(id)) {
      call.element.remove();
      calls.delete(id);
    } else call.end("");
  }
  for (const call of given) add(call);
}

function add(given) {
  const call = new LiveCall(given, choose);
  calls.set(given.id, call);
  byId("calls").prepend(call.element);
  const isFree = !chosen && (!followed || calls.get(followed)?.over);
  if (isFree || followed === given.id) follow(given.id);
  const over = [...calls.values()].filter((one) => one.over);
  for (const one of over.slice(0, Math.max(0, over.length - KEPT))) {
    one.element.remove();
    calls.delete(one.id);
  }
  return call;
}

function follow(id) {
  followed = id;
  for (const call of calls.values()) call.follow(call.id === id);
}

function choose(id) {
  chosen = true;
  follow(followed === id ? null : id);
}

function tell() {
  const live = [...calls.values()].filter((call) => !call.over).length;
  const text = live ? `${many(live, "call")} in progress.` : "No call is in progress. They appear here by themselves.";
  if (byId("status").textContent !== text) byId("status").textContent = text;
}

connect();
