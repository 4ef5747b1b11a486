"""Turn-taking as a state machine without I/O: ``step(event, now_ms) -> actions``.

Live calls, tests with a fake clock and replay drive the same object. Two signals say that the
caller has finished, and both start while the caller is already silent: how it sounds (Smart
Turn's probability) and how it reads (the provisional transcript). The more they agree, the less
silence is waited for (:mod:`agent.patience`).

A caller who speaks over the agent cuts it at once. A sound that is doubted (the agent's own echo,
a far voice) does so only when its words, or its loudness, make it a caller's.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from agent.patience import patience_ms
from speech.types import Hint

# Speech that goes on this soon after the reply began did not react to it: a person needs longer
# to hear a voice, understand that it is one, and speak, and the VAD needs 0.13 s of that.
REACTION_MS = 600.0


class Doubt(Enum):
    """Why a sound may be no caller who wants the turn."""

    ECHO = "echo"
    QUIET = "quiet"
    WORDLESS = "wordless"


@dataclass(frozen=True, slots=True)
class SpeechStarted:
    """The VAD is sure that someone speaks; ``doubt`` that it is a caller who wants the turn.

    Sent again without a doubt once a doubt is gone.
    """

    doubt: Doubt | None = None


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
    """What the recogniser makes of the turn so far; ``provisional`` while the caller speaks.

    ``takes_turn`` is False for what is not meant to be answered: see :mod:`agent.backchannel`.
    ``finished`` is the probability that the turn is over, where the recogniser can tell. ``over``
    says that the text is of a turn that has ended: it opens none.
    """

    text: str
    provisional: bool = False
    takes_turn: bool = True
    finished: float | None = None
    over: bool = False


@dataclass(frozen=True, slots=True)
class AgentStarted:
    """The agent's voice began."""


@dataclass(frozen=True, slots=True)
class AgentStopped:
    """The agent's voice ended."""


@dataclass(frozen=True, slots=True)
class AgentAsked:
    """What the agent's last words ask for."""

    hint: Hint


@dataclass(frozen=True, slots=True)
class SignOfLife:
    """Somebody is there, though nothing was said: a key was pressed, a call is on hold."""


@dataclass(frozen=True, slots=True)
class Clock:
    """Time went by; send one at ``deadline_ms``."""


AgentEvent = AgentStarted | AgentStopped | AgentAsked
Event = SpeechStarted | SpeechStopped | SoundsComplete | Heard | AgentEvent | SignOfLife | Clock


class Action(Enum):
    """What the call has to do.

    ``IGNORE`` closes, for the recogniser, a sound that was no turn.
    """

    START_TURN = "start_turn"
    INTERRUPT = "interrupt"
    ASK_TURN_MODEL = "ask_turn_model"
    END_TURN = "end_turn"
    IGNORE = "ignore"
    PROMPT = "prompt"
    GIVE_UP = "give_up"


@dataclass(frozen=True, slots=True)
class TurnPolicy:
    """How long to wait, in milliseconds of silence. ``cap_ms`` ends a turn without evidence.

    Of unbroken sound: ``noise_ms`` without a word that takes the turn ends one that cut the agent,
    ``wordless_ms`` without a new word any other, ``longest_ms`` every turn.
    """

    settle_ms: float = 180.0
    unsure_ms: float = 850.0
    dangling_ms: float = 1200.0
    cap_ms: float = 1500.0
    complete_probability: float = 0.25
    prompt_after_ms: float = 12_000.0
    prompts: int = 2
    noise_ms: float = 1000.0
    wordless_ms: float = 10_000.0
    longest_ms: float = 60_000.0


class _State(Enum):
    CLOSED = "closed"
    DOUBTED = "doubted"
    OPEN = "open"


