"""What a change of the documents changes, as one HTML file that needs nothing else."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from html import escape

from agent.insight.differences import KINDS, Answer, Difference
from agent.insight.spoken_changes import SpokenChange

_STYLE = """
:root { color-scheme: light dark; --page: #f6f6f3; --card: #fff; --text: #1d2226; --soft: #56606a;
  --line: #d9dcd8; --bad: #a3271b; --good: #0b6b58; }
@media (prefers-color-scheme: dark) { :root { --page: #14181b; --card: #1c2226; --text: #e9edef;
  --soft: #a6b1b8; --line: #343c42; --bad: #ff9a8c; --good: #4cc3a8; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 60rem; padding: 1.5rem 1rem 3rem; background: var(--page);
  color: var(--text); font: 1rem/1.5 system-ui, "Segoe UI", Roboto, "Noto Sans", sans-serif;
  overflow-wrap: anywhere; }
h1 { font-size: 1.625rem; margin: 0; } h2 { font-size: 1.2rem; margin: 2rem 0 .5rem; }
article { margin: .75rem 0; padding: .75rem 1rem; background: var(--card);
  border: 1px solid var(--line); border-radius: .75rem; }
h3 { font-size: 1rem; margin: 0 0 .25rem; }
p { margin: .25rem 0; } .soft { color: var(--soft); font-size: .875rem; }
.pair { display: grid; gap: .5rem 1.5rem; grid-template-columns: 1fr 1fr; margin: .5rem 0 0; }
.pair div { border-top: 3px solid var(--bad); padding-top: .4rem; }
.pair div + div { border-color: var(--good); }
@media (max-width: 36rem) { .pair { grid-template-columns: 1fr; } }
dt { font-size: .875rem; color: var(--soft); } dd { margin: 0; }
"""
_WORD = re.compile(r"[\w']+")
_HEADS = {
    "contradicted": "Says otherwise now",
    "gone": "No longer answered",
    "changed": "Answered in other words",
    "appeared": "Answered now",
}


def page(title: str, found: Sequence[Difference], spoken: Sequence[SpokenChange]) -> str:
    """The page, whole."""
    head = "What the new documents change"
    counts = Counter(one.kind for one in found)
    parts = [
        f"<h2>{_HEADS[kind]} ({counts[kind]})</h2>"
        + "".join(_difference(one) for one in found if one.kind == kind)
        for kind in KINDS
        if counts[kind]
    ]
    if spoken:
        parts.append(f"<h2>Read aloud in other words ({len(spoken)})</h2>")
        parts += [_spoken(one) for one in spoken]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{head}</title><style>{_STYLE}</style></head><body>"
        f'<header><h1>{head}</h1><p class="soft">{escape(title)}</p></header>'
        f"<main>{''.join(parts) or '<p>No answer changes.</p>'}</main></body></html>\n"
    )


def _difference(one: Difference) -> str:
    asked = "once" if one.times == 1 else f"{one.times:,} times"
    notes = [f"asked {asked}"]
    if one.calls > 1:
        notes.append(f"in {one.calls:,} calls")
    if _WORD.findall(one.question.casefold()) != _WORD.findall(one.heard.casefold()):
        notes.append(f"looked up as “{one.question}”")
    if one.detail and one.kind == "contradicted":
        notes.append(one.detail)
    return (
        f"<article><h3>“{escape(one.heard)}”</h3>"
        f'<p class="soft">{escape(" · ".join(notes))}</p>'
        f"{_pair(_answer(one.old), _answer(one.new))}</article>"
    )


def _answer(one: Answer) -> str:
    ground = [*one.citations]
    if one.score is not None and one.floor is not None:
        ground.append(f"score {one.score:.3f}, floor {one.floor:.3f}")
    if not one.citations or one.decision != "answered":
        ground.insert(0, one.reason.replace("_", " "))
    return f'<p>{escape(one.say)}</p><p class="soft">{escape(" · ".join(ground))}</p>'


def _spoken(one: SpokenChange) -> str:
    return (
        f'<article><h3>{escape(one.text)}</h3><p class="soft">{escape(one.passage)}</p>'
        f"{_pair(f'<p>{escape(one.old)}</p>', f'<p>{escape(one.new)}</p>')}</article>"
    )


def _pair(old: str, new: str) -> str:
    return (
        f'<dl class="pair"><div><dt>before</dt><dd>{old}</dd></div>'
        f"<div><dt>now</dt><dd>{new}</dd></div></dl>"
    )
