"""The input guard: what is sent back before anything is looked up, and what is said instead.

A guard never drops an utterance in silence. It matches phrases, not words: "what hours you are
open" and "can I ignore this letter" are questions like any other.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from frontdesk import Spoken
from rag.rewrite import words as split_words
from rag.types import Policy, Reason

SAYINGS = {
    Reason.EMPTY: "Sorry, I didn't catch that. Could you say it again?",
    Reason.TOO_LONG: "That was a lot at once. Could you ask me one thing at a time?",
    Reason.INSTRUCTION: "I can only answer questions from our documents. What would you like to "
    "know?",
    Reason.OTHER_CALLERS: "I can't tell you anything about other people. What else would you like "
    "to know?",
}

# Attempts to steer the system, as cleaned words. Kept to whole phrases.
_INSTRUCTION = re.compile(
    r"\b(?:"
    r"(?:ignore|disregard|forget|bypass|override) (?:\w+ ){0,3}?"
    r"(?:previous|prior|above|earlier|preceding|your|all|system)(?: \w+)? "
    r"(?:instructions?|rules|prompts?|guidelines|training|programming)"
    r"|system prompt|(?:your|the) system message"
    r"|(?:reveal|print|output|repeat|show me|tell me|give me|what (?:is|are)|what's) your "
    r"(?:(?:exact|full|hidden|initial|internal|original|secret|system) )?"
    r"(?:prompt|instructions|programming)"
    # Not "what are your instructions for a blood test".
    r"(?! (?:about|after|before|during|for|if|on|regarding|to|when)\b)"
    r"|(?:^|\b(?:and|instructions|now|rules|so|then) )you are now (?:a|an|my|no longer|the)\b"
    r"|your (?:system )?prompt (?:contains?|looks?|reads?|says?)\b"
    r"|from now on (?:you|answer|respond|speak|act|pretend)"
    r"|pretend (?:to be|(?:that )?you(?:'re| are) (?:a|an|not|my))\b"
    r"|(?:i want you to|please|now|must) act (?:as|like) (?:a|an|if|my)\b"
    r"|^act as (?:a|an|if|my)\b"
    r"|(?:developer|jailbreak|dan|god|debug) mode|jail ?break|do anything now"
    r"|(?<!do you )(?<!they )(?<!doctors )(?:respond|reply|answer) only (?:with|in)\b"
    r"|(?:^|\b(?:are|follow|here|my|these|with|your) )new (?:system )?instructions(?! from\b)"
    r")"
)
# What is known of one caller is nothing for another.
_OTHER_CALLERS = re.compile(
    r"\b(?:"
    r"(?:last|previous|other|next) (?:caller|person (?:who|that) called)|caller before"
    r"|who (?:else )?called (?:before|you|earlier|last)"
    r"|(?<!at the )(?<!to the )(?<!on the )number (?:that )?"
    r"(?:i'm|i am|i was|i) call(?:ed|ing) (?:you )?from"
    r"|patient number \d+"
    r"|(?:list|names) of (?:all )?(?:your |the )?(?:patients|customers|guests|callers)(?! rights)\b"
    r"|card number (?:\w+ ){0,3}?on file"
    r"|(?<!pick up )(?<!collect )(?<!pay )(?<!cancel )"
    r"(?:someone|somebody) else'?s (?:\w+ )?(?:records?|results?|appointments?|file|bill)"
    r")\b"
)
_MARKUP = re.compile(r"<\|[^|]*\|>|\[/?INST\]|<</?SYS>>|^\s*#{2,}\s*(?:system|instruction)", re.I)


@dataclass(frozen=True, slots=True)
class Guarded:
    """Why an utterance is not looked up, and what is said."""

    reason: Reason
    say: Spoken
    detail: str


def check(text: str, policy: Policy | None = None) -> Guarded | None:
    """``None`` for an utterance that may be looked up, else the reason and a sentence to say."""
    policy = policy or Policy()
    # Cut before any other work: an utterance of any length costs the same.
    words = split_words(text[: policy.max_words * 20])
    if not words:
        return _guarded(Reason.EMPTY, "no words")
    if len(words) > policy.max_words or len(text) > policy.max_words * 20:
        return _guarded(Reason.TOO_LONG, f"more than {policy.max_words} words")
    said = " ".join(words)
    if found := _INSTRUCTION.search(said) or _MARKUP.search(text):
        return _guarded(Reason.INSTRUCTION, f"matched {' '.join(found.group().split())!r}")
    if found := _OTHER_CALLERS.search(said):
        return _guarded(Reason.OTHER_CALLERS, f"matched {found.group()!r}")
    return None


def nothing_asked(text: str = "") -> Guarded:
    """For an utterance of fillers only ("um"), or of numbers ("0177")."""
    if any(char.isdigit() for char in text):
        say = Spoken("I heard a number. What would you like to know?")
        return Guarded(Reason.EMPTY, say, "numbers only")
    return _guarded(Reason.EMPTY, "fillers only")


def _guarded(reason: Reason, detail: str) -> Guarded:
    return Guarded(reason, Spoken(SAYINGS[reason]), detail)