class TurnMachine:
    """Whose turn it is. Times are milliseconds on any one clock that the caller chooses."""

    def __init__(self, policy: TurnPolicy, now_ms: float = 0.0) -> None:
        self._policy = policy
        self._state = _State.CLOSED
        self._doubt: Doubt | None = None
        self._sounds = False
        self._silent_since: float | None = None
        self._since = now_ms
        self._new_words_ms = now_ms
        self._probability: float | None = None
        self._heard: Heard | None = None
        self._patience_ms = policy.cap_ms
        self._resumed = 0
        self._expects = Hint.NONE
        self._unheard = False
        self._answered_ms: float | None = None
        self._cuts = False
        self._agent_speaks = False
        self._idle_since = now_ms
        self._prompted = 0

    @property
    def is_open(self) -> bool:
        """Whether the caller has the turn."""
        return self._state is _State.OPEN

    @property
    def doubt(self) -> Doubt | None:
        """Why the sound of the moment is not taken for a turn, if there is one and it is not."""
        return self._doubt if self._state is _State.DOUBTED and self._sounds else None

    @property
    def deadline_ms(self) -> float | None:
        """When to send the next ``Clock``, or None while only events matter."""
        if self._state is _State.OPEN:
            return self._turn_ends_ms
        idle = None if self._agent_speaks else self._idle_since + self._policy.prompt_after_ms
        if self._state is _State.CLOSED or self._silent_since is None:
            return idle
        ends = self._silent_since + self._policy.cap_ms
        return ends if idle is None else min(ends, idle)

    def step(self, event: Event, now_ms: float) -> list[Action]:
        """Take one event; return what to do, in order."""
        match event:
            case SpeechStarted(doubt):
                return self._speech_started(doubt, now_ms)
            case SpeechStopped(silence_ms):
                return self._speech_stopped(now_ms - silence_ms)
            case Heard():
                if actions := self._words(event, now_ms):
                    return actions
            case SoundsComplete(probability):
                self._probability = probability
                self._judge()
            case AgentStarted() | AgentStopped() | AgentAsked():
                if actions := self._agent(event, now_ms):
                    return actions
            case SignOfLife():
                self._idle_since, self._prompted = now_ms, 0
            case Clock():
                pass
        return self._due(now_ms)

    def _agent(self, event: AgentEvent, now_ms: float) -> list[Action]:
        if isinstance(event, AgentAsked):
            self._expects = event.hint
            return []
        self._agent_speaks = isinstance(event, AgentStarted)
        if self._agent_speaks:
            if self._answered_ms is None:
                self._answered_ms = now_ms
            return []
        self._idle_since = now_ms
        if self._state is _State.DOUBTED and self._doubt is Doubt.QUIET and self._sounds:
            return self._open(now_ms)  # nobody else speaks: it may well be the caller
        return []

    def _speech_started(self, doubt: Doubt | None, now_ms: float) -> list[Action]:
        self._sounds = True
        since = self._silent_since
        self._silent_since = self._probability = None
        if self._state is _State.OPEN:
            # Fluent speech has gaps of 0.1 s in it; one that might have been answered is a pause.
            self._resumed += since is not None and now_ms - since >= self._policy.settle_ms
            self._heard = None
            self._new_words_ms = now_ms
            return []
        if doubt is Doubt.ECHO or (doubt is not None and self._agent_speaks):
            self._state, self._doubt, self._heard = _State.DOUBTED, doubt, None
            return []
        return self._open(now_ms)

    def _open(self, now_ms: float) -> list[Action]:
        # What was heard of an echo or a noise so far is not the turn's; of a far voice it is.
        spoilt = self._doubt in (Doubt.ECHO, Doubt.WORDLESS)
        self._state, self._doubt, self._heard = _State.OPEN, None, None
        self._cuts = self._agent_speaks
        self._resumed = max(0, self._resumed + (1 if self._takes_back(now_ms) else -1))
        self._since = self._new_words_ms = now_ms
        # Also when the agent is silent: an answer may be on its way to the voice.
        actions = [Action.INTERRUPT, Action.START_TURN]
        return [Action.IGNORE, *actions] if spoilt else actions

    def _takes_back(self, now_ms: float) -> bool:
        """Whether the turn that ended last had not: the caller goes on without having heard us."""
        unheard, self._unheard = self._unheard, False
        since = self._answered_ms
        return unheard and (since is None or now_ms - since <= REACTION_MS)

    def _speech_stopped(self, silent_since: float) -> list[Action]:
        self._sounds = False
        if self._state is _State.CLOSED:
            return []
        self._silent_since = silent_since
        self._probability = None  # one that came late is about an earlier pause
        if self._heard is not None and self._heard.provisional:
            self._heard = None  # the last words may not be in it
        self._judge()
        return [Action.ASK_TURN_MODEL] if self._state is _State.OPEN else []

    def _words(self, heard: Heard, now_ms: float) -> list[Action]:
        takes_turn = self._takes_turn(heard)
        if self._doubt is Doubt.ECHO:
            takes_turn = False  # a caller over it is louder, and then it is doubted no more
        if takes_turn:
            self._prompted = 0
        if heard.over:
            return []
        if self._state is _State.DOUBTED:
            return self._doubted_words(heard, takes_turn, now_ms)
        if self._state is _State.OPEN:
            if self._heard is None or heard.text != self._heard.text:
                self._new_words_ms = now_ms
            if not heard.provisional or self._sounds:
                self._heard = heard
            if not heard.provisional:
                if heard.finished is not None:
                    self._probability = heard.finished
                self._judge()
        return []

    def _doubted_words(self, heard: Heard, takes_turn: bool, now_ms: float) -> list[Action]:
        """Words of a sound that was doubted: they make it a turn, or its end makes it none."""
        if takes_turn:
            self._doubt = None  # the words are the turn's: the recogniser keeps them
            actions = self._open(now_ms)
            self._heard = heard
            if not self._sounds:
                self._probability = 1.0  # it was not worth asking a turn model
                self._judge()
                actions += self._due(now_ms)
            return actions
        if heard.provisional or self._sounds:
            return []
        return self._close(Action.IGNORE)

    @property
    def _turn_ends_ms(self) -> float:
        policy = self._policy
        heard = self._heard
        if self._silent_since is None:
            if self._cuts and heard is not None and not heard.text:
                return self._since + policy.noise_ms
            return min(self._new_words_ms + policy.wordless_ms, self._since + policy.longest_ms)
        if self._cuts and heard is not None and not self._takes_turn(heard):
            return self._silent_since + policy.settle_ms
        return self._silent_since + self._patience_ms

    def _judge(self) -> None:
        """How long to wait, by what is known of this pause and of the pauses before it."""
        text = None if self._heard is None else self._heard.text
        self._patience_ms = patience_ms(
            text, self._probability, self._policy, resumed=self._resumed, expects=self._expects
        )

    @staticmethod
    def _takes_turn(heard: Heard) -> bool:
        return heard.takes_turn and bool(heard.text)

    def _due(self, now_ms: float) -> list[Action]:
        deadline = self.deadline_ms
        if deadline is None or now_ms < deadline:
            return []
        if self._state is _State.OPEN:
            self._idle_since = now_ms
            self._unheard, self._answered_ms = True, None
            return self._close(Action.END_TURN)
        if self._state is _State.DOUBTED and self._silent_since is not None:
            return self._close(Action.IGNORE)
        self._idle_since = now_ms
        self._prompted += 1
        return [Action.PROMPT if self._prompted <= self._policy.prompts else Action.GIVE_UP]

    def _close(self, action: Action) -> list[Action]:
        """The turn, or the sound that was none, is over; a sound that goes on is watched."""
        self._state = _State.DOUBTED if self._sounds else _State.CLOSED
        self._doubt = Doubt.WORDLESS if self._sounds else None
        self._silent_since = self._heard = None
        self._cuts = False
        return [action]
