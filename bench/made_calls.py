"""Call records by the thousand, seeded: real questions with their real answers, made-up times."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from agent.session import Session, verdict_json
from rag import Index, Policy

Event = dict[str, Any]

_LAST = datetime(2026, 11, 30, 18, tzinfo=UTC)
_EVERY = timedelta(minutes=13)  # 10,000 calls in three months
_WIRES = ("twilio", "sip", "browser")
_ENDINGS = ("caller hung up",) * 8 + ("agent hung up", "transferred")
_STAGES = (("paused", 96), ("heard", 160), ("turn_ended", 181), ("decided", 200))


def verdicts(index: Index, questions: Path) -> list[Event]:
    """The ``verdict`` event of every question in the file, each asked in a call of its own."""
    found = []
    for line in questions.read_text("utf-8").splitlines():
        heard = json.loads(line)["asr"]
        reply = Session(index, Policy()).reply(heard)
        found.append({"heard": heard, "kb": reply.kb, **verdict_json(reply.verdict)})
    return found


def made_calls(answers: list[Event], many: int, seed: int = 7) -> Iterator[tuple[str, list[Event]]]:
    """Id and events of ``many`` calls of four to eight turns, the oldest first."""
    dice = random.Random(seed)
    for number in range(many):
        at = _LAST - (many - number) * _EVERY
        call_id = f"CA{seed:02d}{number:08d}"
        turns = [dice.choice(answers) for _ in range(dice.randint(4, 8))]
        yield f"{at:%Y%m%dT%H%M%S%f}-{call_id}", _events(call_id, at, turns, dice)


def _events(call_id: str, at: datetime, turns: list[Event], dice: random.Random) -> list[Event]:
    events: list[Event] = []
    now = 0.0

    def add(kind: str, after_ms: float, **fields: Any) -> None:
        nonlocal now
        now = round(now + after_ms, 1)
        events.append({"seq": len(events), "t_ms": now, "event": kind, **fields})

    add(
        "call_started", 0, call_id=call_id, at=at.isoformat(timespec="milliseconds"),
        caller=f"…{dice.randint(0, 99):02d}", called="…01",
    )  # fmt: skip
    add("ready", 2, wire=dice.choice(_WIRES), kb=turns[0]["kb"], passages=40)
    add("said", 1, turn=0, say="Thanks for calling. How can I help you?")
    add("reply_started", 2, turn=0, stages_ms={})
    add("reply_ended", 2400, turn=0, played_ms=2400)
    for number, answer in enumerate(turns, 1):
        add("verdict", dice.uniform(2000, 9000), turn=number, **answer)
        late = dice.uniform(0, 60)
        stages = {name: round(ms + late, 1) for name, ms in _STAGES}
        stages["audible"] = round(stages["decided"] + dice.expovariate(1 / 120) + 10, 1)
        add("reply_started", 5, turn=number, stages_ms=stages)
        add(
            "reply_ended", 60.0 * len(answer["say"]), turn=number, played_ms=60 * len(answer["say"])
        )
    add("call_ended", dice.uniform(300, 3000), reason=dice.choice(_ENDINGS))
    return events
