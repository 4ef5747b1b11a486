"""A report as one HTML file that needs nothing else: to be printed, mailed, kept."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from agent.insight.plots import bars, levels
from agent.insight.report import Report

_STYLE = """
:root { color-scheme: light dark; --page: #f6f6f3; --card: #fff; --text: #1d2226; --soft: #56606a;
  --line: #d9dcd8; --accent: #0b6b58; --other: #858e88; }
@media (prefers-color-scheme: dark) { :root { --page: #14181b; --card: #1c2226; --text: #e9edef;
  --soft: #a6b1b8; --line: #343c42; --accent: #4cc3a8; --other: #7d888f; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 60rem; padding: 1.5rem 1rem 3rem; background: var(--page);
  color: var(--text); font: 1rem/1.5 system-ui, "Segoe UI", Roboto, "Noto Sans", sans-serif;
  font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
h1 { font-size: 1.625rem; margin: 0; } h2 { font-size: 1.2rem; margin: 2rem 0 .5rem; }
.soft { color: var(--soft); } .small { font-size: .875rem; }
dl { display: grid; gap: .75rem;
  grid-template-columns: repeat(auto-fill, minmax(min(10rem, 45%), 1fr)); }
dl div, figure, table { background: var(--card); border: 1px solid var(--line);
  border-radius: .75rem; }
dl div { padding: .6rem .9rem; } dt { font-size: .875rem; color: var(--soft); }
dd { margin: 0; font-size: 1.375rem; font-weight: 650; }
figure { margin: .75rem 0; padding: .75rem 1rem; }
figure p { margin: 0 0 .5rem; }
svg { display: block; width: 100%; height: 9rem; }
.one { fill: var(--accent); } .two { fill: var(--other); } .axis { stroke: var(--line); }
.key { display: inline-block; width: .75rem; height: .75rem; border-radius: .2rem;
  background: var(--accent); } .key.two { background: var(--other); }
.ends { display: flex; justify-content: space-between; }
table { width: 100%; border-collapse: separate; border-spacing: 0; font-size: .9375rem; }
th { text-align: left; font-size: .8125rem; color: var(--soft); }
th, td { padding: .45rem .9rem; border-bottom: 1px solid var(--line); vertical-align: baseline; }
tr:last-child td { border: 0; } .figure { text-align: right; white-space: nowrap; }
@media (max-width: 30rem) { th, td { padding: .4rem .5rem; } }
"""


def page(report: Report) -> str:
    """The page, whole."""
    name = escape(report.period.name)
    parts = [_tiles(report)]
    if report.total.calls:
        parts += [_plots(report), _top(report)]
    else:
        parts.append("<p>No calls.</p>")
    if report.judged:
        parts.append(_judged(report))
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>Calls, {name}</title><style>{_STYLE}</style></head><body>"
        f"<header><h1>Calls, {name}</h1>"
        f'<p class="soft">Days of {escape(str(report.period.zone))}.</p></header>'
        f"<main>{''.join(parts)}</main></body></html>\n"
    )


def _tiles(report: Report) -> str:
    total, marks = report.total, report.marks
    tiles = [
        ("calls", f"{total.calls:,}"),
        ("minutes", f"{total.minutes:,.0f}"),
        ("questions answered", f"{total.answered:,}"),
        ("questions refused", f"{total.refused:,}"),
        ("calls transferred", f"{total.transferred:,}"),
        ("caller hung up", f"{total.hung_up:,}"),
        ("reply, median", _ms(total.reply_p50_ms)),
        ("reply, 95th percentile", _ms(total.reply_p95_ms)),
        ("marked wrong", f"{marks['wrong']:,}"),
        ("marked doubtful", f"{marks['doubtful']:,}"),
    ]
    shown = "".join(f"<div><dt>{name}</dt><dd>{value}</dd></div>" for name, value in tiles)
    return f"<dl>{shown}</dl>"


def _plots(report: Report) -> str:
    names = [at for at, _ in report.parts]
    answered = [figures.answered for _, figures in report.parts]
    refused = [figures.refused for _, figures in report.parts]
    p95 = [figures.reply_p95_ms for _, figures in report.parts]
    ends = f'<div class="ends soft small"><span>{names[0]}</span><span>{names[-1]}</span></div>'
    most = max(map(sum, zip(answered, refused, strict=True)))
    slowest = max((value for value in p95 if value is not None), default=None)
    shown = (
        "<h2>Questions</h2><figure>"
        f'<p class="small"><span class="key"></span> answered <span class="key two"></span> refused'
        f" · at most {most:,}</p>{bars(names, answered, refused)}{ends}</figure>"
    )
    if slowest is not None:
        shown += (
            "<h2>Reply</h2><figure>"
            f'<p class="small">95th percentile, from the caller’s silence to the voice'
            f" · at most {_ms(slowest)}</p>{levels(names, p95)}{ends}</figure>"
        )
    return shown


def _top(report: Report) -> str:
    rows = [
        [escape(one.heard), f"{one.times:,}", f"{one.answered:,}", f"{one.refused:,}"]
        for one in report.top
    ]
    heads = ("question, as most put it", "times", "answered", "refused")
    return f"<h2>Asked most</h2>{_table(heads, rows)}" if rows else ""


def _judged(report: Report) -> str:
    rows = [
        [escape(one.label), escape(one.heard), escape(one.say), escape(one.note)]
        for one in report.judged
    ]
    return f"<h2>Marked by a person</h2>{_table(('mark', 'heard', 'said', 'note'), rows, 0)}"


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]], figures: int = 3) -> str:
    """A table whose last ``figures`` columns are numbers; cells are HTML already."""
    first = len(heads) - figures

    def line(tag: str, cells: Sequence[str]) -> str:
        kinds = ["" if number < first else ' class="figure"' for number in range(len(cells))]
        return "".join(
            f"<{tag}{kind}>{cell}</{tag}>" for kind, cell in zip(kinds, cells, strict=True)
        )

    body = "".join(f"<tr>{line('td', row)}</tr>" for row in rows)
    return f"<table><thead><tr>{line('th', heads)}</tr></thead><tbody>{body}</tbody></table>"


def _ms(value: float | None) -> str:
    return "–" if value is None else f"{value:,.0f} ms"
