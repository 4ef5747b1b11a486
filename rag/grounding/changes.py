"""What changed between a sentence and its evidence: the cheap signs of a lie."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path

from rag.grounding.evidence import Evidence, Sentence
from rag.grounding.words import Word, is_known

_OPPOSITES = Path(__file__).with_name("opposites.txt")
_PREFIXES = ("un", "in", "im", "dis", "non", "ir", "mis")

NEGATORS = frozenset(
    "not non no never none nobody nothing neither nor without hardly refuse refused refuses "
    "fail failed fails lack lacks except unlike denied deny denies avoid avoided".split()
)
ABSOLUTE = frozenset(
    "all always every everyone everybody everything only never none exclusively entirely "
    "completely solely best most first last must any nobody guaranteed whole".split()
)
HEDGES = frozenset(
    "may might could some sometimes usually often about around approximately roughly nearly almost "
    "probably possibly perhaps partly generally typically mostly most many few several possible "
    "likely depending depends expected expect expects hope hopes plan plans planned if unless "
    "except up".split()
)
SELF = frozenset("i i'm i've i'd i'll my me mine".split())
_WIDTH = 3  # content words: how far apart neighbours may be in the evidence
_CLAUSE = 0.5
# Of the rest of a sentence, what the place of an opposite has to hold at least.
_LITTLE = 0.3
_CLAUSE_STARTS = frozenset("but however although though while whereas because".split())
_STOP = re.compile(r"[,;:()]")


def missing(said: Sentence, evidence: Evidence) -> list[Word]:
    """The content words of ``said`` that are nowhere in the evidence."""
    return [word for word in said.content if not is_known(word, evidence.stems)]


def opposite(said: Sentence, evidence: Evidence, near: Sequence[Sentence]) -> str:
    """A word of ``said`` whose opposite the evidence has in its place, or ''.

    That is so where a sentence with the opposite has more of the rest of what is said than any
    with the word itself: "open on Sunday" against "open on Saturday" and "closed on Sunday".
    Where the one is denied and the other not, they say the same.
    """
    return _opposite(said, near, 0.0) or _opposite(said, evidence.sentences, _LITTLE)


def _opposite(said: Sentence, among: Sequence[Sentence], least: float) -> str:
    own = {word.text for word in said.words}
    for word in said.words:
        for side, against in _opposites_of(word.text):
            if against & own:
                continue
            rest = [other for other in said.content if other.text not in side]
            there = [one for one in among if _has(one, against)]
            if not there:
                continue
            best = max(there, key=lambda one: _share(rest, one))
            as_said = [one for one in among if _has(one, side)]
            if _share(rest, best) > max((_share(rest, one) for one in as_said), default=least):
                if _is_negated(said.words) != _is_negated(best.words):
                    continue
                other = min(against & {one.text for one in best.words})
                return f"{word.text}, where the evidence has {other}"
    return ""


def _has(one: Sentence, texts: frozenset[str]) -> bool:
    return any(word.text in texts for word in one.words)


def _share(said: Sequence[Word], one: Sentence) -> float:
    """The share of the words of ``said`` that a sentence has; 0 where there are none."""
    weight = sum(word.rarity for word in said)
    return sum(word.rarity for word in said if is_known(word, one.stems)) / max(weight, 1e-9)


def flipped(said: Sentence, near: Sequence[Sentence]) -> tuple[str, str]:
    """A clause that has a "not" where the evidence has none, and one that lacks it; each or ''.

    Clause by clause: each is set against the one of the evidence that shares most with it, if
    that is half of what it says at least.
    """
    known = [clause for one in near for clause in clauses(one)]
    new = lost = ""
    for clause in clauses(said):
        found = [(_shared(clause, other), other) for other in known]
        most = max((share for share, _ in found), default=0.0)
        if most < _CLAUSE:
            continue
        kinds = {_is_negated(other) for share, other in found if share == most}
        is_negated = _is_negated(clause)
        if is_negated not in kinds:
            text = " ".join(word.text for word in clause)
            new, lost = (text, lost) if is_negated else (new, text)
    return new, lost


def clauses(said: Sentence) -> list[tuple[Word, ...]]:
    """The parts of a sentence at its commas, colons and "but", each with something to say.

    A "no" or "yes" that only answers belongs to none.
    """
    parts: list[list[Word]] = [[]]
    own = said.words
    end = 0
    if len(own) > 1 and own[0].text in ("no", "yes") and _only_answers(own):
        end, own = own[0].end, own[1:]
    for word in own:
        if word.text in _CLAUSE_STARTS or _STOP.search(said.text[end : word.start]):
            parts.append([])
        parts[-1].append(word)
        end = word.end
    return [tuple(part) for part in parts if any(word.rarity > 0 for word in part)]


def negators(said: Sequence[Word]) -> int:
    """How many words negate; "not only" does not."""
    texts = [word.text for word in said] + [""]
    return sum(
        one in NEGATORS and texts[n + 1] not in ("only", "just") for n, one in enumerate(texts[:-1])
    )


def new_of(kind: frozenset[str], said: Sentence, near: Sequence[Sentence]) -> int:
    """How many words of one ``kind`` are said and are not in the evidence."""
    known = {word.text for one in near for word in one.words}
    return len({word.text for word in said.words} & kind - known)


def together(said: Sentence, evidence: Evidence) -> float:
    """The share of neighbouring content words that are near each other in the evidence too."""
    own = [word.stem for word in said.content]
    pairs = set(pairwise(own))
    if not pairs:
        return 1.0
    found: set[tuple[str, str]] = set()
    for one in evidence.sentences:
        stems = [word.stem for word in one.content]
        for step in range(1, _WIDTH + 1):
            found |= set(zip(stems, stems[step:], strict=False)) & pairs
    return len(found) / len(pairs)


def _only_answers(said: Sequence[Word]) -> bool:
    """Whether the "no" at the start is an answer: "no, they do", not "no smoking"."""
    return said[1].start > said[0].end + 1 or said[1].rarity == 0 or said[1].is_name


def _is_negated(clause: Sequence[Word]) -> bool:
    return negators(clause) % 2 == 1


def _shared(clause: Sequence[Word], other: Sequence[Word]) -> float:
    known = {word.stem for word in other}
    weight = sum(word.rarity for word in clause)
    return sum(word.rarity for word in clause if word.stem in known) / weight


def _opposites_of(word: str) -> list[tuple[frozenset[str], frozenset[str]]]:
    """The sides that ``word`` is on, each with the other one."""
    found = list(_against().get(word, ()))
    if len(word) > 4:
        own = frozenset({word})
        bare = frozenset(word[len(p) :] for p in _PREFIXES if word.startswith(p) and len(word) > 6)
        found.append((own, bare | {prefix + word for prefix in _PREFIXES}))
    return found


@cache
def _against() -> dict[str, list[tuple[frozenset[str], frozenset[str]]]]:
    """Each word with its own side and the other one, of every line that it is in."""
    found: dict[str, list[tuple[frozenset[str], frozenset[str]]]] = {}
    for line in _OPPOSITES.read_text("utf-8").splitlines():
        if line.startswith("#") or "|" not in line:
            continue
        one, two = (frozenset(side.split()) for side in line.split("|"))
        for word in one:
            found.setdefault(word, []).append((one, two))
        for word in two:
            found.setdefault(word, []).append((two, one))
    return found
