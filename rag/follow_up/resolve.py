"""A question as it was heard, in a call: made to stand alone, or left as it is.

Rules first, each for one way of going on ("and what about sunday", "the other one"); a question
that none of them knows, and that names a subject of its own, is a new one, and nothing of the old
is dragged along. Only words of the dialogue are ever used.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from rag import days
from rag.follow_up import slots
from rag.follow_up.again import asked_again
from rag.follow_up.names import Names
from rag.follow_up.point import implied, pointed
from rag.follow_up.state import Change, Resolution, State
from rag.follow_up.subject import is_specific
from rag.follow_up.terms import content_words
from rag.language import language_of
from rag.rewrite import (
    CONTEXT_WORDS,
    DAY_AFTER,
    EMPTY_WORDS,
    FOLLOW_UP_WITHIN,
    FRAGMENT,
    clean,
    default_fillers,
    replace_thing,
    words,
)
from rag.types import Query

Cosine = Callable[[str, str], float]
"""How close in meaning two texts are, -1 to 1; the product's embedder gives it."""

RELATED = 0.4
"""A topic of the business this close to the subject before it goes on with it. Below, closeness
tells nothing: over 30 pairs those to keep lay at 0.08 to 0.73, those to drop at 0.06 to 0.31, and
adding the subject by closeness made more questions of CAsT worse than better at every threshold.
"""

# What a caller changes over to: "what about parking", whatever was asked before.
_TOPICS = frozenset(
    "parking hours opening address location directions holidays wifi insurance payment payments "
    "delivery refund refunds cancellation cancellations appointment appointments website email "
    "jobs careers access".split()
)
_HAS = re.compile(
    r"^(?:and )?(?:do|does|did|is|are|can|will|have|has) (?:you|there|it|they|we|i)(?: \S+){1,4}$"
)
# "What about the goal of the deep impact mission" says itself what it asks.
_LONGEST_THING = 2
_LONGEST_NAME = 3
_PLACE = re.compile(r"^(for|with|without|in|at|by|from|to) (.+)$")

_ASKS = re.compile(
    r"\b(?:how|what|when|where|which|who|why|is|are|do|does|did|can|could|will|would|should)\b"
)
# A question of its own to the business, that names no thing: "what time do you open".
_ADDRESSED = re.compile(r"\b(?:you|your|we|i)\b")
_CORRECTION = re.compile(
    r"^(?:(?:no|nope|sorry|actually|wait|not that) )*"
    r"(?:(?:but )?i (?:meant|mean|said|was (?:asking|talking|wondering) about|am asking about)|"
    r"i'm asking about)"
    r"(?: for| on| about| the one for)? (?P<new>.+)$"
    r"|^(?:(?:no|nope|sorry|actually|wait) )+(?:not .+ but )?(?P<short>.+)$"
)
_SAME = re.compile(
    r"^(?:and )?(?:i have |ask )?(?:the )?same(?: (?:question|thing|one))?(?: (?:again|but))*"
    r" (?:about )?(?P<new>(?:for|on|with|at|in)? ?.+)$"
)
_OTHER = re.compile(r"\b(?:the|that|your) other(?: (?:1|one))?$")
_TURNS_BACK = 4
_ONE = re.compile(r"^(?P<kind>.+?) (?:1|one)$")
_ALTERNATIVES = re.compile(r"\b(\S+(?: \S+)?) or (?:a |an |the )?(\S+(?: \S+)?)\b")


class _Found(NamedTuple):
    """A resolved text, the words that are new in it, by which rules, and the subject kept."""

    text: str
    new: str
    changes: tuple[Change, ...]
    prefer: tuple[str, ...] = ()
    subject: str = ""


