// What callers wanted and did not get, in clusters of like questions.

import { byId, el } from "/static/base.js";
import { overDays } from "/static/days.js";
import { againstFloor } from "/static/evidence.js";
import { many } from "/static/words.js";

function card(wanted) {
  const whys = [
    wanted.refused ? `${wanted.refused} refused` : null,
    wanted.transferred ? `${wanted.transferred} put through to a person` : null,
    wanted.asked_again ? `${wanted.asked_again} asked again` : null,
  ];
  return el("li", { class: "card" },
    el("h2", {}, el("q", {}, wanted.question)),
    el("p", {}, el("b", {}, many(wanted.calls, "call")), `, ${many(Math.round(wanted.minutes), "minute")}: `,
      whys.filter(Boolean).join(", ")),
    wanted.score === null ? null : againstFloor(wanted),
    el("ul", { class: "wordings" }, wanted.wordings.map((wording) => el("li", {},
      el("a", { href: `/call/${encodeURIComponent(wording.call)}#turn-${wording.turn}` }, wording.heard || "nothing"),
      wording.times > 1 ? el("span", { class: "soft" }, ` ${many(wording.times, "time")}`) : null))));
}

function draw({ clusters, since, until }) {
  byId("report").replaceChildren(el("ol", { class: "clusters" }, clusters.map(card)));
  const days = since && until ? `${since} to ${until}: ` : "";
  return days + (clusters.length ? `${many(clusters.length, "answer")} to write` : "nothing that callers missed");
}

overDays("/api/demand", draw);
