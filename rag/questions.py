"""Questions with gold answers: ``questions.jsonl`` of a knowledge base, and its recorded clips.

A row holds ``id, text, asr, context, relevant, answerable, facts``; ``kind``, ``decision`` and
``audio`` (``file, voice, asr`` a clip) where there are recordings; a clip with ``held_out: true``
is of the voice that takes no part in setting floors. ``context`` is the text of the
question asked before it. A fact is a string that must be said, or a list of which one must.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from frontdesk import KnowledgeBaseError
from rag.distance import edits
from rag.follow_up import Cosine, State, resolve
from rag.rewrite import words
from rag.types import Decision, Passage, Query

QUESTIONS_FILE = "questions.jsonl"
_HEARD = 0.2
TYPED = "text"
"""The name that stands for a voice where a question is taken as typed."""


@dataclass(frozen=True, slots=True)
class Question:
    """One row.

    ``heard`` maps a voice to what the recogniser made of its clip; ``held_out`` is the voice among
    them that takes no part in setting floors.
    """

    id: str
    text: str
    asr: str
    context: str | None
    relevant: tuple[str, ...]
    decision: Decision
    facts: tuple[tuple[str, ...], ...]
    kind: str
    heard: dict[str, str]
    held_out: str | None = None

    def is_answered(self, say: str, passages: Iterable[Passage]) -> bool:
        """Whether ``say`` states every fact, on a relevant passage or one that holds them all."""
        return self._states(say) and any(
            passage.id in self.relevant or self._states(passage.text) for passage in passages
        )

    def _states(self, text: str) -> bool:
        text = text.casefold()
        return all(any(one.casefold() in text for one in fact) for fact in self.facts)

    def said_by(self, voice: str) -> str:
        """The question as heard from ``voice``, else as heard from the first, else as typed."""
        return self.text if voice == TYPED else self.heard.get(voice, self.asr or self.text)


@dataclass(frozen=True, slots=True)
class Asked:
    """A question as one voice asked it, resolved against the question before in that voice."""

    question: Question
    voice: str
    query: Query

    @property
    def is_heard(self) -> bool:
        """Whether at most a fifth of the words that were spoken came out otherwise."""
        spoken, heard = words(self.question.text), words(self.query.raw)
        return edits(spoken, heard) <= _HEARD * len(spoken)


def read(path: Path) -> list[Question]:
    """The questions in ``path``.

    Raises:
        KnowledgeBaseError: if the file cannot be read; the line names the row.
    """
    if not path.is_file():
        raise KnowledgeBaseError(
            f"{path} is missing: it holds the questions with gold answers, one JSON object a line"
        )
    questions: list[Question] = []
    number = 1
    try:
        for line in path.read_text("utf-8").split("\n"):  # U+2028 may stand in a text
            if line.strip():
                questions.append(_question(json.loads(line)))
            number += 1
    except (OSError, ValueError, KeyError, TypeError) as error:
        if isinstance(error, KeyError):
            error = ValueError(f"it has no {error}")
        raise KnowledgeBaseError(
            f"{path} row {number} cannot be read ({error}); mend the row or leave it out"
        ) from error
    return questions


def _question(row: dict[str, Any]) -> Question:
    expected = Decision.ANSWERED if row["answerable"] else Decision.REFUSED
    facts = [fact if isinstance(fact, list) else [fact] for fact in row["facts"]]
    return Question(
        id=row["id"],
        text=row["text"],
        asr=row.get("asr") or "",
        context=row.get("context") or None,
        relevant=tuple(row["relevant"]),
        decision=Decision(row.get("decision") or expected),
        facts=tuple(tuple(fact) for fact in facts),
        kind=row.get("kind", ""),
        heard={clip["voice"]: clip["asr"] for clip in row.get("audio", ())},
        held_out=next((c["voice"] for c in row.get("audio", ()) if c.get("held_out")), None),
    )


def held_out_voice(questions: Iterable[Question]) -> str | None:
    """The voice that takes no part in setting floors, if the recordings have one.

    Raises:
        KnowledgeBaseError: if they name more than one.
    """
    voices = {question.held_out for question in questions if question.held_out}
    if len(voices) > 1:
        raise KnowledgeBaseError(
            f"more than one held-out voice ({', '.join(sorted(voices))}); mark the clips of one"
        )
    return voices.pop() if voices else None


def asked(
    questions: Sequence[Question],
    voices: Iterable[str] | None = None,
    *,
    fillers: frozenset[str] | None = None,
    cosine: Cosine | None = None,
) -> list[Asked]:
    """Every question once for each voice that asked it, or that ``voices`` names.

    As in a call in which nothing was answered; ``cosine`` is that of :func:`rag.query.closeness`.

    Questions without a clip count as heard from voice "asr", or as typed where nothing was heard.
    """
    by_text = {question.text: question for question in questions}
    wanted = None if voices is None else set(voices)

    def before(question: Question, voice: str, depth: int = 8) -> State:
        """What the call remembers of the questions before this one, none of them answered."""
        if not question.context or not depth:
            return State()
        asked_before = by_text.get(question.context)
        if asked_before is None:
            return State().after(resolve(question.context, fillers=fillers, cosine=cosine))
        state = before(asked_before, voice, depth - 1)
        return state.after(
            resolve(asked_before.said_by(voice), state, fillers=fillers, cosine=cosine)
        )

    result: list[Asked] = []
    for question in questions:
        own = [*question.heard] or ["asr" if question.asr else TYPED]
        for voice in own if wanted is None else dict.fromkeys([*own, TYPED]):
            if wanted is None or voice in wanted:
                heard, state = question.said_by(voice), before(question, voice)
                query = resolve(heard, state, fillers=fillers, cosine=cosine).query
                result.append(Asked(question, voice, query))
    return result
