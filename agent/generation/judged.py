"""A model's reply becomes a draft, or is rejected with a reason. Pure."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

from agent.generation.draft_checks import DraftCheck
from agent.generation.outcome import GenerationError, Outcome
from agent.generation.prompt import NONE
from agent.generation.shown import Shown, speaks_to_a_model
from agent.generation.support import unsupported
from rag.sentences import split_sentences
from rag.types import Check, Draft, Query
from rag.verify import checks as checks_of

GROUNDED = "grounded"
"""The check (:mod:`rag.grounding`) without which nothing that a model says is spoken."""

_MOST_WORDS = 60
_MOST_CHARACTERS = 600
_MOST_SENTENCES = 3
_FIELDS = {"answer", "citations", "confidence"}
_BRACKET = re.compile(r"[\[\]【】［］]")
# Some servers leave a model's thoughts in the text.
_THOUGHTS = re.compile(r"^\s*<think>.*?</think>", re.S)
_MARKUP = re.compile(r"[*_`|<>{}\\]|^#|^(?:[-•–—]|\d+[.)]) |://")
# Letters of several scripts need these two in their words.
_JOINERS = "\u200c\u200d"


@dataclass(frozen=True, slots=True)
class Judged:
    """What a reply said, all of it found in the passages; ``checks`` all pass."""

    draft: Draft
    confidence: float
    checks: tuple[Check, ...]


def judged(
    text: str, query: Query, passages: Sequence[Shown], more_checks: Sequence[DraftCheck] = ()
) -> Judged:
    """The draft that the reply ``text`` amounts to, as an answer to ``query``.

    ``more_checks`` judge it last; without one named "grounded" there is no draft.

    Raises:
        GenerationError: with the outcome that says why there is none.
    """
    fields = _fields(text)
    answer, citations = (
        " ".join(fields["answer"].split()),
        tuple(dict.fromkeys(fields["citations"])),
    )
    if not answer or NONE in citations or not citations:
        raise GenerationError(Outcome.NO_ANSWER, f"cites {', '.join(citations) or 'nothing'}")
    by_id = {passage.id: passage for passage in passages}
    invented = [one for one in citations if one not in by_id]
    if invented:
        raise GenerationError(Outcome.INVENTED_CITATION, f"{invented[0]!r:.80} was not shown")
    _fit_for_speech(answer, by_id)
    cited = [by_id[one] for one in citations]
    problem = unsupported(answer, cited)
    if problem:
        raise GenerationError(Outcome.UNSUPPORTED_FIGURE, problem)
    marks = " ".join(f"[{one}]" for one in citations)
    draft = Draft(f"{answer} {marks}", citations)
    said = Judged(draft, float(fields["confidence"]), ())
    said = _passed(said, _checks(query.text, answer, cited, list(by_id)))
    for check in more_checks:
        said = _passed(said, check(query, draft, tuple(cited)))
    if all(check.name != GROUNDED for check in said.checks):
        raise GenerationError(Outcome.CHECK_FAILED, f"{GROUNDED}: not checked")
    return said


def _passed(said: Judged, checks: Sequence[Check]) -> Judged:
    failed = next((check for check in checks if not check.passed), None)
    if failed:
        raise GenerationError(Outcome.CHECK_FAILED, f"{failed.name}: {failed.detail}")
    return replace(said, checks=(*said.checks, *checks))


def _fields(text: str) -> dict[str, Any]:
    """The three fields of a reply, each of its type; text around the object is passed over."""
    text = _THOUGHTS.sub("", text)
    try:
        found = json.loads(text[text.index("{") : text.rindex("}") + 1])
    except (ValueError, RecursionError) as problem:
        raise _malformed(f"no JSON object ({problem})", text) from problem
    if not isinstance(found, dict) or set(found) != _FIELDS:
        raise _malformed("other fields than answer, citations, confidence", text)
    citations, confidence = found["citations"], found["confidence"]
    if not isinstance(found["answer"], str) or not isinstance(citations, list):
        raise _malformed("a field of another type", text)
    if not all(isinstance(one, str) for one in citations):
        raise _malformed("a citation that is no text", text)
    is_number = isinstance(confidence, int | float) and not isinstance(confidence, bool)
    if not is_number or not 0 <= confidence <= 1:
        raise _malformed("confidence is not a number from 0 to 1", text)
    return found


def _malformed(why: str, text: str) -> GenerationError:
    return GenerationError(Outcome.MALFORMED, f"{why}: {text[:80]!r}")


def _fit_for_speech(answer: str, ids: Collection[str]) -> None:
    words, sentences = len(answer.split()), len(split_sentences(answer[:_MOST_CHARACTERS]))
    if len(answer) > _MOST_CHARACTERS or words > _MOST_WORDS or sentences > _MOST_SENTENCES:
        raise GenerationError(Outcome.TOO_LONG, f"{words} words, {sentences} sentences")
    bracket = _BRACKET.search(answer)
    # "kb-hours" is an id; a document called "hours" is also a word.
    documents = {doc for doc in (one.partition("#")[0] for one in ids) if not doc.isalpha()}
    named = [one for one in (*ids, *documents) if one.lower() in answer.lower()]
    if bracket or named:
        found = named[0] if named else answer[bracket.start() if bracket else 0 :]
        raise GenerationError(Outcome.CITATION_IN_TEXT, f"{found[:80]!r}")
    if speaks_to_a_model(answer):
        raise GenerationError(Outcome.INSTRUCTION, f"{answer[:80]!r}")
    odd = next((c for c in answer if _cannot_be_said(c)), "")
    markup = _MARKUP.search(answer)
    if odd or markup:
        mark = repr(markup.group()) if markup else f"U+{ord(odd):04X}"
        raise GenerationError(Outcome.NOT_SPEECH, f"{mark} cannot be said")


def _cannot_be_said(char: str) -> bool:
    kind = unicodedata.category(char)
    return (kind[0] == "C" and char not in _JOINERS) or (kind in ("So", "Sk") and char != "°")


def _checks(
    question: str, answer: str, cited: Sequence[Shown], retrieved: Sequence[str]
) -> tuple[Check, ...]:
    """The checks of every spoken sentence, on all that was shown of the passages cited."""
    text = "\n".join(passage.text for passage in cited)
    own = next((passage.question for passage in cited if passage.question), None)
    passed = checks_of(question, answer, cited[0].id, retrieved, text, own)
    return (Check("figures_in_one_sentence", True), *passed)
