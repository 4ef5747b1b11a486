"""What the records' own words mean, in a line for a person."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_REASONS = {
    "supported": "a passage supports it",
    "below_floor": "no passage is close enough to the question",
    "check_failed": "the closest passage does not answer it: a check failed",
    "empty": "nothing was understood",
    "too_long": "the question was too long",
    "instruction": "it was an instruction to the agent, not a question",
    "other_callers": "it asked about other callers",
    "retrieval_failed": "the documents could not be searched",
    "greeting": "a greeting",
    "thanks": "thanks",
    "goodbye": "goodbye",
    "repeat": "asked to say it again",
    "louder": "asked to speak up",
    "slower": "asked to speak slower",
    "are_you_a_robot": "asked whether this is a robot",
    "person": "asked for a person",
    "wait": "asked to wait",
    "acknowledged": "the caller agreed",
    "go_on": "asked to go on",
    "emergency": "somebody may be in danger",
}
_CHANGES = {
    "slot": "another day, date or kind of person than in the question before",
    "day": "the day that was asked about before",
    "thing": "another thing of the kind",
    "added": "the new words put behind the question before",
    "dropped": "a topic of its own: the question before was left",
    "same": "the same question for something else",
    "corrected": "the caller corrected it",
    "other": "the other one of two",
    "pointed": "the subject in the place of the pronoun",
    "implied": "about what was asked before",
    "place": "the name of the place put behind it",
    "asked_again": "asks again for what was said",
}
STAGES = (
    ("paused", "silence noticed"),
    ("heard", "recogniser"),
    ("turn_model", "end-of-turn model"),
    ("turn_ended", "waiting for silence"),
    ("decided", "answer"),
    ("audible", "voice and wire"),
)
"""Marks of a turn in the order they are reached, with what ends at each."""


def reason(name: str) -> str:
    """Why it was decided so."""
    return _REASONS.get(name, name.replace("_", " "))


def change(name: str) -> str:
    """By which rule a question was made to stand alone."""
    return _CHANGES.get(name, name.replace("_", " "))


def line(event: Mapping[str, Any]) -> str:
    """An event in a line; its plain name where nothing more is to be said."""
    kind = str(event.get("event", ""))
    of = _LINES.get(kind)
    if of is None:
        return kind.replace("_", " ")
    return of.format_map(_Fields(event))


class _Fields(dict[str, Any]):
    """An event's fields as words; one that another version did not write is a question mark."""

    def __missing__(self, key: str) -> str:
        return "?"


_LINES = {
    "call_started": "the call began",
    "ready": "answers from documents {kb}",
    "said": "said: {say}",
    "rewriting": "a language model on the follow-up: {outcome}",
    "generation": "a language model on the answer: {outcome}",
    "second_opinion": "heard again: {text} ({outcome})",
    "verdict": "heard: {heard} → {decision} ({reason})",
    "reply_started": "the voice began",
    "reply_ended": "the reply was played to its end",
    "interrupted": "the caller cut in after {played_ms} ms",
    "resumed": "what cut the reply was no turn: it went on",
    "ignored": "a sound over the agent that cut nothing",
    "taken_back": "the reply was taken back after {played_ms} ms: the caller went on",
    "key": "a key was pressed: {key}",
    "typed": "a number was typed: {number}",
    "handing_over": "handing over ({rule})",
    "handed_over": "handed over after {ms} ms",
    "handover_failed": "not handed over: {problem}",
    "handover_called_off": "the caller wanted something else: not handed over",
    "returned": "the caller is back: {problem}",
    "hang_up": "the agent ends the call",
    "call_ended": "the call ended: {reason}",
}
