"""How long to wait for whoever answered, by what is known of them. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from agent.callee_words import Says


@dataclass(frozen=True, slots=True)
class CalleePolicy:
    """How long to wait, in milliseconds of silence.

    ``hello_ms`` after a greeting that waits for an answer, ``short_ms``, ``middle_ms`` and
    ``long_ms`` after other words, by how long they took (up to ``short_speech_ms``,
    ``middle_speech_ms``, more); ``reached_ms`` after words that a voicemail may begin with,
    ``finished_ms`` after words of a dead line or a screening service, ``beep_ms`` for the beep of a
    voicemail, ``after_beep_ms`` behind it. ``nobody_ms`` where
    nobody says a word, ``wordless_ms`` of sound without a new word (a street, a television),
    ``longest_ms`` in all. Whoever was greeted is watched for ``watch_ms``; a
    person may take ``screened_ms`` to take a call that was announced to them.
    """

    hello_ms: float = 500.0
    short_ms: float = 900.0
    middle_ms: float = 1200.0
    long_ms: float = 2500.0
    short_speech_ms: float = 2500.0
    middle_speech_ms: float = 5000.0
    reached_ms: float = 1500.0
    beep_ms: float = 5000.0
    after_beep_ms: float = 300.0
    finished_ms: float = 900.0
    nobody_ms: float = 4000.0
    wordless_ms: float = 8000.0
    longest_ms: float = 75_000.0
    watch_ms: float = 20_000.0
    screened_ms: float = 25_000.0

    def after(self, kind: Says, speech_ms: float, *, heard_all: bool) -> float:
        """Silence to wait for after ``speech_ms`` of words of ``kind``.

        ``heard_all`` says that the words up to this silence are known.
        """
        by_kind = {
            Says.RECORDS: self.beep_ms,
            Says.VOICEMAIL: self.beep_ms,
            Says.DEAD: self.finished_ms,
            Says.SCREENS: self.finished_ms,
            Says.MENU: self.long_ms,
            Says.REACHED: self.reached_ms,
        }
        if kind in by_kind:
            return by_kind[kind]
        # Five seconds heard as “hello” were not heard well.
        hello = kind is Says.HELLO and speech_ms <= self.short_speech_ms
        if heard_all and (hello or kind is Says.OFFERS):
            return self.hello_ms
        if speech_ms <= self.short_speech_ms:
            return self.short_ms
        return self.middle_ms if speech_ms <= self.middle_speech_ms else self.long_ms
