"""What of a sentence has to be understood, and whether a transcript holds it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from rag.facts import Fact
from rag.repair.nearness import between
from rag.repair.second import RULE
from speech.spoken_values import Value, agree, values_of

# The distance up to which the agent takes words of a caller for a name that sounds alike.
_FARTHEST = RULE.farthest
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_CAPITAL = r"[A-Z][\w'’-]*"
_NAMES = re.compile(rf"{_CAPITAL}(?: {_CAPITAL})*")
_SENTENCE_STARTS = re.compile(r"(?:^|[.!?:;] )\W*$")
_DIGIT = r"(?:zero|oh|o|one|two|three|four|five|six|seven|eight|nine|\d)"
_APART = re.compile(rf"\b({_DIGIT}),? (?={_DIGIT}\b)", re.I)
_IN_WORDS = frozenset({"time", "money", "date", "address"})
_HALF = re.compile(r"\b([ap])\.? ?m\b\.*", re.I)
_LETTERS = re.compile(r"\b[^\W\d_](?:[ .,-]{1,2}[^\W\d_]\b)+")
_WINDOW_MORE = 3  # words heard for a name beyond those that it has: "Mill Brook"


@dataclass(frozen=True, slots=True)
class Item:
    """A value or a name that must be understood, as it is written.

    ``value`` is None for a name, and for what is said in plain words.
    """

    kind: str
    text: str
    value: Value | None = None


def names_of(sentences: Iterable[str]) -> tuple[str, ...]:
    """The words that are written with a capital within a sentence."""
    found = set()
    for text in sentences:
        for match in re.finditer(_CAPITAL, text):
            if not _SENTENCE_STARTS.search(text[: match.start()]):
                found.add(match[0])
    return tuple(sorted(found))


def items_in(text: str, names: Sequence[str], facts: Sequence[Fact] = ()) -> tuple[Item, ...]:
    """The values and the names that ``text`` states; ``names`` are :func:`names_of` all.

    Of ``facts``, those in words: "closed", "free", "around the clock".
    """
    values = values_of(text)
    found = [
        Item(one.kind.value, text[one.start : one.end], one)
        for one in values
        if text[one.start : one.end].lower() != "one"  # of these days
    ]
    for fact in facts:
        start, end = fact.value.start, fact.value.end
        is_known = any(one.start < end and start < one.end for one in values)
        if fact.kind in _IN_WORDS and not is_known:
            found.append(Item(fact.kind, text[start:end]))
    found = list(dict.fromkeys(found))
    known = frozenset(names)
    for match in _NAMES.finditer(text):
        if any(one.start < match.end() and match.start() < one.end for one in values):
            continue
        words = match[0].split()
        is_first = _SENTENCE_STARTS.search(text[: match.start()])
        # "A" is the article there, and not the lot.
        if is_first and (words[0] not in known or len(words[0]) == 1):
            words = words[1:]
        if words and any(len(word) > 1 for word in words):
            found.append(Item("name", " ".join(words)))
    return tuple(found)


def lost(items: Sequence[Item], heard: str) -> tuple[Item, ...]:
    """Those of ``items`` that a transcript does not hold; each value of it counts once."""
    text = _as_values_are_written(heard)
    there = list(values_of(text))
    words = [word.lower() for word in _WORD.findall(text)]
    words += _spelled(text)
    missing = []
    for item in items:
        if item.value is None:
            if not _is_named(item.text, words):
                missing.append(item)
            continue
        found = next((one for one in there if agree(one, item.value)), None)
        if found is None:
            missing.append(item)
        else:
            there.remove(found)
    return tuple(missing)


def places_of(item: Item, words: str) -> Iterator[tuple[int, int]]:
    """Where ``words``, read aloud, say ``item``."""
    if item.value is None:
        at = words.lower().find(item.text.lower())
        if at >= 0:
            yield at, at + len(item.text)
        return
    for one in values_of(words):
        if agree(one, item.value):
            yield one.start, one.end


def _as_values_are_written(heard: str) -> str:
    """``five, five, five`` and ``seven p. M..`` as one would write them."""
    return _HALF.sub(lambda m: f"{m[1].lower()}.m.", _APART.sub(r"\1 ", heard))


def _spelled(heard: str) -> list[str]:
    """The words that were spelled: "A E T N A", "A-E-T-N-A"."""
    return [re.sub(r"[\W_]", "", run).lower() for run in _LETTERS.findall(heard)]


def _is_named(name: str, heard: Sequence[str]) -> bool:
    """Whether some words heard sound like ``name``."""
    wanted = tuple(word.lower() for word in _WORD.findall(name))
    if not wanted:
        return True
    longest = len(wanted) + _WINDOW_MORE
    return any(
        between(tuple(heard[start:end]), wanted) <= _FARTHEST
        for start in range(len(heard))
        for end in range(start + 1, min(start + longest, len(heard)) + 1)
    )
