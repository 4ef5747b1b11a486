"""Checks before speaking: is what is said in the cited text, and about what was asked?"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from rag import asked
from rag.types import Check

_NUMBER = re.compile(r"\d+(?::\d+)?")
_CITATION = re.compile(r"\[[^\]\n]*\]")


def verify(
    answer: str, source: str, retrieved: Collection[str], kb: Mapping[str, str]
) -> tuple[bool, str]:
    """Whether ``answer`` may be spoken on the word of ``source``, and why not.

    ``retrieved`` holds the ids that were found, ``kb`` maps document id to full text. Not ok: an
    empty answer, source "none", a source that was not retrieved, a number (7:30 is one) that the
    cited document lacks. A passage id (``kb-hours#2``) stands for its document's text if ``kb``
    holds no text under the passage id itself.
    """
    said = _CITATION.sub(" ", answer)
    if not said.strip():
        return False, "empty answer"
    if not source or source == "none":
        return False, "no source"
    if source not in retrieved:
        return False, f"source {source} was not retrieved"
    text = kb.get(source, kb.get(source.partition("#")[0]))
    if text is None:
        return False, f"source {source} is not in the knowledge base"
    missing = missing_numbers(said, text)
    if missing:
        return False, f"number {missing[0]} is not in {source}"
    return True, ""


def missing_numbers(said: str, text: str) -> list[str]:
    """The numbers of ``said`` that ``text`` lacks, in order."""
    known = set(_NUMBER.findall(text))
    return [number for number in _NUMBER.findall(said) if number not in known]


def checks(
    question: str,
    sentence: str,
    source: str,
    retrieved: Collection[str],
    text: str,
    own_question: str | None = None,
    *,
    day_question: str | None = None,
) -> tuple[Check, ...]:
    """Every check of one candidate sentence against the passage it cites.

    ``question`` is the resolved question, ``text`` the text of passage ``source`` and
    ``own_question`` the one that its source sets beside it: what that is about, the sentence is
    about, and a question for the same kind of value is answered by it. ``day_question`` is what of
    the question a day may be asked for in, if that is not the whole.
    """
    missing = missing_numbers(sentence, text)
    found = source in retrieved
    whole = f"{own_question} {sentence}" if own_question else sentence
    outcomes = {
        "citation_retrieved": "" if found else f"{source} was not retrieved",
        "numbers_in_passage": f"{', '.join(missing)} not in {source}" if missing else "",
        "asked_day": asked.other_day(day_question or question, whole),
        "asked_kind": asked.wrong_kind(question, sentence, own_question),
        "not_opposite": asked.opposite(question, whole),
    }
    return tuple(Check(name, not why, why) for name, why in outcomes.items())