def resolve(
    asr_text: str,
    state: State | None = None,
    *,
    fillers: frozenset[str] | None = None,
    language: str | None = None,
    cosine: Cosine | None = None,
    names: Names | None = None,
) -> Resolution:
    """The question to look up, and what was changed for it to stand alone.

    ``cosine``, if given, keeps the question before for a "what about …" that names a topic of the
    business, if that is close to what was asked about. With ``names``, for
    documents of several places, the name last spoken by either side goes with the question.
    Never raises for a text; an empty one gives an empty query.
    """
    state = state or State()
    cleaned = days.by_usual_name(clean(asr_text, fillers or default_fillers()))
    before = " ".join(state.question.split()[:CONTEXT_WORDS])
    found = _follow(cleaned, before, state, cosine) if before and cleaned else None
    text = found.text if found else cleaned
    changes = found.changes if found else ()
    place = _place(cleaned, state, names) if names and text else ""
    if names and place and not names.find(text):
        text = f"{text} {' '.join(words(names.names[place]))}"
        changes = (*changes, Change.PLACE)
    said = set(text.split()) - EMPTY_WORDS
    focus = tuple(w for w in found.new.split() if w in said) if found else ()
    query = Query(
        raw=asr_text,
        text=text,
        context=state.question or None,
        language=language or language_of(asr_text),
        focus=focus,
    )
    read = slots.read(found.text if found else cleaned)
    goes_on = bool(found and found.changes != (Change.DROPPED,))
    kept = found.subject if found else ""
    if not goes_on and not read.subject and not _ADDRESSED.search(cleaned):
        kept = state.subject
    return Resolution(
        query=query,
        changes=changes,
        before=cleaned if changes else "",
        subject=kept or read.subject or (state.subject if goes_on else ""),
        day=read.day,
        service=read.service,
        person=read.person,
        document=place or (state.document if goes_on else ""),
        prefer=found.prefer if found else (),
    )


def _place(cleaned: str, state: State, names: Names) -> str:
    """The document of the place that is spoken about, by the latest name that was spoken."""
    texts = [cleaned]
    for turn in reversed(state.turns):
        texts += [*(said.text for said in turn.said), turn.question]
    return names.latest(texts) or (state.document if state.document in names.names else "")


def _follow(cleaned: str, before: str, state: State, cosine: Cosine | None) -> _Found | None:
    """The first rule that knows ``cleaned`` as a follow-up; None for a question of its own."""
    again = asked_again(cleaned, state)
    if again:
        return _Found(again.text, again.noun, (Change.ASKED_AGAIN,), again.prefer)
    corrected = _CORRECTION.match(cleaned)
    if corrected:
        return _corrected(corrected.group("new"), corrected.group("short"), before, state)
    same = _SAME.match(cleaned)
    if same:
        text, _ = _put(same.group("new"), before, state)
        return _Found(text, same.group("new"), (Change.SAME,))
    follow_up = FOLLOW_UP_WITHIN.match(cleaned) or FRAGMENT.match(cleaned)
    if _OTHER.search(cleaned):
        other = _other(state)
        if other:
            frame = cleaned if _ASKS.search(cleaned) and not follow_up else ""
            text = _OTHER.sub(other, frame) if frame else _replace(before, state.subject, other)
            return _Found(text, other, (Change.OTHER,))
    if follow_up:
        new = cleaned[follow_up.end() :]
        if not _ASKS.search(new):
            return _went_on(new, before, state, cosine)
    filled, subject = pointed(cleaned, state)
    if filled:
        return _Found(filled, cleaned, (Change.POINTED,), (), subject)
    of_before = implied(cleaned, state)
    if of_before:
        return _Found(of_before, cleaned, (Change.IMPLIED,), (), state.subject)
    return None


def _went_on(new: str, before: str, state: State, cosine: Cosine | None) -> _Found:
    """ "What about …" with something to put in the place of what was asked before."""
    beside = DAY_AFTER.search(new)
    if beside and days.HOLIDAY.search(before):
        text = days.HOLIDAY.sub(lambda m: f"{beside.group()} {m.group()}", before, count=1)
        return _Found(text, new, (Change.SLOT,))
    if _is_topic(new, before, state) and not (
        cosine and state.subject and cosine(slots.thing_of(new), state.subject) >= RELATED
    ):
        return _Found(new, new, (Change.DROPPED,))
    text, change = _put(new, before, state)
    return _Found(text, new, (change,))


def _is_topic(new: str, before: str, state: State) -> bool:
    """Whether ``new`` names a topic of its own that has no place in the question before.

    "Do you have parking" takes "what about wifi"; "how much is a flu shot" does not take "what
    about parking", nor "can i pay by card".
    """
    thing = slots.thing_of(new).split()
    if not thing or thing[-1] not in _TOPICS or len(thing) > _LONGEST_THING:
        return False
    named = state.subject.split()[-1] if state.subject else ""
    return bool(named) and named not in _TOPICS and not (_HAS.match(before) and _is_had(before))


