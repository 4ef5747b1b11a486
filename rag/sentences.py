"""Text cut into sentences: English, Hindi, Bengali, Gujarati, Tamil and Telugu."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from rag.days import WEEKDAYS

# Where a sentence may end. A danda (U+0964, doubled U+0965, and Bengali's look-alike U+09F7) is
# never inside a word and needs no space after it; the others do, or "5.30" would be two sentences.
# A run of stops is tried once, from its start: tried at each stop, 10,000 dots took 1.9 seconds.
_CLOSERS = "[\"'”’»)\\]]*"
_END = re.compile(
    rf"(?<![.!?…])[.!?…]*+[।॥৷][.!?…।॥৷]*{_CLOSERS}\s*"
    rf"|(?<![.!?…])(?P<mark>[.!?…]++)(?P<closed>{_CLOSERS})\s+"
    r"|\n\s*\n\s*"
)
_OPENERS = "([\"'“‘«"
_INITIAL = re.compile(r"[A-Z]\.")
# "कि.मी.", "एम.जी.आर.": short parts, each with its full stop. Devanagari to Telugu.
_INDIC_PARTS = re.compile(r"(?:[\u0900-\u0c7f]{1,4}\.){2,}")
_MONTHS = (
    "january february march april may june july august september october november december"
).split()
# After "8 a.m." these go on with the sentence when what follows them does not start a new one.
_GOES_ON = frozenset(WEEKDAYS) | frozenset(_MONTHS) | {"eastern", "central", "pacific", "mountain"}
_LINKS = frozenset({"to", "through", "thru", "and", "or", "until", "till", "on", "time", ""})
# How many characters around a full stop decide about it.
_REACH = 100


def split_sentences(text: str) -> list[str]:
    """``text`` cut after ``.``, ``!``, ``?``, ``…`` and dandas, and at blank lines.

    Closing quotes and brackets stay with their sentence. A full stop in an abbreviation, an
    initial or the number of a list item does not cut. "a.m." and its like end a sentence only when
    a capitalised word follows that does not go on with it ("until 1 p.m. On Sunday" is cut, "from
    8 a.m. Monday through Friday" is not). In Indic scripts an abbreviation never ends one.
    """
    return [text[start:end] for start, end in sentence_spans(text)]


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Where the sentences of ``text`` start and end, without the white space between them."""
    spans, start = [], 0
    for end in _ends(text):
        sentence = text[start:end]
        if stripped := sentence.strip():
            first = start + len(sentence) - len(sentence.lstrip())
            spans.append((first, first + len(stripped)))
        start = end
    return spans


def _ends(text: str) -> Iterator[int]:
    start = 0
    for found in _END.finditer(text):
        if _is_end(text, start, found):
            start = found.end()
            yield start
    yield len(text)


def _is_end(text: str, start: int, found: re.Match[str]) -> bool:
    """Whether the sentence that begins at ``start`` ends where ``found`` is."""
    if found["mark"] is None or found.group().count("\n") > 1:
        return True
    mark, following = found["mark"], text[found.end() : found.end() + _REACH]
    if (found["closed"] or mark.endswith(("…", ".."))) and _first(following).islower():
        return False  # '"Are you open?" he asked', "wait… what"
    if mark != ".":
        return True
    stop = found.end("mark")
    before = text[max(start, stop - _REACH) : stop].split()
    return _ends_sentence(before[-1], before[-2] if len(before) > 1 else "", following)


def _ends_sentence(last: str, previous: str, after: str) -> bool:
    """Whether the full stop of the word ``last`` ends a sentence; ``previous`` is before it."""
    last = last.lstrip(_OPENERS)
    following = [*after.split(maxsplit=2), "", ""]
    starts_anew = _first(after).isupper()
    kind = _abbreviations().get(last.lower())
    if kind == "before" or _INDIC_PARTS.fullmatch(last) or (not previous and last[:-1].isdigit()):
        return False
    if kind == "number":
        return not following[0][:1].isdigit()
    if kind == "place":
        # "on Main St. Parking is free", but "near St. Mary's".
        return starts_anew and previous[:1].isupper()
    if kind == "after":
        return starts_anew and not _goes_on(following)
    if _INITIAL.fullmatch(last):
        # "J. Smith" and "Dr. J. Smith", but "vitamin D. Results".
        is_initial = not previous or previous[:1].isupper()
        return starts_anew and not is_initial
    return True


def _goes_on(following: list[str]) -> bool:
    name, link = following[0].lower(), following[1].lower().strip(",;")
    if name.rstrip(".,;!?").rstrip("s") not in _GOES_ON:
        return False
    return name[-1:] in ".,;!?" or link in _LINKS


def _first(following: str) -> str:
    return following.lstrip(_OPENERS)[:1]


@cache
def _abbreviations() -> dict[str, str]:
    path = Path(__file__).with_name("data") / "abbreviations.txt"
    lines = (line.partition("#")[0].split() for line in path.read_text("utf-8").splitlines())
    return {word: line[0] for line in lines if line for word in line[1:]}
