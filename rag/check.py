"""What is wrong with a knowledge base before anyone calls.

Five kinds: ``empty``, ``duplicate``, ``contradictory``, ``expired`` and ``instruction``; and
``incomplete`` for a file of which a part could not be used. Rules that would rather miss than
accuse: two sentences contradict each other only if they say the same words about the same days
and differ in one kind of number, so that an adult's price never stands against a child's.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from itertools import combinations
from typing import Literal

from rag.days import named_days
from rag.duplicates import DAY_WORD, Bag, near_duplicates
from rag.numbers import digits
from rag.readers import Document, to_passages
from rag.readers.dates import DATES, HOLDS_YEAR, ends
from rag.readers.instructions import hidden_instruction, instruction, short
from rag.sentences import split_sentences
from rag.types import Passage

Kind = Literal["empty", "duplicate", "contradictory", "expired", "instruction", "incomplete"]

_MOST = 100
"""Of the ways in which one thing is said, so many are compared with each other."""

_STOP = frozenset(
    "a an the and or of to in on at for from by with is are was be been being it its this that "
    "these those as will can may please also now usually currently always just we our us you your "
    "through thru until till between there".split()
)
# Words that one fact is put in one way or another.
_SAME = {
    **dict.fromkeys(("costs", "price", "prices", "priced", "fee", "fees", "charge"), "cost"),
    **dict.fromkeys(("takes", "lasts", "last"), "take"),
    **dict.fromkeys(("phone", "telephone", "ring", "calls"), "call"),
    **dict.fromkeys(("opens", "opened"), "open"),
}
# Too common to say what a sentence is about when the headings above differ.
_GENERIC = frozenset("cost take call open close due pay need hour time day available visit".split())
_PLAN = re.compile(
    r"\b(?=.*\b(?:hours|schedule|fees|prices|rates|calendar|season|holidays?)\b).*"
    r"\b((?:19|20)\d\d)\b",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing to mend. ``passage_ids`` holds the document's id where no passage is meant."""

    kind: Kind
    passage_ids: tuple[str, ...]
    detail: str


@dataclass(frozen=True, slots=True)
class _Item:
    """One passage as the checks see it; ``key`` is a table row's first cell."""

    id: str
    text: str
    heading: str = ""
    question: str = ""
    key: str = ""


@dataclass(frozen=True, slots=True)
class _Said:
    """One sentence: what it is about, and its numbers by kind in their order."""

    item: _Item
    sentence: str
    about: frozenset[str]
    values: dict[str, tuple[str, ...]] = field(hash=False)


Progress = Callable[[str, int, int], None]


def check(
    sources: Iterable[Passage | Document], today: date, progress: Progress | None = None
) -> list[Finding]:
    """Everything wrong with ``sources``, kind by kind; ``today`` decides what has expired.

    ``progress`` is called with "check", the kinds looked for, and how many there are. 40,000
    passages of a sentence or two take about 6 s on one core.
    """
    findings: list[Finding] = []
    items: list[_Item] = []
    for source in sources:
        if isinstance(source, Document):
            findings += _of_document(source)
            items += _items(source)
        else:
            asked = source.heading if source.heading.endswith("?") else ""
            items.append(_Item(source.id, source.text, source.heading, asked))
    empty = [item for item in items if not re.search(r"\w", item.text)]
    findings += [Finding("empty", (item.id,), "it holds no words") for item in empty]
    items = [item for item in items if re.search(r"\w", item.text)]
    kinds = (
        lambda: _duplicates(items),
        lambda: _contradictions(items),
        lambda: _expired(items, today),
        lambda: _instructions(items),
    )
    for done, look in enumerate(kinds):
        if progress:
            progress("check", done, len(kinds))
        findings += look()
    if progress:
        progress("check", len(kinds), len(kinds))
    return findings


def _of_document(document: Document) -> Iterator[Finding]:
    if not document.blocks:
        yield Finding("empty", (document.id,), "the document holds no text")
    for block in document.blocks:
        if not block.text:
            yield Finding("empty", (document.id,), f"no answer to {block.question!r}")
    for note in document.notes:
        yield Finding("incomplete", (document.id,), note)
    for text in document.hidden:
        found = hidden_instruction(text)
        if found:
            yield Finding("instruction", (document.id,), f"hidden text, {found}: {short(text)!r}")


