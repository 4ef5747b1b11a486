// One call in progress: what it is doing, and its transcript.

import { el } from "/static/base.js";
import { moment, number, plain, score } from "/static/words.js";

const SIGNS = { listening: "○", hearing: "◐", thinking: "…", speaking: "●", ended: "■" };
const WHO = { caller: "Caller", agent: "Agent" };

export class LiveCall {
  over = false;
  #provisional = null;
  #followed = false;

  // choose(id): somebody wants this call followed, or no longer.
  constructor(given, choose) {
    this.id = given.id;
    this.chip = el("span", { class: "chip state" });
    this.lines = el("ol");
    this.log = el("div", { class: "log", role: "log", tabindex: "0", "aria-live": "off",
      "aria-label": `Transcript of the call from ${number(given.caller)}` }, this.lines);
    this.button = el("button", { class: "plain", type: "button", "aria-pressed": "false",
      on: { click: () => choose(this.id) } }, "Follow");
    this.element = el("li", { class: "card" },
      el("header", {},
        el("h2", {}, `From ${number(given.caller)} `, el("span", { class: "soft" }, given.wire ?? "")), this.chip),
      el("p", { class: "soft small" }, given.started_at ? `since ${moment(given.started_at)}` : ""),
      this.log,
      el("footer", {}, this.button,
        el("a", { href: `/call/${encodeURIComponent(this.id)}` }, "Why did it say that?")));
    for (const line of given.log ?? []) this.line(line);
    this.state(given.state);
  }

  state(state) {
    if (!state || this.over) return;
    this.chip.className = `chip state${state === "speaking" ? " live" : ""}`;
    this.chip.replaceChildren(el("span", { "aria-hidden": "true" }, SIGNS[state] ?? "→"), state);
    if (state === "ended") this.#ended();
  }

  line(line) {
    const atEnd = this.log.scrollHeight - this.log.scrollTop - this.log.clientHeight < 40;
    if (line.kind === "hearing" || line.kind === "verdict") {
      this.#provisional?.remove();
      this.#provisional = null;
    }
    const shown = el("li", { class: `${line.who} ${line.kind === "hearing" ? "hearing" : ""}`,
      "aria-hidden": line.kind === "hearing" ? "true" : null },
      WHO[line.who] ? el("span", { class: "who" }, `${WHO[line.who]}: `) : null, line.text, evidence(line));
    this.lines.append(shown);
    if (line.kind === "hearing") this.#provisional = shown;
    if (atEnd || this.#followed) this.log.scrollTop = this.log.scrollHeight;
  }

  follow(on) {
    this.#followed = on;
    this.button.setAttribute("aria-pressed", String(on));
    this.log.setAttribute("aria-live", on ? "polite" : "off");
    if (on) this.log.scrollTop = this.log.scrollHeight;
  }

  end(reason) {
    if (reason && !this.over) this.line({ kind: "end", who: "note", text: `The call is over: ${reason}` });
    this.state("ended");
  }

  #ended() {
    this.over = true;
    this.#provisional?.remove();
    this.element.classList.add("ended");
  }
}

// Under the agent's words: what they rest on.
function evidence(line) {
  if (line.kind !== "verdict" || line.who !== "agent") return null;
  const parts = [plain(line.decision ?? "")];
  if (typeof line.score === "number") parts.push(`score ${score(line.score)}, floor ${score(line.floor)}`);
  if (line.citations?.length) parts.push(line.citations.join(", "));
  return el("span", { class: "evidence" }, parts.filter(Boolean).join(" · "));
}
