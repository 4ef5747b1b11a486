"""How a floor came about, as one HTML page and in lines for a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from rag.calibration import Calibration, Rate
from rag.floor import BEARABLE
from rag.histogram import Picture, svg
from rag.overlap import Overlap

MOST_SHOWN = 20

_NAMES = {
    "en": "English", "hi": "Hindi", "bn": "Bengali", "gu": "Gujarati", "ta": "Tamil",
    "te": "Telugu",
}  # fmt: skip
_WHAT = {
    "over_refusal": "answerable questions refused",
    "wrongly_answered": "unanswerable questions answered",
}


@dataclass(frozen=True, slots=True)
class Report:
    """What was found for one ``language``.

    ``high`` are the unanswerable questions that keep the groups from being told apart, ``low`` the
    answerable ones that are refused, each worst first. ``costs`` are an alpha, its floor and the
    over-refusal at it. ``note`` says what to think of the questions.
    """

    language: str
    calibration: Calibration
    high: Sequence[Overlap]
    low: Sequence[Overlap]
    costs: Sequence[tuple[float, float, Rate]]
    note: str = ""

    def guarantee(self) -> str:
        """What is guaranteed, in one sentence."""
        c = self.calibration
        return (
            f"With {_percent(c.confidence)} confidence, at most {_percent(c.bound)} of questions "
            f"like these that the documents do not answer will be answered (allowed: "
            f"{_percent(c.alpha)})."
        )

    def verdict(self) -> str:
        """Whether the two groups can be told apart, and at what price."""
        c = self.calibration
        if c.separable:
            return f"The price is {_percent(c.over_refusal.rate)} of answerable questions refused."
        return (
            f"The two groups cannot be told apart at {_percent(c.alpha)}: "
            f"{_percent(c.over_refusal.rate)} of answerable questions would be refused, more than "
            f"the {_percent(BEARABLE)} that a business can bear. The questions below overlap: word "
            "the documents so that they answer them, or allow a larger alpha."
        )

    def picture(self) -> Picture:
        """The histogram with the floor and both error rates."""
        c = self.calibration
        return Picture(
            title=f"{language_name(self.language)}: answerable and unanswerable questions",
            histogram=c.histogram,
            floor=c.floor,
            over_refusal=f"{_interval(c.over_refusal)} refused",
            wrongly_answered=f"{_interval(c.wrongly_answered)} answered",
        )

    def as_json(self) -> dict[str, Any]:
        """The calibration's fields, and the rest of this, as plain values."""
        return {
            **self.calibration.as_json(),
            "guarantee": self.guarantee(),
            "note": self.note,
            "overlap": {
                "unanswerable": [_overlap_json(one) for one in self.high],
                "answerable": [_overlap_json(one) for one in self.low],
            },
            "costs": [
                {"alpha": alpha, "floor": floor, "over_refusal": rate.rate}
                for alpha, floor, rate in self.costs
            ],
        }


def language_name(code: str) -> str:
    """The name of a language that passages may be in."""
    return _NAMES.get(code, code)


def lines(report: Report) -> list[str]:
    """The report for a terminal."""
    c = report.calibration
    found = [
        f"{report.language}: floor {c.floor:.3f} on the answerability score; AUC {c.auc:.3f}",
        f"  {c.n_answerable} answerable and {c.n_unanswerable} unanswerable questions of {c.set}",
        *([f"  {report.note}"] if report.note else []),
        f"  {report.guarantee()}",
        f"  {report.verdict()}",
    ]
    for name, what in _WHAT.items():
        rate: Rate = getattr(c, name)
        found.append(f"  {what}: {_interval(rate)}, n {rate.n}")
        found += [
            f"      {kind or 'of no kind'}: {_interval(own)}, n {own.n}"
            for kind, own in c.kinds[name].items()
        ]
    found.append("  what another alpha would cost:")
    found += [
        f"    {_percent(alpha):>5}: floor {floor:.3f}, {_percent(rate.rate)} refused"
        for alpha, floor, rate in report.costs
    ]
    if not c.separable:
        found += _overlap_lines("unanswerable, yet score high", report.high)
        found += _overlap_lines("answerable, yet below the floor", report.low)
    return found


