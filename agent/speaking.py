"""The words on their way to a caller, and what becomes of them when they are cut."""

from __future__ import annotations

from dataclasses import dataclass, replace

from agent.backchannel import is_mistaken, takes_turn
from agent.played import Played
from agent.session import Reply
from frontdesk import Spoken


@dataclass
class Speaking:
    """Words on their way to the caller, since when they are heard, and what came before a cut."""

    say: Spoken
    before: str = ""
    heard_since_ms: float | None = None


@dataclass(frozen=True)
class Cut:
    """``say`` that was cut: what of it was heard, in ``ms``, and what was said since."""

    say: str
    heard: Played
    ms: int
    since: str = ""

    def then(self, text: str) -> Cut:
        """The same, ``text`` said after it."""
        return replace(self, since=joined(self.since, text))

    @property
    def is_meant(self) -> bool:
        """Whether who spoke since meant to cut it."""
        return takes_turn(self.since, self.heard.sentence, self.say)

    def is_mistaken(self, reply: Reply, confidence: float) -> bool:
        """Whether what was said since, to which ``reply`` would be given, was hardly meant to.

        Where nothing is left to say, only a hang-up is doubted: silence answers no question.
        """
        return bool(self.heard.rest or reply.hang_up) and is_mistaken(reply.verdict, confidence)


def joined(*parts: str) -> str:
    """``parts`` as one text, the empty ones left out."""
    return " ".join(part for part in parts if part)


def cut_json(heard: Played) -> dict[str, str]:
    """What a record says of a cut reply; :func:`agent.replay.replay` reads it."""
    return {
        "heard_whole": heard.whole,
        "heard_words": heard.words,
        "cut_sentence": heard.sentence,
        "rest": heard.rest.text,
    }
