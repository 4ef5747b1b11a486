"""Turn-taking as a state machine without I/O: ``step(event, now_ms) -> actions``.

Live calls, tests with a fake clock and replay drive the same object. Two signals say that the
caller has finished, and both start while the caller is already silent: how it sounds (Smart
Turn's probability) and how it reads (the provisional transcript). The more they agree, the less
silence is waited for.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

# Words nobody ends a turn with: conjunctions, articles, prepositions, hesitations.
_DANGLING = frozenset(
    "and or but so because if when that than the a an my your our their this these to for of with "
    "at in on from by about is are was were do does did can could would will should i i'm um uh er "
    "erm like then what's".split()
)
# A question may well end in one of these ("what is that for", "when do you open on").
_STRANDED = frozenset("to for of with at in on from by about that do does did can is are".split())
# “Do you …”, “can I …”: a question that has only begun, question mark or not.
_AUXILIARIES = frozenset(
    "am are can could did do does had has have how's is may must shall should was were what's "
    "when's where's will would".split()
)
_BEING = frozenset("am are is was were".split())
_ASKING = frozenset("who what when where how why which".split())
_SUBJECTS = frozenset("i you we they he she it there guys".split())


@dataclass(frozen=True, slots=True)
class SpeechStarted:
    """The VAD is sure that the caller speaks."""


@dataclass(frozen=True, slots=True)
class SpeechStopped:
    """The VAD heard ``silence_ms`` of silence after speech."""

    silence_ms: float


@dataclass(frozen=True, slots=True)
class SoundsComplete:
    """Smart Turn's probability that the turn is over."""

    probability: float


@dataclass(frozen=True, slots=True)
class Heard:
    """What the recogniser makes of the turn so far."""

    text: str


@dataclass(frozen=True, slots=True)
class AgentStarted:
    """The agent's voice began."""


@dataclass(frozen=True, slots=True)
class AgentStopped:
    """The agent's voice ended."""


@dataclass(frozen=True, slots=True)
class Clock:
    """Time went by; send one at ``deadline_ms``."""


Event = SpeechStarted | SpeechStopped | SoundsComplete | Heard | AgentStarted | AgentStopped | Clock


class Action(Enum):
    """What the call has to do."""

    START_TURN = "start_turn"
    INTERRUPT = "interrupt"
    ASK_TURN_MODEL = "ask_turn_model"
    END_TURN = "end_turn"
    PROMPT = "prompt"
    GIVE_UP = "give_up"


@dataclass(frozen=True, slots=True)
class TurnPolicy:
    """How long to wait, in milliseconds of silence. ``cap_ms`` ends a turn without evidence."""

    settle_ms: float = 200.0
    unsure_ms: float = 400.0
    dangling_ms: float = 1200.0
    cap_ms: float = 1500.0
    complete_probability: float = 0.5
    prompt_after_ms: float = 12_000.0
    prompts: int = 2


def dangles(text: str) -> bool:
    """Whether the words stop where no one stops: “and”, “the”, “um”, “do you”."""
    asked = text.rstrip().endswith("?")
    words = text.lower().replace("?", " ").replace(".", " ").replace(",", " ").split()
    if not words:
        return False
    if _only_begun(words):
        return True
    last = words[-1]
    return not asked and last in _DANGLING and not (last in _STRANDED and len(words) > 3)


def _only_begun(words: list[str]) -> bool:
    """“Do you”, “what can I”; but “who are you” is whole."""
    if len(words) < 2 or words[-2] not in _AUXILIARIES or words[-1] not in _SUBJECTS:
        return False
    return not (words[-2] in _BEING and words[:-2] and words[-3] in _ASKING)


class TurnMachine:
    """Whose turn it is. Times are milliseconds on any one clock that the caller chooses."""

    def __init__(self, policy: TurnPolicy, now_ms: float = 0.0) -> None:
        self._policy = policy
        self._open = False
        self._silent_since: float | None = None
        self._probability: float | None = None
        self._text: str | None = None
        self._agent_speaks = False
        self._idle_since = now_ms
        self._prompted = 0

    @property
    def deadline_ms(self) -> float | None:
        """When to send the next ``Clock``, or None while only events matter."""
        if self._open:
            return None if self._silent_since is None else self._silent_since + self._patience_ms
        return None if self._agent_speaks else self._idle_since + self._policy.prompt_after_ms

    def step(self, event: Event, now_ms: float) -> list[Action]:
        """Take one event; return what to do, in order."""
        match event:
            case SpeechStarted():
                return self._speech_started()
            case SpeechStopped(silence_ms):
                return self._speech_stopped(now_ms - silence_ms)
            case SoundsComplete(probability):
                self._probability = probability
            case Heard(text):
                self._text = text
            case AgentStarted():
                self._agent_speaks = True
            case AgentStopped():
                self._agent_speaks = False
                self._idle_since = now_ms
            case Clock():
                pass
        return self._due(now_ms)

    def _speech_started(self) -> list[Action]:
        self._silent_since = self._probability = self._text = None
        self._prompted = 0
        if self._open:
            return []
        self._open = True
        # Also when the agent is silent: an answer may be on its way to the voice.
        return [Action.INTERRUPT, Action.START_TURN]

    def _speech_stopped(self, silent_since: float) -> list[Action]:
        if not self._open:
            return []
        self._silent_since = silent_since
        self._probability = None  # one that came late is about an earlier pause
        return [Action.ASK_TURN_MODEL]

    @property
    def _patience_ms(self) -> float:
        policy = self._policy
        if self._probability is None or self._text is None:
            return policy.cap_ms
        if dangles(self._text):
            return policy.dangling_ms
        if self._probability >= policy.complete_probability:
            return policy.settle_ms
        return policy.unsure_ms

    def _due(self, now_ms: float) -> list[Action]:
        deadline = self.deadline_ms
        if deadline is None or now_ms < deadline:
            return []
        self._idle_since = now_ms
        if self._open:
            self._open = False
            self._silent_since = None
            return [Action.END_TURN]
        self._prompted += 1
        return [Action.PROMPT if self._prompted <= self._policy.prompts else Action.GIVE_UP]