def _items(document: Document) -> Iterator[_Item]:
    blocks = (block for block in document.blocks if block.text)
    for passage, block in zip(to_passages(document), blocks, strict=True):
        key = block.text.partition(";")[0] if block.kind == "row" else ""
        yield _Item(passage.id, block.text, block.heading, block.question or "", key)


# Duplicates


def _duplicates(items: Sequence[_Item]) -> Iterator[Finding]:
    """Passages of the same words, or nearly."""
    same: dict[Bag, list[_Item]] = defaultdict(list)
    for item in items:
        same[_bag(item)].append(item)
    bags = list(same)
    for one, other in near_duplicates(bags):
        same[bags[one]] += same.pop(bags[other])
    for group in same.values():
        if len(group) > 1:
            ids = tuple(item.id for item in group)
            yield Finding("duplicate", ids, f"the same words twice: {short(group[0].text)!r}")


def _bag(item: _Item) -> Bag:
    """The words of a passage; a short answer ("Yes, it is.") is only the same to one question."""
    words = frozenset(_tokens(item.text))
    return words if len(words) > 3 else words | set(_tokens(f"{item.heading} {item.question}"))


# Contradictions

_NUMBER = re.compile(
    r"(?P<phone>(?<!\d)\+?\(?\d{3}\)?[-. ]\d{3,4}(?:[-. ]\d{4})?\b)"
    r"|(?P<money>[$€£₹]\s?\d[\d,]*(?:\.\d+)?"
    r"|\d[\d,]*(?:\.\d+)?\s(?:dollars?|euros?|pounds?|rupees?|cents?)\b)"
    r"|(?P<percent>\d+(?:\.\d+)?\s?(?:%|percent\b|per cent\b))"
    r"|(?P<time>\d{1,2}(?::\d{2})?\s?(?:[ap]\.?m\b\.?|noon\b|midnight\b)|\d{1,2}:\d{2})"
    r"|(?P<span>\d+(?:\.\d+)?(?:\s(?:business|working|calendar))?[\s-]"
    r"(?:second|minute|hour|day|week|month|year)s?\b)"
    r"|(?P<count>\d[\d,]*(?:\.\d+)?)",
    re.I,
)
# A digit, or a word that stands for some: sentences without are spared the work.
_HOLDS_NUMBER = re.compile(
    r"\d|\b(?:zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|hundred"
    r"|[a-z]+teen|[a-z]+ty)\b",
    re.I,
)
_TIMES = frozenset({"time"})


def _contradictions(items: Sequence[_Item]) -> Iterator[Finding]:
    said: dict[frozenset[str], list[_Said]] = defaultdict(list)
    for item in items:
        for sentence in split_sentences(item.text):
            one = _said(item, sentence) if _HOLDS_NUMBER.search(sentence) else None
            if one and one.values and one.about:
                said[one.about].append(one)
    for group in said.values():
        # One of each way to say it; the others are duplicates.
        ways = list({(str(one.values), one.item.heading): one for one in reversed(group)}.values())
        ways = ways[::-1][:_MOST]
        pairs = [pair for pair in combinations(ways, 2) if _conflicts(*pair)]
        if pairs:
            against = {id(one): one for pair in pairs for one in pair}.values()
            ids = tuple(dict.fromkeys(one.item.id for one in against))
            text = " / ".join(short(one.sentence) for one in list(against)[:4])
            yield Finding("contradictory", ids, text)


def _said(item: _Item, sentence: str) -> _Said:
    values: dict[str, list[str]] = defaultdict(list)
    text = _digits_of_any_script(unicodedata.normalize("NFKC", sentence).lower())
    text = text.replace("’", "'")
    for _, pattern in DATES if HOLDS_YEAR.search(text) else ():
        text = pattern.sub(_as_word, text)
    text = " ".join(digits(text.split()))
    found_at: list[tuple[str, str, int]] = []

    def mask(found: re.Match[str]) -> str:
        kind = str(found.lastgroup)
        value = re.sub(r"[\s,.-]+", "" if kind != "span" else " ", found.group().lower())
        found_at.append((kind, _value(kind, value), found.start()))
        return f" #{kind} "

    masked = _NUMBER.sub(mask, text)
    about = set(_tokens(masked + " " + item.question))
    for kind, value, start in found_at:
        # "Bus 14 stops here": a number that names the subject.
        if kind == "count" and (len(found_at) > 1 or len(text[:start].split()) < 3):
            about.add(value)
        else:
            values[kind].append(value)
    about -= {token for token in about if DAY_WORD.fullmatch(token)}
    about |= {f"@{day}" for day in named_days(sentence)} | {f"#{kind}" for kind in values}
    if item.key:
        about.add(item.key.casefold())
    return _Said(item, sentence, frozenset(about), {k: tuple(v) for k, v in values.items()})


