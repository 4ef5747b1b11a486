"""Counts of simulated calls, in all and by what may have hurt, with bounds.

The bounds are Wilson's 95 % interval over turns (JASA 22, 1927), as if turns were independent;
those of one call are not quite, so that they are a little too narrow.
"""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from bench.results import percentiles
from bench.simulated.judging import OUTCOMES
from bench.simulated.outcomes import CallOutcome, TurnOutcome
from bench.simulated.plan import Conversation
from bench.simulated.sound import noise_in
from bench.simulated.voices import Cast
from rag.calibration import Rate
from telephony.bad_line import BadLine

Pair = tuple[CallOutcome, TurnOutcome]


def figures(calls: Sequence[CallOutcome], cast: Cast) -> dict[str, Any]:
    """Everything that is counted, and every call that failed."""
    pairs = [(call, turn) for call in calls for turn in call.turns]
    turns = [turn for _, turn in pairs]
    latencies = [turn.latency_ms for turn in turns if turn.latency_ms is not None]
    cuts = [turn.barge_in_ms for turn in turns if turn.barge_in_ms is not None]
    late = [call.held.result.send_late_ms for call in calls]
    return {
        "judged_by": "record" if any(call.held.events for call in calls) else "ear",
        "calls": len(calls),
        "turns": len(turns),
        "not_reached": sum(call.not_reached for call in calls),
        **_counts(turns),
        "by_ear": _by_ear([turn for call, turn in pairs if call.held.events is not None]),
        "crossed": _rate(sum(turn.crossed for turn in turns), len(turns)),
        "ended_properly": _rate(sum(not call.problem for call in calls), len(calls)),
        "problems": dict(Counter(call.problem for call in calls if call.problem)),
        "reply": percentiles(latencies),
        "barge_in": {"n": len(cuts), **percentiles(cuts)},
        "callers_late_p95_ms": round(max((one.p95 for one in late if one), default=0.0), 1),
        "load_per_core": round(os.getloadavg()[0] / (os.cpu_count() or 1), 1),
        "factors": _factors(pairs, cast),
        "failed": [failed_json(call) for call in calls if call.failed],
    }


def _counts(turns: Sequence[TurnOutcome]) -> dict[str, Any]:
    counted = Counter(turn.outcome for turn in turns)
    outcomes = {name: counted[name] for name in OUTCOMES}
    return {"right": _rate(counted["right"], len(turns)), "outcomes": outcomes}


def _by_ear(turns: Sequence[TurnOutcome]) -> dict[str, Any] | None:
    """How often the caller's ear says the same as the agent's record; None if nobody listened."""
    listened = [turn for turn in turns if turn.by_ear is not None]
    if not listened:
        return None
    differing = [t for t in listened if (t.by_ear == "right") != (t.outcome == "right")]
    return {
        "right": _rate(sum(turn.by_ear == "right" for turn in listened), len(listened)),
        "as_recorded": _rate(len(listened) - len(differing), len(listened)),
        "differing": [
            {
                "asked": turn.turn.label,
                "facts": [list(fact) for fact in turn.turn.gold.facts],
                "outcome": turn.outcome,
                "by_ear": turn.by_ear,
                "said": turn.said,
                "listened": turn.listened,
            }
            for turn in differing
        ],
    }


def _rate(count: int, n: int) -> dict[str, Any]:
    bound = Rate.of(count, n)
    rate = bound.rate if n else None
    return {"count": count, "n": n, "rate": rate, "low": bound.low, "high": bound.high}


def _factors(pairs: Sequence[Pair], cast: Cast) -> dict[str, dict[str, Any]]:
    keys: Mapping[str, Callable[[Pair], str]] = {
        "asked": lambda pair: pair[1].turn.kind,
        "voice": lambda pair: _voice(pair),
        "noise": lambda pair: noise_in(pair[0].call, pair[1].turn, cast).partition(",")[0],
        "signal to noise": lambda pair: _snr(pair[0].call),
        "line": lambda pair: line_name(pair[0].call.line),
        "cuts in": lambda pair: "no" if pair[1].turn.cuts_in_ms is None else "yes",
        "turn": lambda pair: _place(*pair),
    }
    return {name: _split(pairs, key) for name, key in keys.items()}


def _split(pairs: Iterable[Pair], key: Callable[[Pair], str]) -> dict[str, Any]:
    groups: defaultdict[str, list[TurnOutcome]] = defaultdict(list)
    for pair in pairs:
        groups[key(pair)].append(pair[1])
    found = {
        value: {**_counts(turns), "crossed": sum(turn.crossed for turn in turns)}
        for value, turns in groups.items()
    }
    return dict(sorted(found.items(), key=lambda item: (item[1]["right"]["rate"], item[0])))


def _voice(pair: Pair) -> str:
    call, turn = pair
    return call.call.voice if turn.turn.words else "no voice"


def _snr(call: Conversation) -> str:
    return f"{call.noise.snr_db:g} dB" if call.noise else "no noise of ours"


def _place(call: CallOutcome, turn: TurnOutcome) -> str:
    return "first" if call.turns[0] is turn else "later"


def line_name(line: BadLine) -> str:
    """What is bad of a line: "5 % lost, 40 ms jitter"; "good"."""
    parts = [
        f"{line.loss_percent:g} % lost" if line.loss_percent else "",
        f"{line.jitter_ms:g} ms jitter" if line.jitter_ms else "",
        f"{line.gap_ms:g} ms gaps" if line.gap_ms else "",
        f"{line.gain_db:+g} dB" if line.gain_db else "",
        f"hiss at {line.noise_db:g} dB" if line.noise_db is not None else "",
    ]
    return ", ".join(filter(None, parts)) or "good"


def failed_json(call: CallOutcome) -> dict[str, Any]:
    """All that a person needs of a call that failed, with the arguments that hold it again."""
    plan = call.call
    return {
        "name": plan.name,
        "number": plan.number,
        "voice": plan.voice,
        "noise": asdict(plan.noise) if plan.noise else None,
        "line": line_name(plan.line),
        "ends": plan.ends,
        "problem": call.problem,
        "not_reached": call.not_reached,
        "sent": call.held.sent,
        "again": f"frontdesk eval calls {plan.again}",
        "turns": [_turn_json(turn) for turn in call.turns],
    }


def _turn_json(one: TurnOutcome) -> dict[str, Any]:
    gold = one.turn.gold
    return {
        "asked": one.turn.label,
        "cuts_in_ms": one.turn.cuts_in_ms,
        "heard": one.heard,
        "said": one.said,
        "outcome": one.outcome,
        "by_ear": one.by_ear,
        "crossed": one.crossed,
        "expect": gold.expect.value,
        "facts": [list(fact) for fact in gold.facts],
        "relevant": list(gold.relevant),
        "question": gold.question,
        "decision": one.decision,
        "reason": one.reason,
        "score": one.score,
        "floor": one.floor,
        "citations": list(one.citations),
        "reply_ms": None if one.latency_ms is None else round(one.latency_ms, 1),
        "barge_in_ms": None if one.barge_in_ms is None else round(one.barge_in_ms, 1),
    }
