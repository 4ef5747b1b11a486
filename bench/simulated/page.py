"""The figures of simulated calls as an HTML page: what hurts, and every call that failed."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

from bench.simulated.judging import OUTCOMES
from bench.simulated.table import WORSE, bound, busy, conditions, is_worse, ms, right

Figures = Mapping[str, Any]


def page(title: str, found: Figures, kept: Mapping[str, list[str]]) -> str:
    """The page; ``kept`` maps a call's name to the files of it beside the page."""
    body = [_summary(found)]
    body += [_factor(name, values) for name, values in found["factors"].items()]
    body.append(f"<h2>Calls to look at: {len(found['failed'])}</h2>")
    body += [_call(call, kept.get(call["name"], [])) for call in found["failed"]]
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" '
        f'content="width=device-width"><title>{escape(title)}</title><style>{_CSS}</style>'
        f"<main><h1>{escape(title)}</h1>{''.join(body)}</main></html>\n"
    )


def _summary(found: Figures) -> str:
    rows = [("right", bound(found["right"]), OUTCOMES["right"])]
    rows += [
        (name.replace("_", " "), str(found["outcomes"][name]), what)
        for name, what in OUTCOMES.items()
        if name != "right"
    ]
    rows += [
        ("crossed talk", bound(found["crossed"]), "the agent began while the caller spoke"),
        ("ended properly", bound(found["ended_properly"]), "; ".join(found["problems"])),
        ("reply", f"p50 {ms(found['reply']['p50_ms'])}, p95 {ms(found['reply']['p95_ms'])}", ""),
        ("agent silenced", f"p95 {ms(found['barge_in']['p95_ms'])}", "when the caller cuts in"),
    ]
    cells = "".join(
        f"<tr><th scope=row>{escape(name)}</th><td>{escape(value)}</td><td>{escape(what)}</td></tr>"
        for name, value, what in rows
    )
    return (
        f"<p>{found['calls']} calls, {found['turns']} turns; {found['not_reached']} more were not "
        f"reached. Judged by {found['judged_by']}. In brackets: 95 % bounds.</p>"
        f"{''.join(f'<p class=bad>{escape(line.strip())}</p>' for line in busy(found))}"
        f"<table>{cells}</table>"
    )


def _factor(name: str, values: Figures) -> str:
    rows = "".join(
        f"<tr{' class=bad' if (worse := is_worse(value, values)) else ''}>"
        f"<th scope=row>{escape(value)}{f' {WORSE}' if worse else ''}</th>"
        f"<td>{bound(row['right'])}</td><td>{_others(row)}</td></tr>"
        for value, row in values.items()
    )
    head = "<tr><td></td><th scope=col>right</th><th scope=col>else</th></tr>"
    return f"<h2>By {escape(name)}</h2><table>{head}{rows}</table>"


def _others(row: Figures) -> str:
    return ", ".join(
        f"{count} {name.replace('_', ' ')}"
        for name, count in row["outcomes"].items()
        if count and name != "right"
    )


def _call(call: Figures, files: list[str]) -> str:
    turns = "".join(_turn(turn) for turn in call["turns"])
    links = "".join(
        f"<audio controls preload=none src='{escape(name)}'></audio>"
        if name.endswith(".wav")
        else f"<p><a href='{escape(name)}'>{escape(name)}</a></p>"
        for name in files
    )
    problem = f"<p class=bad>{escape(call['problem'])}</p>" if call["problem"] else ""
    return (
        f"<article><h3>{escape(call['name'])}</h3><p>{escape(conditions(call))}</p>{problem}"
        f"<ol>{turns}</ol>{links}<p>Again: <code>{escape(call['again'])}</code></p></article>"
    )


def _turn(turn: Figures) -> str:
    is_good = turn["outcome"] == "right" and not turn["crossed"]
    marks = turn["outcome"].replace("_", " ") + (", crossed talk" if turn["crossed"] else "")
    score = "" if turn["score"] is None else f"{turn['score']:.3f} vs {turn['floor'] or 0:.3f}"
    details = "".join(
        f"<dt>{name}</dt><dd>{escape(value or '–')}</dd>"
        for name, value in (
            ("gold", right(turn)),
            ("heard", turn["heard"]),
            ("said", turn["said"]),
            ("decided", f"{turn['decision']} {turn['reason']} {score}".strip()),
            ("cited", " ".join(turn["citations"])),
        )
    )
    return (
        f"<li><b>{escape(turn['asked'])}</b> <span class={'good' if is_good else 'bad'}>"
        f"{escape(marks)}</span>{'' if is_good else f'<dl>{details}</dl>'}</li>"
    )


_CSS = """
:root{color-scheme:light dark;--ink:light-dark(#1c2430,#e6eaf0);--paper:light-dark(#fff,#14181f);
--soft:light-dark(#eef1f5,#222934);--faint:light-dark(#5b6675,#9aa5b3);
--good:light-dark(#14703d,#6fd39a);--bad:light-dark(#b3261e,#ff9a8f)}
body{font:16px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper);margin:0}
main{max-width:960px;margin:auto;padding:1.5rem}h1{font-size:1.5rem}
h2{font-size:1.2rem;margin:2rem 0 .5rem}h3{font-size:1rem;margin:0}
table{border-collapse:collapse;width:100%;font-size:.92rem}
th{text-align:left;font-weight:500;color:var(--faint)}
th,td{padding:.3rem .6rem .3rem 0;border-bottom:1px solid var(--soft);vertical-align:top}
.good{color:var(--good)}.bad,.bad th,.bad td{color:var(--bad)}
article{background:var(--soft);border-radius:8px;padding:.7rem 1rem;margin:.7rem 0}
dl{display:grid;grid-template-columns:6rem 1fr;gap:.1rem .8rem;margin:.3rem 0;font-size:.92rem}
dt{color:var(--faint)}dd{margin:0;overflow-wrap:anywhere}audio{width:100%}
code{overflow-wrap:anywhere}
@media(max-width:600px){dl{grid-template-columns:1fr}dd{margin-bottom:.3rem}}
"""
