"""The labelled texts: what callers say and type, with what is personal marked."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from agent.privacy import Found, Kind

HALVES = ("development", "held_out")
TAGS = {
    "card": Kind.CARD, "phone": Kind.PHONE, "email": Kind.EMAIL, "dob": Kind.BIRTH,
    "account": Kind.ACCOUNT, "name": Kind.NAME,
}  # fmt: skip
_FOLDER = Path(__file__).parent
_TAG = re.compile(r"<(/?)(" + "|".join(TAGS) + r")>")


@dataclass(frozen=True, slots=True)
class Example:
    """A text and what is personal in it; ``style`` is "spoken" or "typed"."""

    text: str
    personal: tuple[Found, ...]
    style: str


def examples(half: str) -> list[Example]:
    """The examples of one of ``HALVES``."""
    path = _FOLDER / f"redaction-{half.replace('_', '-')}.jsonl"
    lines = path.read_text("utf-8").splitlines()
    return [_example(json.loads(line)) for line in lines]


def _example(row: dict[str, str]) -> Example:
    text, spans = "", []
    begun: tuple[Kind, int] | None = None
    for closes, tag, plain in _pieces(row["marked"]):
        if tag and not closes:
            begun = (TAGS[tag], len(text))
        elif tag and begun is not None:
            spans.append(Found(begun[0], begun[1], len(text)))
        text += plain
    return Example(text, tuple(spans), row["style"])


def _pieces(marked: str) -> Iterator[tuple[bool, str, str]]:
    """Text and tags in order: whether a tag closes, its name, the text after it."""
    parts = _TAG.split(marked)
    yield False, "", parts[0]
    for at in range(1, len(parts), 3):
        yield parts[at] == "/", parts[at + 1], parts[at + 2]
