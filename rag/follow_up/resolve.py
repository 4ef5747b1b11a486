"""A question as it was heard, in a call: made to stand alone, or left as it is.

Rules first, each for one way of going on ("and what about sunday", "the other one"); a question
that none of them knows, and that names a subject of its own, is a new one, and nothing of the old
is dragged along. Only words of the dialogue are ever used.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from rag import days
from rag.follow_up import slots
from rag.follow_up.again import asked_again
from rag.follow_up.bare import bare
from rag.follow_up.mind import changed
from rag.follow_up.names import Names
from rag.follow_up.ones import kind_of_one, of_its_kind, put_for, the_other
from rag.follow_up.openings import (
    CONTEXT_WORDS,
    DAY_AFTER,
    EMPTY_WORDS,
    FOLLOW_UP_WITHIN,
    FRAGMENT,
    replace_thing,
)
from rag.follow_up.point import implied, pointed
from rag.follow_up.same_day import of_that_day
from rag.follow_up.state import Change, Resolution, State
from rag.follow_up.subject import is_specific, runs_of
from rag.follow_up.terms import content_words
from rag.language import language_of
from rag.rewrite import clean, default_fillers, words
from rag.types import Query

Cosine = Callable[[str, str], float]
"""How close in meaning two texts are, -1 to 1; the product's embedder gives it."""

RELATED = 0.4
"""A topic of the business this close to the subject before it goes on with it. Below, closeness
tells nothing: over 30 pairs those to keep lay at 0.08 to 0.73, those to drop at 0.06 to 0.31, and
adding the subject by closeness made more questions of CAsT worse than better at every threshold.
"""

LONGEST = 400
"""Characters of a question above which it is none that goes on; it bounds what a rule may cost."""

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
_LONGEST_SHORT = 4
_ENDS_IN_ONE = re.compile(r"\b(?:(?P<any>an?)|the|my) [^\W\d]{3,}$")
_ONE_THING = re.compile(r"(?:(?P<any>an?)|the|my) [^\W\d]{3,}")
_PLACE = re.compile(r"^(for|with|without|in|on|at|by|from|to) (.+)$")

_ASKS = re.compile(
    r"\b(?:how|what|when|where|which|who|why|is|are|do|does|did|can|could|will|would|should)\b"
)
# A question of its own to the business, that names no thing: "what time do you open".
_ADDRESSED = re.compile(r"\b(?:you|your|we|i)\b")
_GOES_ON = re.compile(r"^(?:and|but) ")
_WHAT_IF = re.compile(r"^(?:and |but )?(?:what )?if\b")
_CORRECTION = re.compile(
    r"^(?:(?:no|nope|sorry|actually|wait|not that) )*"
    r"(?:(?:but )?i (?:meant|mean|said|was (?:asking|talking|wondering) about|am asking about)|"
    r"i'm asking about)"
    r"(?: for| on| about| the one for)? (?P<new>.+)$"
    r"|^(?:(?:no|nope|sorry|actually|wait) )+(?:not .+ but )?"
    r"(?P<short>(?!(?:that's|that|it's|i|i'm|we|you|thanks?|never|nothing|there's)\b).+)$"
)
# Not "same day appointments".
_SAME = re.compile(
    r"^(?:and )?(?:i have |ask )?(?:the )?same"
    r"(?: (?:question|thing|one|1)(?: (?:again|but))*(?: about)?| again| but|"
    r"(?= (?:for|on|with|at)\b))"
    r" (?P<new>.+)$"
)
_OTHER = re.compile(r"\b(?:the|that|your) other(?: (?:1|one))?$")
# "Is one better than the other": both are in the question.
_BOTH = re.compile(r"\b(?:1|one|or)\b.+\b(?:the|that|your) other")
_ATTRIBUTE_OF = re.compile(
    r"\b(?:fee|price|cost|charge|number|rate|deposit|policy|limit|address) for (?:the |an? )?"
    r"(?P<thing>\S+(?: \S+)?)$"
)
_ONE = re.compile(r"^(?P<kind>.+?) (?:1|one)$")


