"""The words of a recorded answer, judged again by today's checks on today's passages."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from agent.generation.draft_checks import DraftCheck
from agent.generation.judged import judged
from agent.generation.outcome import Generated, GenerationError, Outcome
from agent.generation.policy import DEFAULT, GenerationPolicy
from agent.generation.shown import shown_of
from rag.types import Decision, Verdict


@dataclass(frozen=True, slots=True)
class Recorded:
    """Stands where a ``Generator`` does, and answers what a model once said: no server is asked."""

    say: str
    citations: tuple[str, ...]
    more_checks: Sequence[DraftCheck]
    policy: GenerationPolicy = DEFAULT

    async def generate(self, extractive: Verdict) -> Generated:
        """The recorded words as a draft, or why they may not be spoken any more."""
        if extractive.decision is not Decision.ANSWERED:
            return Generated(Outcome.NOTHING_TO_SAY, extractive.reason.value)
        passages = shown_of(extractive, self.policy.passages)
        fields = {"answer": self.say, "citations": self.citations, "confidence": 0}
        try:
            said = judged(json.dumps(fields), extractive.query, passages, self.more_checks)
        except GenerationError as error:
            return Generated(error.outcome, error.detail)
        return Generated(Outcome.ACCEPTED, "recorded", said.draft, said.checks)
