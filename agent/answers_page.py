"""What ``frontdesk eval answers`` found, as one HTML page that needs no other file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from agent.answers_report import (
    BOUNDS,
    COUNTS,
    DONE,
    EXPECTED,
    SPECIAL_DAYS,
    Figures,
    floors,
    groups,
    long_mark,
    measured,
    rate_cells,
    right,
    worst_first,
)

# What is as it should be, by row and column of the confusion table.
_GOOD = {("answer", "right_answer"), ("refuse", "refused"), ("conversation", "conversation")}
_BAD = "wrong_answer"


def page(title: str, figures: Figures) -> str:
    """The tables, and every wrong answer with what it rests on."""
    together = figures["all_voices"]
    body = [
        f"<p>{together['n']} asked. {escape(_sentence(floors(figures)))}.</p>",
        _confusion(together),
        _rates(together),
        "<h2>By voice, kind and day</h2>",
        _table(["", *COUNTS.values()], groups(figures)),
        f"<h2>{SPECIAL_DAYS}</h2>",
        _rates(together["special_days"]),
    ]
    if "generated" in figures:
        body += _generated(figures["generated"])
    body += [_wrong("Wrong", worst_first(figures)), _long(together["long"])]
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" '
        f'content="width=device-width"><title>{escape(title)}</title><style>{_CSS}</style>'
        f"<main><h1>Answers: {escape(title)}</h1>{''.join(body)}</main></html>\n"
    )


def _confusion(figures: Figures) -> str:
    head = "".join(f"<th>{name}</th>" for name in DONE.values())
    rows = []
    for row, name in EXPECTED.items():
        cells = []
        for column in DONE:
            number = figures["confusion"][row][column]
            kind = "good" if (row, column) in _GOOD else "bad" if column == _BAD else "off"
            shown = kind if number else "none"
            cells.append(f"<td class={shown}>{number}</td>")
        rows.append(f"<tr><th>{name}</th>{''.join(cells)}</tr>")
    return (
        "<table class=confusion><caption>Rows: what was right to do. Columns: what was done."
        f"</caption><thead><tr><th></th>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
    )


def _rates(figures: Figures) -> str:
    rows = list(rate_cells(figures))
    if not rows:
        return "<p>None was asked.</p>"
    return _table(["", "asked", BOUNDS, "questions"], rows)


def _generated(found: Figures) -> list[str]:
    accepted = found["accepted"]
    outcomes = [(name.replace("_", " "), count) for name, count in found["outcomes"].items()]
    return [
        f"<h2>In the words of {escape(found['model'])}</h2>",
        f"<p>{found['asked']} asked, {accepted['n']} accepted: right {accepted['right']}, wrong "
        f"fact {accepted['wrong_fact']}, wrongly answered {accepted['wrongly_answered']}, passed "
        f"every check yet wrong {accepted['passed_checks_yet_wrong']}.</p>",
        _table(["outcome", "questions"], outcomes),
        _wrong("Accepted, yet wrong", accepted["wrong"]),
        "<h3>What a caller hears with it on</h3>",
        _confusion(found["all_voices"]),
        _rates(found["all_voices"]),
    ]


def _wrong(title: str, rows: Sequence[dict[str, Any]]) -> str:
    return f"<h2>{title} ({len(rows)})</h2>{''.join(map(_card, rows)) or '<p>None.</p>'}"


def _card(row: dict[str, Any]) -> str:
    kind = "off" if row["outcome"] == "over_refused" else "bad"
    passages = "".join(
        f"<dt>{escape(one['id'])}</dt><dd>{escape(one['text'])}</dd>" for one in row["passages"]
    )
    return (
        f"<article><header><b class={kind}>{row['outcome'].replace('_', ' ')}</b> "
        f"{escape(row['id'])}, {escape(row['voice'])}, {escape(row['kind'].replace('_', ' '))}"
        f"</header><dl><dt>asked</dt><dd>{escape(row['asked'])}</dd>"
        f"<dt>heard</dt><dd>{escape(row['heard'])}</dd>"
        f"<dt>looked up</dt><dd>{escape(row['query'])}</dd>"
        f"<dt>said</dt><dd><strong>{escape(row['say'])}</strong>{escape(long_mark(row))}</dd>"
        f"{passages}<dt>right</dt><dd>{escape(right(row))}</dd>"
        f"<dt>measured</dt><dd>{escape(measured(row))}</dd></dl></article>"
    )


def _long(rows: Sequence[dict[str, Any]]) -> str:
    if not rows:
        return ""
    shown = [(row["id"], row["voice"], row["say"]) for row in rows]
    return (
        f"<h2>Answers of more than two sentences ({len(rows)})</h2>"
        f"{_table(['question', 'voice', 'said'], shown, 'texts')}"
    )


def _table(head: Sequence[str], rows: Iterable[Sequence[object]], kind: str = "") -> str:
    top = "".join(f"<th>{cell}</th>" for cell in head)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in row) + "</tr>" for row in rows
    )
    return f'<table class="{kind}"><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>'


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


_CSS = """
:root{color-scheme:light dark;--ink:light-dark(#1c2430,#e6eaf0);--paper:light-dark(#fff,#14181f);
--soft:light-dark(#eef1f5,#222934);--faint:light-dark(#5b6675,#9aa5b3);
--good:light-dark(#14703d,#6fd39a);--bad:light-dark(#b3261e,#ff9a8f);--off:light-dark(#8a5a00,#f0b95a)}
body{font:16px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper);margin:0}
main{max-width:960px;margin:auto;padding:1.5rem}h1{font-size:1.5rem}
h2{font-size:1.2rem;margin:2rem 0 .5rem}h3{font-size:1rem}
table{border-collapse:collapse;width:100%;font-size:.92rem;margin:1rem 0}
caption{text-align:left;color:var(--faint);padding-bottom:.4rem}
th{text-align:left;font-weight:500;color:var(--faint)}
th,td{padding:.3rem .6rem .3rem 0;border-bottom:1px solid var(--soft);vertical-align:top}
td:not(:first-child),th:not(:first-child){text-align:right;font-variant-numeric:tabular-nums}
.texts td,.texts th{text-align:left!important}
.confusion td{font-size:1.3rem;font-weight:600}
.good{color:var(--good)}.bad{color:var(--bad)}.off{color:var(--off)}.none{color:var(--faint)}
article{background:var(--soft);border-radius:8px;padding:.7rem 1rem;margin:.7rem 0}
dl{display:grid;grid-template-columns:9rem 1fr;gap:.1rem .8rem;margin:.4rem 0 0;font-size:.92rem}
dt{color:var(--faint)}dd{margin:0;overflow-wrap:anywhere}
@media(max-width:600px){dl{grid-template-columns:1fr}dd{margin-bottom:.3rem}}
"""
