"""Words of a draft that no sentence it stands on has: a model may reorder, not add.

Grounding weighs how much of a sentence is known. A promise, a name or "all" is one word among ten
that are. A draft rejected for a synonym costs little: the document's own sentence is spoken.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from agent.generation.figures import figures
from agent.generation.shown import Shown
from rag import numbers
from rag.pieces import stem, stopwords
from rag.sentences import split_sentences
from rag.types import Check, Draft, Query

NAME = "own_words"
_CITATION = re.compile(r"\s*\[[^\]\n]*\]")
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_TOKEN = re.compile(r"\d+(?:[:.-]\d+)*|[^\W\d_]+(?:['’][^\W\d_]+)?")
# Too common to be a lie, and said for one another.
_PLAIN = frozenset("call come cost costs dollar dollars give given is offered pay price".split())
# They name nothing, and yet change what is said.
_WEIGHTY = frozenset("all must need".split())
# A weak model says the question again, without its mark.
_ASKS = re.compile(
    r"\s*(?:am|are|can|could|did|do|does|how|is|may|was|were|what|when|where|which|who|why|will"
    r"|would|should)\b",
    re.I,
)
_NO = re.compile(r"\b(?:no|not|never|none|nor|without|closed|cannot)\b|n['’]t\b")
_LIMIT = re.compile(r"\b(?:up to|only|except|unless|if|at least|at most)\b")


def own_words(query: Query, draft: Draft, cited: Sequence[Shown]) -> tuple[Check, ...]:
    """One of the ``more_checks`` of a generator."""
    text = _CITATION.sub("", draft.text)
    why = next(filter(None, (_foreign(one, cited) for one in split_sentences(text))), "")
    return (Check(NAME, not why, why),)


def _foreign(sentence: str, cited: Sequence[Shown]) -> str:
    """Why no one sentence cited can be what ``sentence`` puts into words, or ''.

    Of those with all of its words the one with the fewest others decides: "the fee for a missed
    visit" is not that for a missed telehealth visit.
    """
    if sentence.rstrip().endswith("?") or _ASKS.match(sentence):
        return f"it asks {sentence!r:.80}"
    said = set(_words(sentence))
    lacking: list[tuple[int, str]] = []
    of_others: list[tuple[int, str]] = []
    for passage in cited:
        beside = set(_words(f"{passage.heading} {passage.question}"))
        for one in split_sentences(passage.text):
            words = set(_words(one))
            missing = sorted(said - words - beside)
            if missing:
                lacking.append((len(missing), f"no sentence cited has {missing[0]!r} and the rest"))
            else:
                of_others.append((len(words - said), _changed(sentence, one)))
    return min(of_others or lacking, default=(0, "nothing is cited"))[1]


def _changed(sentence: str, one: str) -> str:
    """What ``sentence`` makes of the sentence ``one``, all of whose words it takes from there."""
    values = {value for value, _ in figures(one)}
    for value, _ in sorted(figures(sentence, is_claim=True)):
        if value not in values:
            return f"{value} is not in {one!r:.80}"
    if bool(_NO.search(one.lower())) != bool(_NO.search(sentence.lower())):
        return f"one of them denies it: {one!r:.80}"
    # "Call the front desk, not billing": what is denied is told by the order alone.
    if _NO.search(one.lower()) and not _in_order(_sequence(sentence), _sequence(one)):
        return f"its words stand in another order: {one!r:.80}"
    lost = set(_LIMIT.findall(one.lower())) ^ set(_LIMIT.findall(sentence.lower()))
    return f"{min(lost)!r} is in one of them: {one!r:.80}" if lost else ""


def _in_order(said: Sequence[str], known: Sequence[str]) -> bool:
    """Whether ``said`` is ``known`` with words left out, its end perhaps put first.

    "We open at 9 on Saturday" for "on Saturday we open at 9", but not billing for the front desk.
    """
    return any(_is_part([*said[cut:], *said[:cut]], known) for cut in range(max(1, len(said))))


def _is_part(said: Sequence[str], known: Sequence[str]) -> bool:
    rest = iter(known)
    return all(word in rest for word in said)


def _sequence(text: str) -> list[str]:
    """Stems and numbers that weigh, as they come."""
    found = []
    for match in _TOKEN.finditer(text.lower()):
        word = match.group()
        if word[0].isdigit():
            found.append(word)
        else:
            found += _words(word)
    return found


def _words(text: str) -> Iterator[str]:
    """Stems of the words that weigh; single letters only as capitals ("Lot A")."""
    for found in _WORD.finditer(text):
        word, low = found.group(), found.group().lower()
        is_name = len(word) == 1 and word.isupper() and word != "I" and found.start() > 0
        if is_name or low in _WEIGHTY:
            yield word
        elif not (low in stopwords() or low in _PLAIN or numbers.digits([low])[0].isdigit()):
            yield stem(low)
