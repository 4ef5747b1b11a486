"""Passages of businesses that do not exist, with questions whose answers are known.

Every business has a name and a place of its own and states each of its facts in one passage, so a
question that names both has exactly one passage that answers it, among some thirty of the same
business and any number of others with the same wording. Templates and words are in
``synthetic.toml``: English, and short ones in Hindi, Gujarati, Telugu, Bengali and Tamil. The same
arguments give the same texts on any machine.
"""

from __future__ import annotations

import math
import random
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from rag.questions import Question
from rag.types import Decision

LANGUAGES = ("en", "hi", "gu", "te", "bn", "ta")
_WORDS = Path(__file__).with_suffix(".toml")
_UNANSWERABLE = 10  # one question in so many
# A prime that divides no number of names: neighbouring businesses have nothing in common.
_STRIDE = 7919


@dataclass(frozen=True, slots=True)
class Fact:
    """A passage, a question that it answers, and the words that the answer must hold."""

    text: str
    question: str
    says: str


@dataclass(frozen=True, slots=True)
class Business:
    """``facts`` are its passages in order; ``absent`` are questions that none of them answers."""

    language: str
    number: int
    facts: tuple[Fact, ...]
    absent: tuple[str, ...]

    @property
    def document(self) -> str:
        """The id of its document; its passages are ``document#1`` upward."""
        return f"kb-{self.language}-{self.number:06}"


def business(language: str, number: int, seed: int = 0) -> Business:
    """Business ``number`` (from 0) of a language, the same whatever others there are."""
    words = _words()[language]
    rng = random.Random(f"{seed} {language} {number}")
    names = _names(language, number)
    facts = []
    for template in words["facts"]:
        for varied in words[template["vary"]] if "vary" in template else [None]:
            slots = {**names, **_numbers(rng)}
            if "person" in words:
                slots["person"] = rng.choice(words["person"])
            if varied is not None:
                slots[template["vary"]] = varied
            question = template["question"].format(**slots)
            facts.append(
                Fact(
                    template["text"].format(**slots),
                    question.lower(),
                    template["says"].format(**slots),
                )
            )
    absent = tuple(text.format(**names).lower() for text in words["absent"])
    return Business(language, number, tuple(facts), absent)


def businesses(
    passages: int, languages: Sequence[str] = LANGUAGES, seed: int = 0
) -> Iterator[Business]:
    """Businesses with ``passages`` passages in all, the languages' shares equal to one passage.

    The last business of each language states only as many facts as are left for it.
    """
    for at, language in enumerate(languages):
        left = passages // len(languages) + (at < passages % len(languages))
        number = 0
        while left:
            one = business(language, number, seed)
            kept = one.facts[:left]
            yield Business(language, number, kept, one.absent)
            left -= len(kept)
            number += 1


def questions(
    passages: int,
    count: int,
    languages: Sequence[str] = LANGUAGES,
    seed: int = 0,
    draw: int = 0,
) -> list[Question]:
    """``count`` questions about :func:`businesses`, the languages in turn.

    Drawn at random by ``seed`` and ``draw``. Every tenth one of a language asks for what no
    passage states.
    """
    of = {language: _Sizes(passages, languages, language) for language in languages}
    rng = random.Random(f"{seed} questions {draw}")
    result = []
    for at in range(count):
        language = languages[at % len(languages)]
        is_answerable = (at // len(languages)) % _UNANSWERABLE != _UNANSWERABLE - 1
        number, fact_number = of[language].draw(rng)
        one = business(language, number, seed)
        fact = one.facts[fact_number]
        text = fact.question if is_answerable else rng.choice(one.absent)
        result.append(
            Question(
                id=f"s{at:05}",
                text=text,
                asr="",
                context=None,
                relevant=(f"{one.document}#{fact_number + 1}",) if is_answerable else (),
                decision=Decision.ANSWERED if is_answerable else Decision.REFUSED,
                facts=((fact.says,),) if is_answerable else (),
                kind=language,
                heard={},
            )
        )
    return result


def write_documents(folder: Path, found: Iterator[Business]) -> None:
    """One Markdown document a business; those that are there already are left alone."""
    folder.mkdir(parents=True, exist_ok=True)
    for one in found:
        path = folder / f"{one.document}.md"
        text = "\n\n".join(fact.text for fact in one.facts) + "\n"
        if not path.exists() or path.read_text("utf-8") != text:
            path.write_text(text, "utf-8")


class _Sizes:
    """Where the passages of one language are: business and fact by a number drawn at random."""

    def __init__(self, passages: int, languages: Sequence[str], language: str) -> None:
        at = languages.index(language)
        self._passages = passages // len(languages) + (at < passages % len(languages))
        self._facts = len(business(language, 0).facts)

    def draw(self, rng: random.Random) -> tuple[int, int]:
        return divmod(rng.randrange(self._passages), self._facts)


@cache
def _words() -> dict[str, Any]:
    return tomllib.loads(_WORDS.read_text("utf-8"))


def _names(language: str, number: int) -> dict[str, str]:
    """The name and place of a business: a combination of the word lists, each used once.

    Past the last combination the businesses are branches, numbered from 2.
    """
    words = _words()[language]
    lists = [slot for slot in ("first", "second", "trade", "place") if slot in words]
    combinations = math.prod(len(words[slot]) for slot in lists)
    branch, number = divmod(number, combinations)
    rest = number * _STRIDE % combinations
    slots = {}
    for slot in lists:
        rest, at = divmod(rest, len(words[slot]))
        slots[slot] = words[slot][at]
    name = words["name"].format(**slots) + (f" {branch + 1}" if branch else "")
    return {"name": name, "place": slots["place"]}


def _numbers(rng: random.Random) -> dict[str, str]:
    slots = {
        name: str(rng.randrange(low, high + 1, step))
        for name, (low, high, step) in _words()["numbers"].items()
    }
    return {**slots, "phone": f"555-{rng.randrange(10_000):04}"}
