"""What a simulated caller is going to do, and what would be right to do about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Literal

from frontdesk import ConfigError
from telephony.bad_line import BadLine

Ending = Literal["hangs up", "goodbye", "abruptly"]


class Expect(Enum):
    """What is right to do about a turn; the values are those of a script."""

    ANSWER = "answer"
    REFUSE = "refuse"
    TALK = "talk"
    PERSON = "person"
    GOODBYE = "goodbye"
    PROMPT = "prompt"
    TYPED = "typed"
    ANYTHING = "anything"
    NOTHING = "nothing"


EXPECTS: Mapping[str, str] = {
    "answer": "every one of `facts` said, from the documents",
    "refuse": "no answer, since the documents hold none",
    "talk": "an everyday sentence: hello, thanks, say that again",
    "person": "the caller wants a person: handed over, or told that nobody is there",
    "goodbye": "the caller is done: the agent says goodbye and hangs up",
    "prompt": "silence: “are you still there?”",
    "typed": "a number was typed: the agent says that it has it",
    "anything": "whatever is said, as long as it holds every one of `facts`, if there are any",
    "nothing": "no turn at all (a cough, “mm-hm”): nothing is said to it",
}


@dataclass(frozen=True, slots=True)
class Gold:
    """What is right: of an answer the facts that must be said, each one of some wordings.

    ``relevant`` are the passages that state it; empty where nobody has listed them. ``question``
    is the row of questions.jsonl, if it is one.
    """

    expect: Expect
    facts: tuple[tuple[str, ...], ...] = ()
    relevant: tuple[str, ...] = ()
    question: str = ""


@dataclass(frozen=True, slots=True)
class Noise:
    """A noise behind the caller's words, of a kind of :data:`bench.noises.KINDS`."""

    kind: str
    snr_db: float


@dataclass(frozen=True, slots=True)
class Turn:
    """One thing that the caller does: say ``words``, press ``keys``, or be silent.

    ``but`` are the words of a changed mind, ``pause_ms`` after ``words``. With ``cuts_in_ms`` the
    caller starts that long after the reply before it began. ``audio`` is a file in place of a
    voice. ``follows`` says that it cannot be understood without the turn before it.
    """

    gold: Gold
    words: str = ""
    but: str = ""
    pause_ms: float = 300.0
    keys: str = ""
    silent_s: float = 0.0
    audio: str = ""
    cuts_in_ms: float | None = None
    follows: bool = False

    @property
    def label(self) -> str:
        """What a person calls it."""
        if self.keys:
            return f"[presses {self.keys}]"
        if self.silent_s:
            return f"[silent for {self.silent_s:g} s]"
        return f"{self.words} … {self.but}" if self.but else self.words or self.audio

    @property
    def kind(self) -> str:
        """The factor that it is counted under."""
        if self.but:
            return "changed mind"
        return "follow-up" if self.follows else self.gold.expect.value


@dataclass(frozen=True, slots=True)
class Conversation:
    """One call. ``again`` are the arguments that hold it again.

    ``hangs_up_s`` ends it there, whatever is being said; ``seed`` is that of its noise and line.
    """

    name: str
    number: int
    voice: str
    turns: tuple[Turn, ...]
    noise: Noise | None = None
    line: BadLine = field(default_factory=BadLine)
    ends: Ending = "hangs up"
    hangs_up_s: float | None = None
    seed: int = 0
    again: str = ""

    def __post_init__(self) -> None:
        """Refuse a call in which nothing is done.

        Raises:
            ConfigError: if there is no turn.
        """
        if not self.turns:
            raise ConfigError(f"call {self.name!r} has no turn")
