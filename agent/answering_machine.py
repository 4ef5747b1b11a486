"""Who answered a call that we placed, without I/O: ``step(event, now_ms) -> actions``.

A person says a word or two and waits; a voicemail talks on, and beeps. Neither is talked over: the
agent speaks when a person has finished, or after the beep. Whoever was taken for a person may
still turn out to be a voicemail (it paused after its owner's name), so the machine goes on
watching until there is a conversation.

Asterisk's ``AMD()`` decides by the lengths of speech and silence alone
(https://docs.asterisk.org/Latest_API/API_Documentation/Dialplan_Applications/AMD/); here the words
and the beep decide where they can, and lengths where they can't. ``python -m
bench.answering_machine`` compares the two.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from agent.callee_policy import CalleePolicy
from agent.callee_words import Says, says
from agent.turns import AgentStarted, AgentStopped, Clock, Heard, SpeechStarted, SpeechStopped


class Found(Enum):
    """Who answered, as far as is known."""

    NOBODY_YET = "nobody yet"
    PERSON = "person"
    VOICEMAIL = "voicemail"
    MENU = "menu"
    NO_LINE = "no line"


class Action(Enum):
    """What the call has to do. ``STOP`` cuts what the agent says; ``CONVERSE`` cuts its message,
    for a person. ``LEAVE`` is to leave the message, ``SAY_WHO`` to tell a screening service.
    """

    GREET = "greet"
    SAY_WHO = "say_who"
    STOP = "stop"
    LEAVE = "leave"
    CONVERSE = "converse"
    HANG_UP = "hang_up"


@dataclass(frozen=True, slots=True)
class Beeped:
    """A tone that ended at ``ended_ms``; not ``alone`` where others were right beside it."""

    hz: float
    ms: float
    ended_ms: float
    alone: bool = True


Event = SpeechStarted | SpeechStopped | Heard | Beeped | AgentStarted | AgentStopped | Clock


class _State(Enum):
    LISTENING = "listening"
    WATCHING = "watching"
    LEAVING = "leaving"
    OVER = "over"


_RECORDED = (Says.RECORDS, Says.VOICEMAIL)
_ANY = frozenset(Says)
# What a kind that is known gives way to, as more is heard; any other gives way to all.
_TELLING = _ANY - {Says.NOTHING, Says.HELLO, Says.REACHED}
_REPLACES = {
    Says.DEAD: frozenset[Says](),
    Says.RECORDS: frozenset({Says.DEAD}),
    Says.VOICEMAIL: frozenset({Says.DEAD, Says.RECORDS, Says.OFFERS, Says.SCREENS}),
    Says.MENU: _TELLING,
    Says.SCREENS: _TELLING,
    Says.REACHED: _TELLING,
}
_FAX_MS = 2500.0
_SIT_HZ = (950.0, 1400.0, 1777.0)  # ITU-T E.180: each is sounded within 45 Hz of these
_SIT_NEAR_HZ = 50.0
_SAME_HZ = 15.0
# Nobody talks so long behind the tone that starts a recording.
_AFTER_BEEP_SPEECH_MS = 1500.0
# What the VAD may take a tone for beyond its own length.
_VAD_MS = 300.0


class AnsweringMachine:
    """Times are milliseconds on any one clock; the call was answered at ``now_ms``."""

    def __init__(self, policy: CalleePolicy, now_ms: float = 0.0) -> None:
        self._policy = policy
        self._state = _State.LISTENING
        self._found = Found.NOBODY_YET
        self.why = ""
        self._answered_ms = now_ms
        self._since = now_ms
        self._sounds_since: float | None = None
        self._silent_since: float | None = None
        self._spoke_since: float | None = None
        self._speech_ms = 0.0
        self._kind = Says.NOTHING
        self._text_is_new = False
        self._text, self._new_words_ms = "", now_ms
        self._tones: list[Beeped] = []
        self._beep_ms: float | None = None
        self._replies = 0
        self._agent_speaks = False
        self._screened = False
        self._left_without_beep = False

    @property
    def found(self) -> Found:
        """Who answered, as far as is known."""
        return self._found

    @property
    def holds(self) -> bool:
        """Whether the agent must not converse: nobody to talk to is known, or a message is left."""
        return self._state in (_State.LISTENING, _State.LEAVING)

    @property
    def watches(self) -> bool:
        """Whether events still matter."""
        return self._state is not _State.OVER

    @property
    def deadline_ms(self) -> float | None:
        """When to send the next ``Clock``; None while only events matter."""
        if self._state is _State.WATCHING:
            return self._since + self._policy.watch_ms
        if self._state is _State.OVER:
            return None
        if self._state is _State.LEAVING:
            return self._since + self._policy.longest_ms
        longest = self._answered_ms + self._policy.longest_ms
        if self._agent_speaks:
            return longest
        if self._sounds_since is not None:
            return min(longest, self._new_words_ms + self._policy.wordless_ms)
        since = self._since if self._silent_since is None else self._silent_since
        return min(longest, since + self._patience_ms)

    def step(self, event: Event, now_ms: float) -> list[Action]:
        """Take one event; return what to do, in order."""
        if self._state is _State.OVER:
            return []
        match event:
            case Heard():
                return self._words(event, now_ms)
            case Beeped():
                return self._tone(event, now_ms)
            case SpeechStarted():
                self._speech_started(now_ms)
            case SpeechStopped(silence_ms):
                self._speech_stopped(now_ms - silence_ms)
            case AgentStarted() | AgentStopped():
                return self._agent(isinstance(event, AgentStarted), now_ms)
            case Clock():
                pass
        return self._due(now_ms)

    def _speech_started(self, now_ms: float) -> None:
        if self._sounds_since is None:
            self._sounds_since = self._new_words_ms = now_ms
            self._text_is_new = False
            self._spoke_since = self._since

    def _speech_stopped(self, silent_since: float) -> None:
        if self._sounds_since is None:
            return
        begun, self._sounds_since = self._sounds_since, None
        self._speech_ms += max(0.0, silent_since - begun)
        self._silent_since = silent_since
        beep_ms = self._beep_ms
        if beep_ms is not None and silent_since - max(begun, beep_ms) > _AFTER_BEEP_SPEECH_MS:
            self._beep_ms = None  # it was not the one

    def _words(self, heard: Heard, now_ms: float) -> list[Action]:
        kind = says(heard.text)
        if self._state is _State.LEAVING:
            return self._spoken_over(heard)
        if self._state is _State.WATCHING:
            return self._not_a_person(kind, now_ms)
        if not heard.provisional:
            self._text_is_new = True
        if heard.text != self._text:
            self._text, self._new_words_ms = heard.text, now_ms
        if kind in _REPLACES.get(self._kind, _ANY):
            self._kind = kind
        return self._due(now_ms)

    def _not_a_person(self, kind: Says, now_ms: float) -> list[Action]:
        """Whoever was greeted asks for a message: a voicemail after all."""
        if kind is not Says.RECORDS:
            return []
        self._listen_again(now_ms)
        self._kind, self._found = Says.RECORDS, Found.VOICEMAIL
        return [Action.STOP]

    def _listen_again(self, now_ms: float) -> None:
        self._state, self._since, self._agent_speaks = _State.LISTENING, now_ms, False
        if self._sounds_since is None:
            self._silent_since = now_ms

    def _spoken_over(self, heard: Heard) -> list[Action]:
        """Words over the message: a person picked up, or was there all along."""
        # A text that comes late is of the voicemail's own words, or of its beep.
        begun_since = self._spoke_since == self._since
        if not heard.takes_turn or not begun_since or says(heard.text) in _RECORDED:
            return []
        self._decide(Found.PERSON, "spoke over the message")
        return [Action.CONVERSE]

    def _tone(self, tone: Beeped, now_ms: float) -> list[Action]:
        self._tones.append(tone)
        began = tone.ended_ms - tone.ms
        if self._sounds_since is None or self._sounds_since >= began:
            self._silent_since, self._sounds_since = tone.ended_ms, None  # the VAD heard the tone
        if self._state is _State.WATCHING:
            if not tone.alone:
                return []
            self._listen_again(tone.ended_ms)
            self._beep_ms, self._found = tone.ended_ms, Found.VOICEMAIL
            return [Action.STOP, *self._due(now_ms)]
        if self._state is _State.LEAVING:
            return self._late_beep(tone, now_ms)
        if tone.ms > _FAX_MS:
            return self._hang_up(Found.NO_LINE, "a fax or a modem")
        if self._is_special():
            return self._hang_up(Found.NO_LINE, "not in service")
        if self._only_tones and self._sounds_since is None:
            return self._progress(now_ms)
        if tone.alone or self._kind in _RECORDED:
            self._beep_ms, self._found = tone.ended_ms, Found.VOICEMAIL
        return self._due(now_ms)

    def _late_beep(self, tone: Beeped, now_ms: float) -> list[Action]:
        """The message was begun without a beep, and now there is one: begin again."""
        if not self._left_without_beep or not tone.alone:
            return []
        self._listen_again(tone.ended_ms)
        self._beep_ms, self._left_without_beep = tone.ended_ms, False
        return [Action.STOP, *self._due(now_ms)]

    def _progress(self, now_ms: float) -> list[Action]:
        """Tones and no word: engaged if they repeat, else a voicemail with nothing but its beep."""
        pitches = [tone.hz for tone in self._tones]
        if len(pitches) > 1 and abs(pitches[-1] - pitches[-2]) < _SAME_HZ:
            return self._hang_up(Found.NO_LINE, "engaged")
        return self._due(now_ms)

    def _is_special(self) -> bool:
        """Whether the last three tones are the special information tones."""
        last = self._tones[-3:]
        return len(last) == 3 and all(
            abs(tone.hz - hz) < _SIT_NEAR_HZ for tone, hz in zip(last, _SIT_HZ, strict=True)
        )

    @property
    def _patience_ms(self) -> float:
        """Silence to wait for, by all that is known."""
        policy = self._policy
        if self._beep_ms is not None:
            return policy.after_beep_ms
        if self._screened and self._kind not in (Says.HELLO, Says.OFFERS, *_RECORDED):
            return policy.screened_ms
        if self._silent_since is None:
            return policy.nobody_ms
        if self._only_tones:
            return policy.beep_ms
        return policy.after(self._kind, self._speech_ms, heard_all=self._text_is_new)

    @property
    def _only_tones(self) -> bool:
        """Whether nothing was heard but tones, which the VAD may have taken for speech."""
        tones_ms = sum(tone.ms for tone in self._tones)
        return bool(self._tones) and self._speech_ms <= tones_ms + _VAD_MS

    def _due(self, now_ms: float) -> list[Action]:
        deadline = self.deadline_ms
        if deadline is None or now_ms < deadline:
            return []
        if self._state is _State.WATCHING:
            self._state = _State.OVER
            return []
        if self._state is _State.LEAVING:
            return self._hang_up(Found.VOICEMAIL, "the message was not heard to end")
        if now_ms >= self._answered_ms + self._policy.longest_ms:
            return self._hang_up(Found.VOICEMAIL, "its greeting has no end")
        return self._finished(now_ms)

    def _finished(self, now_ms: float) -> list[Action]:
        """Whoever speaks has finished."""
        if self._beep_ms is not None or self._kind in _RECORDED or self._only_tones:
            return self._leave(now_ms)
        if self._kind is Says.DEAD:
            return self._hang_up(Found.NO_LINE, "no message can be left")
        if self._kind is Says.MENU:
            return self._hang_up(Found.MENU, "a menu answered")
        if self._kind is Says.SCREENS and not self._screened:
            self._screened, self._kind = True, Says.NOTHING
            self._since, self._silent_since, self._speech_ms = now_ms, None, 0.0
            return [Action.SAY_WHO]
        spoke = self._silent_since is not None
        self._found, self.why = Found.PERSON, self._kind.value if spoke else "nobody spoke"
        self._state, self._since = _State.WATCHING, now_ms
        return [Action.GREET]

    def _leave(self, now_ms: float) -> list[Action]:
        self._left_without_beep = self._beep_ms is None
        self._found = Found.VOICEMAIL
        self.why = "no beep" if self._left_without_beep else "beep"
        self._state, self._beep_ms, self._since = _State.LEAVING, None, now_ms
        self._agent_speaks = False
        return [Action.LEAVE]

    def _agent(self, speaks: bool, now_ms: float) -> list[Action]:
        """The agent's voice began or ended."""
        spoke, self._agent_speaks = self._agent_speaks, speaks
        if speaks:
            self._replies += self._state is _State.WATCHING
            if self._replies > 1:
                self._state = _State.OVER  # there is a conversation
            return []
        if self._state is _State.LEAVING:  # what was cut before it may be told of only now
            return self._hang_up(Found.VOICEMAIL, "message left") if spoke else []
        if self._silent_since is None:
            self._since = now_ms  # who calls was told to a screening service: wait for the person
        return self._due(now_ms)

    def _hang_up(self, found: Found, why: str) -> list[Action]:
        self._decide(found, why)
        return [Action.HANG_UP]

    def _decide(self, found: Found, why: str) -> None:
        self._found, self.why, self._state = found, why, _State.OVER
