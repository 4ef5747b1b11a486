"""What is wrong with a knowledge base before anyone calls.

Five kinds: ``empty``, ``duplicate``, ``contradictory``, ``expired`` and ``instruction``; and
``incomplete`` for a file of which a part could not be used. Rules that would rather miss than
accuse: two sentences contradict each other only if they say the same words about the same days
and differ in one kind of number, so that an adult's price never stands against a child's.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from itertools import combinations
from typing import Literal

from rag.days import named_days
from rag.distance import edits
from rag.documents import split_sentences
from rag.numbers import digits
from rag.readers import Document, to_passages
from rag.readers.dates import DATES, ends
from rag.readers.instructions import hidden_instruction, instruction, short
from rag.types import Passage

Kind = Literal["empty", "duplicate", "contradictory", "expired", "instruction", "incomplete"]

_NEAR = 0.9
"""Passages that share this much of their words (Jaccard) may be the same one written twice."""

_STEM = 5
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
_DAY_WORD = re.compile(
    r"(?:(?:mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?:day)?|week(?:day|end))s?"
)
_NEVER = frozenset("no not never without except only".split())

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


def check(sources: Iterable[Passage | Document], today: date) -> list[Finding]:
    """Everything wrong with ``sources``, kind by kind; ``today`` decides what has expired."""
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
    findings += _duplicates(items)
    findings += _contradictions(items)
    findings += _expired(items, today)
    findings += _instructions(items)
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
    same: dict[frozenset[str], list[_Item]] = defaultdict(list)
    for item in items:
        same[_bag(item)].append(item)
    for one, other in _near(list(same)):
        same[one] += same.pop(other)
    for group in same.values():
        if len(group) > 1:
            ids = tuple(item.id for item in group)
            yield Finding("duplicate", ids, f"the same words twice: {short(group[0].text)!r}")


def _near(bags: Sequence[frozenset[str]]) -> Iterator[tuple[frozenset[str], frozenset[str]]]:
    """Each bag that is nearly an earlier one, after that one.

    Two sets that share nine tenths share one of the rarest tenth of each (prefix filtering, Bayardo
    and others, 2007). Looked up by the words' beginnings, so that a slip further on is no matter.
    """
    stems = [frozenset(word[:_STEM] for word in bag) for bag in bags]
    common = Counter(stem for bag in stems for stem in bag)
    holders: dict[str, list[int]] = defaultdict(list)
    for at, bag in enumerate(stems):
        ranked = sorted(bag, key=lambda stem: (common[stem], stem))
        rarest = ranked[: len(ranked) - int(_NEAR * len(ranked) - 1e-9)]
        near = sorted({other for stem in rarest for other in holders[stem]})
        twin = next((other for other in near if _is_same(bags[at], bags[other])), None)
        if twin is not None:
            yield bags[twin], bags[at]
        else:
            for stem in rarest:
                holders[stem].append(at)


def _bag(item: _Item) -> frozenset[str]:
    """The words of a passage; a short answer ("Yes, it is.") is only the same to one question."""
    words = frozenset(_tokens(item.text))
    return words if len(words) > 3 else words | set(_tokens(f"{item.heading} {item.question}"))


def _is_same(a: frozenset[str], b: frozenset[str]) -> bool:
    """Whether only slips of spelling, or a few words more on one side, part two bags of words."""
    most = (1 - _NEAR) * len(a | b) + 1e-9
    if len(a) + len(b) - 2 * len(a & b) > 2 * most + 1:
        return False
    left, right = set(a - b), set(b - a)
    for one in sorted(left):
        twin = next((two for two in sorted(right) if _is_misspelt(one, two)), None)
        if twin:
            left.discard(one)
            right.discard(twin)
    rest = left | right
    if (left and right) or len(rest) > most:
        return False
    return not any(any(map(str.isdigit, w)) or w in _NEVER or _DAY_WORD.fullmatch(w) for w in rest)


def _is_misspelt(one: str, two: str) -> bool:
    letters = one.isalpha() and two.isalpha() and min(len(one), len(two)) > 4
    return letters and edits(one, two, 1) <= 1


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
_TIMES = frozenset({"time"})


def _contradictions(items: Sequence[_Item]) -> Iterator[Finding]:
    said: dict[frozenset[str], list[_Said]] = defaultdict(list)
    for item in items:
        for sentence in split_sentences(item.text):
            one = _said(item, sentence)
            if one.values and one.about:
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
    text = unicodedata.normalize("NFKC", sentence).lower().replace("’", "'")
    for _, pattern in DATES:
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
    about -= {token for token in about if _DAY_WORD.fullmatch(token)}
    about |= {f"@{day}" for day in named_days(sentence)} | {f"#{kind}" for kind in values}
    if item.key:
        about.add(item.key.casefold())
    return _Said(item, sentence, frozenset(about), {k: tuple(v) for k, v in values.items()})


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


def _tokens(text: str) -> Iterator[str]:
    """The content words and numbers of ``text``, one spelling each."""
    text = unicodedata.normalize("NFKC", text).casefold().replace("’", "'")
    found = _WORD.findall(re.sub(r"(?<=\d),(?=\d)", "", text))
    for word in digits([word.removesuffix("'s") for word in found]):
        word = _SAME.get(word, word)
        if word not in _STOP and not word.startswith("#"):
            yield _SAME.get(word, word[:-1] if len(word) > 3 and word.endswith("s") else word)