_FOLLOWS = re.compile(r"^(?:and |but )?(?:what|how) about\b")


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
    before = " ".join(state.question[:LONGEST].split()[:CONTEXT_WORDS])
    short = 0 < len(cleaned) <= LONGEST
    minds = changed(cleaned) if short else None
    if minds:
        given = partial(resolve, fillers=fillers, language=language, cosine=cosine, names=names)
        again = _meant(*minds, state, given)
        query = replace(again.query, raw=asr_text, context=state.question or None)
        return replace(again, query=query, before=cleaned)
    found = _follow(cleaned, before, state, cosine) if before and short else None
    text = found.text if found else cleaned
    changes = found.changes if found else ()
    place = _place(cleaned, state, names) if names and text else ""
    if names and place and not names.find(text):
        text = f"{text} {' '.join(words(names.names[place]))}"
        changes = (*changes, Change.PLACE)
    focus = _focus(found.new, text) if found else ()
    query = Query(
        raw=asr_text,
        text=text,
        context=state.question or None,
        language=language or language_of(asr_text),
        focus=focus,
        changes=tuple(changes),
        within=found.prefer if found else (),
    )
    read = slots.read(found.text if found else cleaned)
    goes_on = bool(found and found.changes != (Change.DROPPED,))
    kept = found.subject if found else ""
    if not goes_on and _keeps_subject(cleaned, read.subject):
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
    )


def _meant(
    old: str, new: str, state: State, stand_alone: Callable[[str, State], Resolution]
) -> Resolution:
    """``new`` as a correction of ``old``, which was never answered."""
    asked = state.after(stand_alone(old, state))
    alone = _ASKS.search(new) or _FOLLOWS.match(new)
    again = stand_alone(new if alone else f"i meant {new}", asked)
    changes = (Change.CORRECTED, *(one for one in again.changes if one is not Change.CORRECTED))
    return replace(again, changes=changes, query=replace(again.query, changes=changes))


def _focus(new: str, text: str) -> tuple[str, ...]:
    """The words of ``new`` that stand in ``text`` and say something; all of "the day after"."""
    said = set(text.split()) - (frozenset() if DAY_AFTER.search(new) else EMPTY_WORDS)
    return tuple(word for word in new.split() if word in said)


def _keeps_subject(cleaned: str, subject: str) -> bool:
    """Whether a question that is none of the ways of going on still leaves the subject as it was.

    It names nothing and does not turn to the business, or it is a "what if i forget".
    """
    if _WHAT_IF.match(cleaned):
        return not runs_of(cleaned.split())
    return not subject and not _ADDRESSED.search(cleaned)


def _place(cleaned: str, state: State, names: Names) -> str:
    """The document of the place that is spoken about, by the latest name that was spoken."""
    texts = [cleaned]
    for turn in reversed(state.turns):
        texts += [*(said.text for said in turn.said), turn.question]
    return names.latest(texts) or (state.document if state.document in names.names else "")


def _follow(cleaned: str, before: str, state: State, cosine: Cosine | None) -> _Found | None:
    """The first rule that knows ``cleaned`` as a follow-up; None for a question of its own."""
    about_it = _about_what_was_asked(cleaned, before, state)
    if about_it:
        return about_it
    follow_up = FOLLOW_UP_WITHIN.match(cleaned) or FRAGMENT.match(cleaned)
    if _OTHER.search(cleaned) and not _BOTH.search(cleaned):
        other = the_other(state)
        if other:
            frame = cleaned if _ASKS.search(cleaned) and not follow_up else ""
            text = _OTHER.sub(other, frame) if frame else put_for(before, state.subject, other)
            return _Found(text, other, (Change.OTHER,))
    if follow_up:
        new = cleaned[follow_up.end() :]
        if not _ASKS.search(new):
            return _went_on(new, before, state, cosine)
    one = kind_of_one(cleaned, state)
    if one:
        return _Found(one, cleaned, (Change.THING,))
    cleaned = _GOES_ON.sub("", cleaned)
    filled, subject = pointed(cleaned, state)
    if filled:
        return _Found(filled, cleaned, (Change.POINTED,), (), subject)
    of_before = implied(cleaned, state)
    if of_before:
        return _Found(of_before, cleaned, (Change.IMPLIED,), (), state.subject)
    return None


