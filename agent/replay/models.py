"""The language models of a replay: those given, else what the record says that they said."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from agent.answering import Rewrites, Words
from agent.generation import (
    Generated,
    GenerationPolicy,
    Outcome,
    Recorded,
    RecordedRewriter,
    Rewritten,
    draft_checks,
)
from agent.generation.policy import DEFAULT
from agent.handover import Standing
from agent.handover_rules import Rules
from agent.replay.case import Case, Pins, Turn
from rag import Index
from rag.follow_up import Resolution, State
from rag.types import Verdict


@dataclass(frozen=True, slots=True)
class Models:
    """What words the answers and makes questions stand alone; none is asked unless given here.

    ``rules`` are those of a hand-over to a person.
    """

    words: Words | None = None
    rewriter: Rewrites | None = None
    policy: GenerationPolicy = DEFAULT
    rules: Rules = field(default_factory=Rules)

    def words_for(self, turn: Turn, index: Index) -> Words | None:
        """What words the answer to ``turn``."""
        said = turn.generated
        if self.words is not None or not said:
            return self.words
        return Recorded(said["say"], tuple(said["citations"]), draft_checks(index), self.policy)

    def rewriter_for(self, turn: Turn) -> Rewrites | None:
        """What makes the question of ``turn`` stand alone."""
        if self.rewriter is None and turn.rewritten:
            return RecordedRewriter(turn.rewritten)
        return self.rewriter

    def words_of(self, case: Case, index: Index) -> Words | None:
        """What words the answers of a call in which nobody knows yet what will be heard."""
        said = {turn.heard: self.words_for(turn, index) for turn in case.turns if turn.generated}
        return _ByHeard({k: v for k, v in said.items() if v}) if said else self.words

    def rewriter_of(self, case: Case) -> Rewrites | None:
        """What makes the questions of such a call stand alone."""
        made = {turn.heard: self.rewriter_for(turn) for turn in case.turns if turn.rewritten}
        return _ByQuestion({k: v for k, v in made.items() if v}) if made else self.rewriter

    def standing(self, pins: Pins) -> Standing | None:
        """What could be done about a person, the hour being that of the call."""
        desk = pins.desk
        if desk is None:
            return None
        rules = Rules(**desk["rules"]) if desk.get("rules") else self.rules
        is_open = bool(desk.get("is_open", True))
        can_transfer = bool(desk.get("can_transfer", False))
        return Standing(rules, can_transfer=can_transfer, is_open=lambda: is_open)


RECORDED = Models()


@dataclass(frozen=True, slots=True)
class _ByHeard:
    """The words of a whole call, by what was heard; where something else is, the quote stands."""

    words: Mapping[str, Words]

    async def generate(self, extractive: Verdict) -> Generated:
        recorded = self.words.get(extractive.query.raw)
        if recorded is None:
            return Generated(Outcome.NOTHING_TO_SAY, "not recorded")
        return await recorded.generate(extractive)


@dataclass(frozen=True, slots=True)
class _ByQuestion:
    """The same for questions that were made to stand alone."""

    rewriters: Mapping[str, Rewrites]

    async def rewrite(self, resolution: Resolution, state: State) -> Rewritten | None:
        recorded = self.rewriters.get(resolution.query.raw)
        return None if recorded is None else await recorded.rewrite(resolution, state)
