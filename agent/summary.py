"""What the person who takes a call is told of it: only what was heard and typed. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field

from agent.handover import Rule
from frontdesk import Spoken

# A telephone voice says 15 letters a second: with the words around them about 10 s.
_MOST_LETTERS = 90


@dataclass(frozen=True, slots=True)
class Told:
    """What a call remembers for a summary: the last question and whether it had an answer, and
    the number that was typed, kept whole for nobody else.
    """

    question: str = ""
    was_answered: bool = False
    typed: str = field(default="", repr=False)


def summary(told: Told, rule: Rule, *, whole: bool) -> str:
    """One to three sentences, at most about 12 s of speech.

    ``whole`` says the typed number digit by digit, for the ear of the person; without, it ends in
    its last two, for records and logs.
    """
    asked = _shortened(told.question)
    match rule:
        case Rule.EMERGENCY:
            parts = [f"Emergency. A caller said: {asked}" if asked else "Emergency."]
        case Rule.REFUSALS:
            parts = [f"A caller asked: {asked} I could not answer that."]
        case _:
            parts = ["A caller asked for a person."]
            if asked:
                answered = "" if told.was_answered else " I could not answer that."
                parts.append(f"They also asked: {asked}{answered}")
    if told.typed:
        parts.append(f"They typed {' '.join(told.typed) if whole else masked(told.typed)}.")
    return " ".join(parts)


def masked(number: str) -> str:
    """A number for records, logs and the caller's ear: no more than its last two digits."""
    if len(number) < 4:
        return f"{len(number)} digits" if len(number) > 1 else "one digit"
    return f"a number ending in {number[-2]} {number[-1]}"


def _shortened(question: str) -> str:
    """``question`` as a sentence of at most 90 letters, cut between words."""
    text = Spoken.strip(question).text
    if len(text) > _MOST_LETTERS:
        text = text[:_MOST_LETTERS].rsplit(" ", 1)[0] + " …"
    return text if not text or text[-1] in ".?!…" else f"{text}."