def _about_what_was_asked(cleaned: str, before: str, state: State) -> _Found | None:
    """What names the question before or its answer: "what did you say", "no, i meant", "same"."""
    again = asked_again(cleaned, state)
    if again:
        return _Found(again.text, again.noun, (Change.ASKED_AGAIN,), again.prefer)
    alone = bare(cleaned, before)
    if alone:
        return _Found(alone, cleaned, (Change.IMPLIED,), (), state.subject)
    hours = of_that_day(cleaned, before, state)
    if hours:
        return _Found(hours, cleaned, (Change.DAY,))
    corrected = _CORRECTION.match(cleaned)
    if corrected:
        return _corrected(corrected.group("new"), corrected.group("short"), before, state)
    same = _SAME.match(cleaned)
    if same:
        text, _ = _put(same.group("new"), before, state)
        return _Found(text, same.group("new"), (Change.SAME,))
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
    return (
        bool(named)
        and named not in _TOPICS
        and not (_is_so(before) or (_HAS.match(before) and _is_had(before)))
    )


def _is_had(before: str) -> bool:
    return bool(re.search(r"\b(?:have|offer|provide|there)\b", before))


def _is_so(before: str) -> bool:
    """ "Is breakfast included in the price" takes "and parking"."""
    return bool(re.match(r"(?:is|are) .*\b(?:included|free|available|extra)\b", before))


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
        return of_its_kind(text, one.group("kind"), state), Change.THING
    if text == before and len(content_words(rest)) > _LONGEST_NAME:
        return new, Change.DROPPED
    replaced = _put_thing(text, rest, thing, state) if rest == new else ""
    if replaced:
        return replaced, Change.THING
    if text == before and _PLACE.match(rest):
        return f"{text} {rest}", Change.ADDED
    known = set(text.split()) | EMPTY_WORDS
    return " ".join([text, *(w for w in rest.split() if w not in known)]), Change.ADDED


def _put_thing(text: str, rest: str, thing: str, state: State) -> str:
    """``text`` with ``thing`` in the place of one of its kind, of the words that follow the same
    preposition, or of the subject; "" if it has no place for it."""
    subject = state.subject
    if len(subject.split()) > 1 and subject.split()[-1] == thing.split()[-1]:
        same = put_for(text, subject, thing)
        if same != text:
            return same
    ending = _ENDS_IN_ONE.search(text)
    one = _ONE_THING.fullmatch(rest)
    alike = bool(ending and one and (ending["any"] is None) == (one["any"] is None))
    if ending and alike and not slots.read(ending.group()).day:
        return f"{text[: ending.start()]}{rest}"  # "how much is it to spay a cat", "and a dog"
    same_head, left = replace_thing(text, rest)
    if not left:
        return same_head
    tail = _same_place(text, rest)
    if tail or _PLACE.match(rest) or len(content_words(thing)) > _LONGEST_THING:
        return tail
    of = _ATTRIBUTE_OF.search(text)
    if of:
        return f"{text[: of.start('thing')]}{thing}"
    done = thing.split()[0].endswith("ing") and " " in thing
    if not state.subject or done or not any(map(is_specific, state.subject.split())):
        return ""
    replaced = put_for(text, state.subject, thing)
    return replaced if replaced != text else ""


def _same_place(text: str, new: str) -> str:
    """ "For anxiety": in the place of the last words of ``text`` that begin with "for"."""
    place = _PLACE.match(new)
    tail = place and re.search(rf"(?<!\S){place.group(1)}(?: \S+){{1,4}}$", text)
    if not tail:
        return ""
    day = slots.with_day(tail.group())
    return f"{text[: tail.start()]}{new} {'' if slots.with_day(new) else day}".strip()


def _corrected(new: str | None, short: str | None, before: str, state: State) -> _Found | None:
    """ "No, I meant …": a whole question stands for itself, a thing goes into the one before."""
    meant = new or short or ""
    if _ASKS.search(meant):
        return _Found(meant, meant, (Change.CORRECTED,)) if new else None
    if not new and (len(meant.split()) > _LONGEST_SHORT or not slots.names_any(meant)):
        return None
    text, _ = _put(meant, before, state)
    return _Found(text, meant, (Change.CORRECTED,))