def page(title: str, reports: Iterable[Report], without: Mapping[str, str]) -> str:
    """All languages as one page that needs no other file; ``without`` says why some have none,
    and what holds instead."""
    parts = [_section(report) for report in reports]
    parts += [
        f"<section><h2>{escape(language_name(code))}</h2><p class=warn>"
        f"{escape(reason[:1].upper() + reason[1:])}</p></section>"
        for code, reason in without.items()
    ]
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" '
        f'content="width=device-width"><title>{escape(title)}</title><style>{_CSS}</style>'
        f"<main><h1>{escape(title)}</h1>{''.join(parts)}</main></html>\n"
    )


def _section(report: Report) -> str:
    c = report.calibration
    note = f"<p class=note>{escape(report.note)}</p>" if report.note else ""
    return (
        f"<section><h2>{escape(language_name(report.language))}</h2>{_figures(c)}"
        f'<p class="{"say" if c.separable else "say warn"}">{escape(report.guarantee())} '
        f"{escape(report.verdict())}</p>{note}"
        f"<figure>{svg(report.picture())}</figure>"
        f"<h3>Both errors, by kind of question</h3>{_kinds(c)}"
        f"<h3>What another alpha would cost</h3>{_costs(report)}"
        f"<h3>Unanswerable questions that score high</h3>{_questions(report.high, 'score')}"
        f"<h3>Answerable questions below the floor</h3>{_questions(report.low, 'score')}"
        f"<details><summary>How it was measured</summary><dl>{_details(c)}</dl></details></section>"
    )


def _figures(c: Calibration) -> str:
    shown = [
        ("floor", f"{c.floor:.3f}", f"alpha {_percent(c.alpha)}"),
        ("refused, though answerable", _percent(c.over_refusal.rate), _bounds(c.over_refusal)),
        (
            "answered, though unanswerable",
            _percent(c.wrongly_answered.rate),
            _bounds(c.wrongly_answered),
        ),
        ("area under the curve", f"{c.auc:.3f}", "1 is perfect, 0.5 is chance"),
    ]
    return (
        "<ul class=figures>"
        + "".join(
            f"<li><span>{name}</span><b>{value}</b><small>{small}</small></li>"
            for name, value, small in shown
        )
        + "</ul>"
    )


def _kinds(c: Calibration) -> str:
    rows = []
    for name, what in _WHAT.items():
        total: Rate = getattr(c, name)
        rows.append((f"<b>{what}</b>", *_cells(total)))
        rows += [
            (escape(kind.replace("_", " ")), *_cells(rate))
            for kind, rate in c.kinds[name].items()
            if kind
        ]
    return _table(("", "rate", "95 % interval", "questions"), rows)


def _cells(rate: Rate) -> tuple[str, str, str]:
    return _percent(rate.rate), f"{_percent(rate.low)} to {_percent(rate.high)}", str(rate.n)


def _costs(report: Report) -> str:
    rows = [
        (_percent(alpha), f"{floor:.3f}", *_cells(rate)[:2]) for alpha, floor, rate in report.costs
    ]
    return _table(("alpha", "floor", "refused", "95 % interval"), rows)


def _questions(shown: Sequence[Overlap], name: str) -> str:
    if not shown:
        return "<p>None.</p>"
    rows = [(escape(one.text), f"{one.score:.3f}", escape(one.say)) for one in shown[:MOST_SHOWN]]
    left = len(shown) - MOST_SHOWN
    more = f"<p>and {left} more (frontdesk kb calibrate --json)</p>" if left > 0 else ""
    return _table(("asked", name, "what would be said"), rows, "questions") + more