def _digits_of_any_script(text: str) -> str:
    """Digits of other scripts ("१२") as 0 to 9, so that they are the same numbers."""
    if text.isascii():
        return text
    return "".join(str(unicodedata.digit(c)) if c.isdigit() else c for c in text)


def _as_word(found: re.Match[str]) -> str:
    """A date as one word without digits: part of what the sentence is about, not a number."""
    letters = found.group().translate({ord(str(n)): "abcdefghij"[n] for n in range(10)})
    return re.sub(r"\W", "", letters)


def _value(kind: str, text: str) -> str:
    """One way of writing the value, so that "$30" is "30 dollars"."""
    if kind == "money":
        unit = "c" if "cent" in text else next((s for s in "€£₹" if s in text), "")
        unit = unit or next((s for s in ("euro", "pound", "rupee") if s in text), "")
        return re.sub(r"[^\d]", "", text) + {"euro": "€", "pound": "£", "rupee": "₹"}.get(
            unit, unit
        )
    if kind == "time":
        return text.replace(":00", "").replace("12noon", "12pm")
    return text.rstrip("s") if kind == "span" else text


def _conflicts(one: _Said, other: _Said) -> bool:
    differing = [kind for kind in one.values if one.values[kind] != other.values[kind]]
    # Two kinds apart are two tiers: 30 minutes for $60, 60 minutes for $90.
    if len(differing) != 1 or not _same_subject(one, other):
        return False
    (kind,) = differing
    a, b = one.values[kind], other.values[kind]
    if set(a) <= set(b) or set(b) <= set(a):
        return False
    if kind in _TIMES or len(a) == len(b) == 1:
        return True
    return len(a) == len(b) and sum(x != y for x, y in zip(a, b, strict=True)) == 1


def _same_subject(one: _Said, other: _Said) -> bool:
    if one.item.heading.casefold() == other.item.heading.casefold():
        return True
    names = {token for token in one.about if token[0] not in "#@"} - _GENERIC
    days = any(token.startswith("@") for token in one.about)
    return len(names) + days >= 2


# Expired


def _expired(items: Sequence[_Item], today: date) -> Iterator[Finding]:
    for item in items:
        plan = _PLAN.search(item.heading)
        if plan and int(plan.group(1)) < today.year:
            yield Finding("expired", (item.id,), f"under the heading {item.heading!r}")
            continue
        for sentence in split_sentences(item.text):
            gone = list(ends(sentence))
            if gone and all(end < today for end, _ in gone):
                yield Finding("expired", (item.id,), f"{gone[-1][1]} has gone by")
                break


# Instructions


def _instructions(items: Sequence[_Item]) -> Iterator[Finding]:
    heading = ""
    for item in items:
        above = item.heading if item.heading != heading else ""
        heading = item.heading
        found = instruction(f"{above}\n{item.question}\n{item.text}")
        if found:
            yield Finding("instruction", (item.id,), found)


# Words

# Scripts of India write vowels as marks, which \w leaves out.
_WORD = re.compile(r"#?[^\W_](?:[\w']|[\u0900-\u0dff])*")

_THOUSANDS = re.compile(r"(?<=\d),(?=\d)")


def _tokens(text: str) -> Iterator[str]:
    """The content words and numbers of ``text``, one spelling each."""
    text = unicodedata.normalize("NFKC", text).casefold().replace("’", "'")
    text = _digits_of_any_script(text)
    words = [word.removesuffix("'s") for word in _WORD.findall(_THOUSANDS.sub("", text))]
    for word in digits(words) if _HOLDS_NUMBER.search(text) else words:
        word = _SAME.get(word, word)
        if word not in _STOP and not word.startswith("#"):
            yield _SAME.get(word, word[:-1] if len(word) > 3 and word.endswith("s") else word)
