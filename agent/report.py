"""A call as one HTML page: what was heard, found, checked and said, and where the time went."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from pathlib import Path
from typing import Any

# Stage marks of a turn in the order they are reached, with what ends at each.
_STAGES = (
    ("paused", "silence noticed"),
    ("heard", "recogniser"),
    ("turn_model", "end-of-turn model"),
    ("turn_ended", "waiting for silence"),
    ("decided", "answer"),
    ("audible", "voice and wire"),
)


@dataclass(frozen=True, slots=True)
class Turn:
    """One utterance of the caller with the record's events about it.

    ``second`` is its ``second_opinion``; ``resumed`` is what was heard, each time that the reply
    was cut by mistake and went on; ``taken_back_ms`` is how much of it was heard before the caller
    went on, who had not been done.
    """

    label: str
    verdict: Mapping[str, Any]
    stages_ms: Mapping[str, float]
    latency_ms: float | None = None
    interrupted_after_ms: float | None = None
    second: Mapping[str, Any] | None = None
    resumed: tuple[str, ...] = ()
    taken_back_ms: float | None = None


def turns_of(events: Iterable[Mapping[str, Any]]) -> list[Turn]:
    """The turns of a call record, in order."""
    turns: list[Turn] = []
    stages: dict[int, Mapping[str, float]] = {}
    cut: dict[int, float] = {}
    resumed: dict[int, tuple[str, ...]] = {}
    taken_back: dict[int, float] = {}
    seconds: dict[int, Mapping[str, Any]] = {}
    verdicts: list[Mapping[str, Any]] = []
    speaking = 0
    for event in events:
        match event["event"]:
            case "verdict":
                verdicts.append(event)
                speaking = event["turn"]
            case "said":  # a prompt: what follows is not of an answer
                speaking = 0
            case "reply_started" if event["turn"] == speaking:
                stages.setdefault(event["turn"], event["stages_ms"])
            case "interrupted":
                cut[speaking] = event["played_ms"]
            case "resumed":
                cut.pop(speaking, None)
                resumed[speaking] = (*resumed.get(speaking, ()), event["heard"])
            case "taken_back":
                taken_back[speaking] = event["played_ms"]
            case "second_opinion":
                seconds[event["turn"]] = event
    for verdict in verdicts:
        number = verdict["turn"]
        turns.append(
            Turn(
                verdict["heard"],
                verdict,
                stages.get(number, {}),
                interrupted_after_ms=cut.get(number),
                second=seconds.get(number),
                resumed=resumed.get(number, ()),
                taken_back_ms=taken_back.get(number),
            )
        )
    return turns


def build_report(
    turns: Iterable[Turn], passages: Mapping[str, str], *, title: str, recording: str | None
) -> str:
    """The page. ``passages`` maps passage id to text; ``recording`` is a relative audio path."""
    turns = list(turns)
    audio = f'<audio controls src="{escape(recording)}"></audio>' if recording else ""
    rows = "\n".join(_turn(number, turn, passages) for number, turn in enumerate(turns, 1))
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{escape(title)}</title>'
        f'<meta name="viewport" content="width=device-width"><style>{_CSS}</style>'
        f"<main><h1>{escape(title)}</h1><p>Caller left, agent right. {audio}</p>"
        f"{_chart(turns)}{rows}</main></html>"
    )


def write_report(path: Path, page: str) -> None:
    """Write the page."""
    path.write_text(page, encoding="utf-8")


def _turn(number: int, turn: Turn, passages: Mapping[str, str]) -> str:
    verdict = turn.verdict
    query = verdict["query"]["text"]
    took = "" if turn.latency_ms is None else f"<b>{turn.latency_ms:.0f} ms</b>"
    checks = " ".join(
        f'<span class="{"pass" if check["passed"] else "fail"}" title="{escape(check["detail"])}">'
        f"{'✓' if check['passed'] else '✗'} {escape(check['name'])}</span>"
        for check in verdict["checks"]
    )
    evidence = "".join(
        f"<blockquote><cite>[{escape(name)}]</cite> "
        f"{_marked(passages.get(name, ''), verdict['say'])}</blockquote>"
        for name in verdict["citations"]
    )
    refused = verdict["decision"] == "refused" and verdict["detail"]
    detail = f" · {escape(verdict['detail'])}" if refused else ""
    return (
        f"<section><h2>{number}. {escape(turn.label)} {took}</h2>"
        f"<dl><dt>heard<dd>{escape(verdict['heard']) or '<i>nothing</i>'}"
        f"<dt>looked up<dd>{escape(query)}"
        f'<dt>decided<dd><span class="{verdict["decision"]}">{verdict["decision"]}</span> '
        f"({verdict['reason']}{detail}) {_score(verdict)}"
        f"<dt>said<dd>{escape(verdict['say'])}</dl>{evidence}<p>{checks}</p>{_course(turn)}</section>"
    )


def _course(turn: Turn) -> str:
    """What became of the reply, and how its question was heard again."""
    lines = []
    if turn.second is not None:
        lines.append(("again", second_line(turn.second)))
    lines += [
        ("resumed", f"the reply went on after {heard or 'a sound'}") for heard in turn.resumed
    ]
    if turn.taken_back_ms is not None:
        lines.append(("cut", f"taken back after {turn.taken_back_ms:.0f} ms: the caller went on"))
    elif turn.interrupted_after_ms is not None:
        lines.append(("cut", f"the caller cut in after {turn.interrupted_after_ms:.0f} ms"))
    return "".join(f'<p class="{kind}">{escape(line)}</p>' for kind, line in lines)


def second_line(second: Mapping[str, Any]) -> str:
    """A ``second_opinion`` event in words."""
    text = f" {second['text']!r}" if second["text"] else ""
    return f"heard again:{text} ({second['outcome']}, {second['ms']:.0f} ms)"


def _marked(passage: str, said: str) -> str:
    """The passage with the quoted sentence highlighted."""
    page = escape(passage)
    for sentence in (said, *said.split(". ")):
        quoted = escape(sentence)
        if quoted and quoted in page:
            return page.replace(quoted, f"<mark>{quoted}</mark>", 1)
    return page


def _score(verdict: Mapping[str, Any]) -> str:
    if verdict["score"] is None or verdict["floor"] is None:
        return ""
    score, floor = max(0.0, verdict["score"]), verdict["floor"]
    return (
        f'<svg class="score" viewBox="0 0 100 10" role="img" aria-label="score {score:.3f} '
        f'against floor {floor:.3f}"><rect width="100" height="10" class="track"/>'
        f'<rect width="{100 * min(1.0, score):.1f}" height="10" class="value"/>'
        f'<line x1="{100 * floor:.1f}" x2="{100 * floor:.1f}" y2="10" class="floor"/></svg>'
        f"{score:.3f} against floor {floor:.3f}"
    )


def _chart(turns: list[Turn]) -> str:
    """One stacked bar a turn: milliseconds from the caller's silence to the agent's voice."""
    shown = [(number, turn) for number, turn in enumerate(turns, 1) if "audible" in turn.stages_ms]
    if not shown:
        return ""
    longest = max(turn.stages_ms["audible"] for _, turn in shown)
    scale = 520 / max(longest, 1.0)
    bars = []
    for row, (number, turn) in enumerate(shown):
        y = 18 * row
        bars.append(f'<text x="24" y="{y + 11}" text-anchor="end">{number}</text>')
        marks = sorted((ms, kind) for kind, ms in turn.stages_ms.items() if kind in dict(_STAGES))
        for (start, _), (end, kind) in pairwise([(0.0, ""), *marks]):
            bars.append(
                f'<rect x="{30 + start * scale:.1f}" y="{y}" height="13" class="{kind}" '
                f'width="{max(0.0, end - start) * scale:.1f}"><title>{kind} at {end:.0f} ms'
                "</title></rect>"
            )
        total = turn.stages_ms["audible"]
        bars.append(f'<text x="{34 + total * scale:.1f}" y="{y + 11}">{total:.0f} ms</text>')
    key = " ".join(f'<span class="key {kind}">{what}</span>' for kind, what in _STAGES)
    return (
        "<h2>From the caller's silence to the agent's voice</h2>"
        f'<svg class="chart" viewBox="0 0 620 {18 * len(shown)}" role="img" '
        f'aria-label="latency by stage">{"".join(bars)}</svg><p>{key}</p>'
    )


_CSS = """
:root{color-scheme:light dark;--ink:light-dark(#1c2430,#e6eaf0);--paper:light-dark(#fff,#14181f);
--soft:light-dark(#eef1f5,#222934)}
body{font:16px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper);margin:0}
main{max-width:760px;margin:auto;padding:1.5rem}h1{font-size:1.5rem}h2{font-size:1.05rem}
section{border-top:1px solid var(--soft);padding:.3rem 0}h2 b{float:right}
dl{display:grid;grid-template-columns:6rem 1fr;gap:.2rem .8rem;margin:0}dt{opacity:.65}dd{margin:0}
blockquote{background:var(--soft);margin:.6rem 0;padding:.5rem .8rem;border-radius:6px}
cite{font:13px ui-monospace,monospace}mark{background:#ffe08a;color:#1c2430}
.answered{color:light-dark(#12703a,#6fd49a)}.refused,.fail,.cut{color:light-dark(#a3341c,#f0907a)}
.pass,.fail{white-space:nowrap}.pass{opacity:.65;font-size:.85rem;margin-right:.6rem}.fail{font-size:.85rem;margin-right:.6rem}
.score{width:110px;height:10px}.track{fill:var(--soft)}.value{fill:#3b82c4}
.floor{stroke:#d0402a;stroke-width:2}.chart{width:100%}.chart text{font-size:11px;fill:var(--ink)}
.paused{fill:#c9d1da;background:#7d8894}.heard{fill:#3b82c4;background:#3b82c4}.turn_model{fill:#7a5bc0;background:#7a5bc0}
.turn_ended{fill:#9aa5b1;background:#9aa5b1}.decided{fill:#d98a1f;background:#d98a1f}
.audible{fill:#2f9e6e;background:#2f9e6e}
.key{color:#fff;border-radius:4px;padding:0 .4rem;font-size:.8rem}audio{width:100%}
"""
