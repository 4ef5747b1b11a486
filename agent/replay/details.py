"""Every word of a conversation passed through what replaces personal details."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from agent.replay.case import Turn

Replace = Callable[[str], str]
WORDS = ("query", "say", "said")
"""Fields of what is expected that hold words."""
_SPOKEN = ("say", "heard_whole", "heard_words", "cut_sentence", "rest")


def without_details(turn: Turn, stand_ins: Replace) -> Turn:
    """``turn`` with every word that was said or heard passed through ``stand_ins``."""
    expect = {k: in_words(v, stand_ins) if k in WORDS else v for k, v in turn.expect.items()}
    return replace(
        turn,
        heard=stand_ins(turn.heard),
        second=stand_ins(turn.second),
        rewritten=stand_ins(turn.rewritten),
        before=tuple(_spoken(event, stand_ins) for event in turn.before),
        generated=_spoken(turn.generated, stand_ins),
        expect=expect,
    )


def in_words(value: Any, stand_ins: Replace) -> Any:
    """``value``, a text or a list of them, passed through ``stand_ins``."""
    if isinstance(value, str):
        return stand_ins(value)
    return [in_words(one, stand_ins) for one in value] if isinstance(value, list) else value


def _spoken(fields: Mapping[str, Any], stand_ins: Replace) -> dict[str, Any]:
    """``fields`` of an event: words in their places, everything else as it is."""
    return {name: stand_ins(v) if name in _SPOKEN else v for name, v in fields.items()}
