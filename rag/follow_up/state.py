"""What a call remembers between questions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from rag.types import Query

KEPT_TURNS = 6
KEPT_PASSAGES = 6


class Change(StrEnum):
    """What was done to a question so that it stands alone. A closed list, shown in records."""

    SLOT = "slot"  # "and what about sunday": another day, date or kind of person
    DAY = "day"  # "and when do you close": on the day asked about before
    THING = "thing"  # "the flu one": another thing of the kind
    ADDED = "added"  # "how about refills": the new words behind the question before
    DROPPED = "dropped"  # "what about parking": a topic of its own, the question before left
    SAME = "same"  # "same question for monday"
    CORRECTED = "corrected"  # "no, i meant the blood test"
    OTHER = "other"  # "the other one"
    POINTED = "pointed"  # "how much is that": the subject in the place of the pronoun
    IMPLIED = "implied"  # "what are the side effects": of what was asked about before
    PLACE = "place"  # the name of the place spoken about, put behind the question
    ASKED_AGAIN = "asked_again"  # "what did you say the number was"


@dataclass(frozen=True, slots=True)
class Said:
    """A passage that was spoken from: its id, its document and the sentence that was said."""

    passage: str
    document: str
    text: str


@dataclass(frozen=True, slots=True)
class Turn:
    """One question of the call: as it was resolved, its subject, and what was said to it."""

    question: str
    subject: str = ""
    said: tuple[Said, ...] = ()


@dataclass(frozen=True, slots=True)
class Resolution:
    """A question that stands alone, and how it came about.

    ``subject``, ``day``, ``service`` and ``person`` are those of the resolved question. ``prefer``
    holds ids of passages spoken before, where what is asked was said. ``document`` is the one
    spoken about, if the question goes on with it.
    """

    query: Query
    changes: tuple[Change, ...] = ()
    before: str = ""
    subject: str = ""
    day: str = ""
    service: str = ""
    person: str = ""
    document: str = ""

    @property
    def prefer(self) -> tuple[str, ...]:
        """The passages spoken before that an answer must come from."""
        return self.query.within

    @property
    def detail(self) -> str:
        """One line for a verdict: what was heard, what became of it, and by which rules."""
        if not self.changes:
            return ""
        rules = ", ".join(self.changes)
        return f"{self.before!r} became {self.query.text!r} ({rules})"


@dataclass(frozen=True, slots=True)
class State:
    """The last resolved question with its slots, and the last few turns, oldest first.

    Every slot is "" where nothing was said. ``subject`` is what "it" stands for; ``service`` the
    last thing named with its kind ("flu shot"), which outlives a question about a place;
    ``document`` the one last spoken from.
    """

    question: str = ""
    subject: str = ""
    day: str = ""
    service: str = ""
    person: str = ""
    document: str = ""
    turns: tuple[Turn, ...] = ()

    @property
    def spoken(self) -> tuple[Said, ...]:
        """The passages spoken, latest first, each once."""
        latest = {said.passage: said for turn in self.turns for said in turn.said}
        return tuple(reversed(latest.values()))[:KEPT_PASSAGES]

    def said_more(self, text: str) -> State:
        """The state once the rest of the last answer was spoken too."""
        if not self.turns or not self.turns[-1].said:
            return self
        last = self.turns[-1]
        said = tuple(replace(one, text=f"{one.text} {text}") for one in last.said)
        return replace(self, turns=(*self.turns[:-1], replace(last, said=said)))

    def after(self, resolved: Resolution, said: tuple[Said, ...] = ()) -> State:
        """The state once ``resolved`` was answered with ``said`` (empty for a refusal)."""
        turn = Turn(resolved.query.text, resolved.subject, said)
        spoken_from = next((one.document for one in said if one.document), "")
        document = spoken_from or resolved.document or self.document
        return replace(
            self,
            question=resolved.query.text,
            subject=resolved.subject,
            day=resolved.day,
            service=resolved.service or self.service,
            person=resolved.person,
            document=document,
            turns=(*self.turns, turn)[-KEPT_TURNS:],
        )
