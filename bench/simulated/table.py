"""The figures of simulated calls as lines for a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bench.simulated.judging import OUTCOMES

Figures = Mapping[str, Any]
WORSE = "◂ worse than the rest"
_LATE_MS = 40


def lines(found: Figures, failed: int) -> list[str]:
    """The table, with at most ``failed`` of the calls that failed."""
    outcomes = found["outcomes"]
    shown = [
        f"{found['calls']} calls, {found['turns']} turns ({found['not_reached']} more were not "
        f"reached), judged by {found['judged_by']}",
        "",
        f"  right              {bound(found['right'])}",
        *(
            f"  {name.replace('_', ' '):18} {outcomes[name]:4}  {what}"
            for name, what in OUTCOMES.items()
            if name != "right"
        ),
        *_by_ear(found["by_ear"]),
        f"  crossed talk       {bound(found['crossed'])}",
        f"  ended properly     {bound(found['ended_properly'])}",
        *(f"    {count} × {problem}" for problem, count in found["problems"].items()),
        f"  reply              p50 {ms(found['reply']['p50_ms'])}, p95 "
        f"{ms(found['reply']['p95_ms'])}",
        f"  agent silenced     p95 {ms(found['barge_in']['p95_ms'])} of "
        f"{found['barge_in']['n']} interruptions",
        *busy(found),
    ]
    for name, values in found["factors"].items():
        shown += ["", f"{name:24} right", *factor(values)]
    calls = found["failed"]
    if calls and failed:
        shown += ["", f"calls to look at ({min(failed, len(calls))} of {len(calls)}):"]
        for call in calls[:failed]:
            shown += ["", *_call(call)]
    return shown


def busy(found: Figures) -> list[str]:
    """A line where the callers' own frames left late: then the machine is measured."""
    late_ms = found["callers_late_p95_ms"]
    if late_ms <= _LATE_MS:
        return []
    return [
        f"  ! this machine was too busy: callers' audio left up to {late_ms:.0f} ms late (load "
        f"{found['load_per_core']:g} a core); fewer --at-once"
    ]


def _by_ear(found: Figures | None) -> list[str]:
    if found is None:
        return []
    return [
        f"  right by ear       {bound(found['right'])}",
        f"  as the record says {bound(found['as_recorded'])}",
    ]


def factor(values: Figures) -> list[str]:
    """A line for each value, the worst first."""
    return [
        f"  {value:22} {bound(row['right'])}  {WORSE if is_worse(value, values) else ''}".rstrip()
        for value, row in values.items()
    ]


def is_worse(value: str, values: Figures) -> bool:
    """Whether turns with ``value`` are right less often than the others, beyond both bounds."""
    from rag.calibration import Rate

    mine = values[value]["right"]
    others = [row["right"] for name, row in values.items() if name != value]
    n = sum(row["n"] for row in others)
    rest = Rate.of(sum(row["count"] for row in others), n)
    return bool(n and mine["high"] < rest.low)


def bound(rate: Figures) -> str:
    """ "41 of 50, 82% (69 to 90)"."""
    if not rate["n"]:
        return "none"
    return (
        f"{rate['count']:4} of {rate['n']}, {rate['rate']:.0%} "
        f"({rate['low'] * 100:.0f} to {rate['high'] * 100:.0f})"
    )


def ms(value: float | None) -> str:
    """Milliseconds, or a dash."""
    return "–" if value is None else f"{value:.0f} ms"


def right(turn: Figures) -> str:
    """What would have been right, in a few words."""
    facts = ", ".join(" or ".join(fact) for fact in turn["facts"])
    return f"{turn['expect']}: {facts}" if facts else str(turn["expect"])


def conditions(call: Figures) -> str:
    """Who called from where: "awb, babble at 10 dB, 5 % lost"."""
    noise = f"{call['noise']['kind']} at {call['noise']['snr_db']:g} dB" if call["noise"] else ""
    line = "" if call["line"] == "good" else f"line: {call['line']}"
    end = f"ends: {call['ends']}" if call["ends"] != "hangs up" else ""
    return ", ".join(filter(None, (call["voice"], noise, line, end)))


def _call(call: Figures) -> list[str]:
    shown = [f"{call['name']}  ({conditions(call)})  {call['problem']}".rstrip()]
    for turn in call["turns"]:
        marks = [turn["outcome"].replace("_", " "), "crossed talk" if turn["crossed"] else ""]
        shown.append(f"  {', '.join(filter(None, marks)):18} {turn['asked']}")
        if turn["outcome"] != "right" or turn["crossed"]:
            shown += [
                f"    gold   {right(turn)}",
                f"    heard  {turn['heard'] or '–'}",
                f"    said   {turn['said'] or '–'}",
            ]
    return [*shown, f"  again: {call['again']}"]
