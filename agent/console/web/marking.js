// A person's judgement of an answer. A wrong one becomes a replay case.

import { post } from "/static/api.js";
import { chip, el } from "/static/base.js";
import { moment } from "/static/words.js";

const SIGNS = { right: "✓", wrong: "✕", doubtful: "?" };

export function marking(call, turn) {
  const list = el("ul", { class: "given" });
  const status = el("p", { class: "small", role: "status" });
  const note = el("textarea", { name: "note", rows: "2", maxlength: "1000",
    placeholder: "What should it have said?" });
  const save = el("button", { class: "main", type: "submit" }, "Save the mark");
  const form = el("form", { class: "marking" },
    el("fieldset", {}, el("legend", {}, `Turn ${turn.turn} was`), Object.keys(SIGNS).map((label) =>
      el("label", {}, el("input", { type: "radio", name: "label", value: label, required: true }), label))),
    el("label", { class: "note" }, "Note", note), save);

  function given(marks) {
    list.replaceChildren(...marks.map((mark) => el("li", {},
      chip(mark.label, SIGNS[mark.label] ?? "", mark.label), mark.note ? ` ${mark.note} ` : " ",
      el("span", { class: "soft" }, [mark.by, moment(mark.at)].filter(Boolean).join(", ")))));
    list.hidden = !marks.length;
  }

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    save.disabled = true;
    const label = new FormData(form).get("label");
    try {
      const path = `/api/calls/${encodeURIComponent(call)}/marks`;
      const { marks, case: made, problem } = await post(path, { turn: turn.turn, label, note: note.value });
      given(marks);
      form.reset();
      status.textContent = problem || (made ? `Saved. It is a replay case now: ${made}` : "Saved.");
    } catch (problem) {
      status.textContent = problem.message;
    }
    save.disabled = false;
  });
  given(turn.marks);
  return [list, el("details", { class: "mark" }, el("summary", {}, "Mark this answer"), form, status)];
}
