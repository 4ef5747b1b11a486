"""What callers ask that is none of the clinic's business, and what they say to the call itself.

CLINC150, ``clinc_oos.jsonl``: https://github.com/clinc/oos-eval (CC-BY-3.0), asked of the sample
clinic at its own floors, which none of these rows set.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from bench.public.rows import read, table
from rag import Policy, answer, evaluate_answers, make_query, questions
from rag.calibration import SAMPLE_KB, Rate
from rag.search import sample_index
from rag.types import Decision

FILES = ("clinc_oos.jsonl",)
OUT_OF_SCOPE = "out_of_scope"
CALL_CONTROL = (
    "repeat", "goodbye", "thank_you", "greeting", "are_you_a_bot", "change_volume", "change_speed",
)  # fmt: skip


def run(data: Path, *, progress: Callable[[int, int], None] | None = None) -> dict[str, Any]:
    """``wrongly_answered`` of the questions out of scope, ``understood`` of those to the call.

    ``over_refused`` is of the clinic's own answerable questions as typed, each judged by floors
    set without it.
    """
    index = sample_index()
    counts = {label: {d.value: 0 for d in Decision} for label in (OUT_OF_SCOPE, *CALL_CONTROL)}
    rows = [row for row in read(data / FILES[0]) if row["label"] in counts]
    for done, row in enumerate(rows, 1):
        verdict = answer(make_query(row["text"], fillers=index.kb.fillers), index, Policy())
        counts[row["label"]][verdict.decision.value] += 1
        if progress:
            progress(done, len(rows))
    own = questions.asked(
        questions.read(SAMPLE_KB / questions.QUESTIONS_FILE),
        [questions.TYPED],
        fillers=index.kb.fillers,
    )
    answerable = sum(one.question.decision is Decision.ANSWERED for one in own)
    refused = evaluate_answers(index, own)["wrong"]
    over = sum(
        row["outcome"] == "over_refused"
        and row["decision"] != "conversation"
        and bool(row["facts"])
        for row in refused
    )
    control = [counts[label] for label in CALL_CONTROL]
    return {
        "out_of_scope": {
            "n": sum(counts[OUT_OF_SCOPE].values()),
            "wrongly_answered": _rate(counts[OUT_OF_SCOPE], Decision.ANSWERED),
        },
        "call_control": {
            label: {
                "n": sum(counts[label].values()),
                "understood": _rate(counts[label], Decision.CONVERSATION),
            }
            for label in CALL_CONTROL
        },
        "control_answered_from_documents": sum(c[Decision.ANSWERED.value] for c in control),
        "clinic": {"n": answerable, "over_refused": asdict(Rate.of(over, answerable))},
    }


def printed(figures: dict[str, Any]) -> str:
    """The figures as a table."""
    rows: list[list[object]] = [
        ["out of scope: wrongly answered", Rate(**figures["out_of_scope"]["wrongly_answered"])],
        ["clinic's own, typed: over-refused", Rate(**figures["clinic"]["over_refused"])],
    ]
    for label, found in figures["call_control"].items():
        rows.append([f"{label}: understood", Rate(**found["understood"])])
    return table(("CLINC150 over the clinic", "rate"), rows)


def _rate(counts: dict[str, int], decision: Decision) -> dict[str, Any]:
    return asdict(Rate.of(counts[decision.value], sum(counts.values())))