def _details(c: Calibration) -> str:
    rows = {
        "method": c.method,
        "set": f"{c.set}, {c.n_answerable} answerable and {c.n_unanswerable} unanswerable",
        "its SHA-256": c.set_sha256,
        "embedder": c.embedder,
        "score": c.scorer,
        "confidence": _percent(c.confidence),
    }
    return "".join(f"<dt>{name}</dt><dd>{escape(value)}</dd>" for name, value in rows.items())


def _table(head: Sequence[str], rows: Iterable[Sequence[str]], kind: str = "") -> str:
    top = "".join(f"<th>{cell}</th>" for cell in head)
    body = "".join("<tr>" + "".join(f"<td>{c}</td>" for c in row) + "</tr>" for row in rows)
    return f'<table class="{kind}"><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>'


def _overlap_lines(what: str, shown: Sequence[Overlap]) -> list[str]:
    found = [f"  {what}: {len(shown)}"]
    found += [f"    {one.score:.3f} {one.text!r} -> {one.say!r}" for one in shown[:MOST_SHOWN]]
    left = len(shown) - MOST_SHOWN
    return [*found, f"    and {left} more (--json)"] if left > 0 else found


def _overlap_json(one: Overlap) -> dict[str, Any]:
    return {"text": one.text, "score": round(one.score, 4), "kind": one.kind, "say": one.say}


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %" if round(1000 * share) % 10 else f"{100 * share:.0f} %"


def _bounds(rate: Rate) -> str:
    return f"{_percent(rate.low)} to {_percent(rate.high)}, n {rate.n}"


def _interval(rate: Rate) -> str:
    return f"{_percent(rate.rate)} ({100 * rate.low:.1f} to {100 * rate.high:.1f})"


_CSS = """
:root{color-scheme:light dark;--ink:light-dark(#1c2430,#e6eaf0);--paper:light-dark(#fff,#14181f);
--soft:light-dark(#eef1f5,#222934);--faint:light-dark(#5b6675,#9aa5b3);
--warn:light-dark(#a3341c,#f0907a);--h-ground:var(--paper);--h-ink:var(--ink);
--h-faint:var(--faint);--h-line:light-dark(#dfe3e8,#2c3542);--h-floor:var(--ink);
--h-answerable:light-dark(#2a78d6,#5a9fee);--h-unanswerable:light-dark(#d9730d,#f0953c)}
body{font:16px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper);margin:0}
main{max-width:900px;margin:auto;padding:1.5rem}h1{font-size:1.5rem}h2{font-size:1.2rem}
h3{font-size:1rem;margin:1.6rem 0 .4rem}section{border-top:1px solid var(--soft);margin-top:1rem}
.figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(170px,1fr));gap:.8rem;
list-style:none;padding:0}.figures li{background:var(--soft);border-radius:8px;padding:.6rem .8rem;
display:flex;flex-direction:column}.figures span,small{color:var(--faint);font-size:.85rem}
.figures b{font-size:1.5rem;font-weight:600;margin-top:auto}
.say{font-size:1.05rem}.note{color:var(--faint)}
.warn{border-left:4px solid var(--warn);padding-left:.8rem}
figure{margin:1rem 0}svg{width:100%;height:auto;display:block}
table{border-collapse:collapse;width:100%;font-size:.92rem}
th{text-align:left;font-weight:500;color:var(--faint)}
th,td{padding:.3rem .6rem .3rem 0;border-bottom:1px solid var(--soft);vertical-align:top}
td:not(:first-child):not(:last-child){font-variant-numeric:tabular-nums;white-space:nowrap}
.questions td:first-child,.questions td:last-child{width:46%}
details{margin-top:1.6rem}summary{cursor:pointer}dl{display:grid;
grid-template-columns:7rem 1fr;gap:.2rem .8rem}dt{color:var(--faint)}
dd{margin:0;overflow-wrap:anywhere}
"""