def _is_had(before: str) -> bool:
    return bool(re.search(r"\b(?:have|offer|provide|there)\b", before))


def _put(new: str, before: str, state: State) -> tuple[str, Change]:
    """``before`` with what ``new`` names in its place: a slot, a thing, or more words."""
    text, rest = slots.put(before, new)
    thing = slots.thing_of(rest)
    if not thing:
        left = " ".join(w for w in rest.split() if w not in EMPTY_WORDS)
        if text != before or not left:
            return text, Change.SLOT
        return f"{before} {rest if _PLACE.match(rest) else left}", Change.ADDED
    said, of, last = thing.partition(" for ")
    if of and said in text:  # "the number for billing", after "the number for the pharmacy"
        new = rest = thing = slots.thing_of(last)
    one = _ONE.match(thing)
    if one:
        return _of_its_kind(text, one.group("kind"), state), Change.THING
    if text == before and len(content_words(rest)) > _LONGEST_NAME:
        return new, Change.DROPPED
    replaced = _put_thing(text, rest, thing, state) if rest == new else ""
    if replaced:
        return replaced, Change.THING
    known = set(text.split()) | EMPTY_WORDS
    return " ".join([text, *(w for w in rest.split() if w not in known)]), Change.ADDED


def _put_thing(text: str, rest: str, thing: str, state: State) -> str:
    """``text`` with ``thing`` in the place of one of its kind, of the words that follow the same
    preposition, or of the subject; "" if it has no place for it."""
    same_head, left = replace_thing(text, rest)
    if not left:
        return same_head
    tail = _same_place(text, rest)
    if tail or _PLACE.match(rest) or len(content_words(thing)) > _LONGEST_THING:
        return tail
    done = thing.split()[0].endswith("ing") and " " in thing
    if not state.subject or done or not any(map(is_specific, state.subject.split())):
        return ""
    replaced = _replace(text, state.subject, thing)
    return replaced if replaced != text else ""


def _same_place(text: str, new: str) -> str:
    """ "For anxiety": in the place of the last words of ``text`` that begin with "for"."""
    place = _PLACE.match(new)
    tail = place and re.search(rf"(?<!\S){place.group(1)}(?: \S+){{1,4}}$", text)
    return f"{text[: tail.start()]}{new}" if tail else ""


def _of_its_kind(text: str, kind: str, state: State) -> str:
    """ "The flu one": the service with ``kind`` in the place of what stands before its head."""
    for old in (state.subject, state.service):
        if old and old in text:
            head = old.split()[-1]
            return _replace(text, old, f"{kind} {head}")
    head = state.service.split()[-1] if state.service else ""
    return f"{text} {kind} {head}".strip()


def _corrected(new: str | None, short: str | None, before: str, state: State) -> _Found | None:
    """ "No, I meant …": a whole question stands for itself, a thing goes into the one before."""
    meant = new or short or ""
    if _ASKS.search(meant):
        return _Found(meant, meant, (Change.CORRECTED,)) if new else None
    if not new and len(meant.split()) > 4:
        return None
    text, _ = _put(meant, before, state)
    return _Found(text, meant, (Change.CORRECTED,))


def _other(state: State) -> str:
    """The other of two: of "a or b" in a question or an answer, else what was asked about before
    this one; "" if there is none."""
    for turn in reversed(state.turns[-_TURNS_BACK:]):
        for text in (*(said.text.lower() for said in turn.said), turn.question):
            for one, other in _ALTERNATIVES.findall(text):
                if state.subject in (one, other):
                    return str(other if state.subject == one else one)
    for turn in reversed(state.turns):
        if turn.subject and turn.subject != state.subject:
            return turn.subject
    return ""


def _replace(text: str, old: str, new: str) -> str:
    """``old`` as whole words in ``text`` replaced once; ``text`` unchanged if it isn't there."""
    if not old:
        return text
    return re.sub(rf"(?<!\S){re.escape(old)}(?!\S)", lambda _: new, text, count=1)
