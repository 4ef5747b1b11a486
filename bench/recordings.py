"""The recorded callers of ``tests/audio`` as turns for a test call."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from frontdesk import ConfigError
from telephony.caller import CallerTurn, load_audio

ROOT = Path(__file__).resolve().parent.parent
AUDIO = ROOT / "tests" / "audio"
QUESTIONS = ROOT / "kb" / "clinic" / "questions.jsonl"


@cache
def clips() -> list[dict[str, Any]]:
    """The index of recordings: file, id, voice, noise, seconds.

    Raises:
        ConfigError: outside a checkout, where there are none.
    """
    return _rows(AUDIO / "index.jsonl")


@cache
def questions() -> dict[str, dict[str, Any]]:
    """The gold questions by id."""
    return {row["id"]: row for row in _rows(QUESTIONS)}


def turn(
    question: str, voice: str, *, interrupts: bool = False, expect_reply: bool = True
) -> CallerTurn:
    """Question ``question`` in ``voice``.

    Raises:
        ConfigError: if that pair was not recorded.
    """
    for clip in clips():
        if clip["question"] == question and clip["voice"] == voice:
            return CallerTurn(
                load_audio(AUDIO / clip["file"]),
                questions()[question]["text"],
                interrupt_after_ms=600.0 if interrupts else None,
                expect_reply=expect_reply,
            )
    raise ConfigError(f"no recording of {question} by {voice} in {AUDIO}")


def voices_of(question: str) -> list[str]:
    """The voices that recorded ``question``, in file order."""
    return [clip["voice"] for clip in clips() if clip["question"] == question]


def _rows(path: Path) -> list[dict[str, Any]]:
    try:
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    except FileNotFoundError:
        raise ConfigError(f"{path} is missing; benchmarks run in a checkout") from None
