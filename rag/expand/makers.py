"""From the parts of a statement to the questions that it answers, the likeliest first.

Each takes the match of a pattern in :mod:`rag.expand.rules` and the heading of the passage.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rag.expand.people import be, do, is_plural, swapped, who, without_place
from rag.expand.values import CLOCK, MONEY, PHONE, PLACE, SPAN, is_value, short, without_values

Parts = re.Match[str]

_ADVERBS = re.compile(r"^(?:(?:not|never|always|also|only|currently|all|both|still|generally) )+")
_FREE = re.compile(r"(?:completely )?free\b|complimentary\b|included\b")
_ABOUT = re.compile(r"^(?:about|up to|around|at least|approximately|only) ")
_FOR_A_SPAN = re.compile(rf"\bfor {SPAN.pattern}")
_AT_A_NUMBER = re.compile(rf"(?: (?:at|on))? {PHONE.pattern}.*")
_FEE = re.compile(r".*?\b(?:charge|fee|cost) (?:for|of|to) (?P<what>.+)")
_AIM = re.compile(r"\bto (?!every|each|the|an?\b|my|your|our|any)(?P<what>[a-z]+ .*)$")
_ARTICLE = re.compile(r"^(?:an?|any|the|no|some) ")
_AMOUNT = re.compile(r"^(?:no|any|some|plenty of|several|also|its own|only|all|both) ")
_AVAILABLE = re.compile(r" (?:available|offered|provided|onsite|on site|on-site)$")
_CASE = re.compile(r" (?:with|without|when|if|for) .*")
# What a caller asks the business to do with a thing that is available, accepted, sold.
_DOES = {
    "available": "have", "offered": "offer", "provided": "provide", "served": "serve",
    "accepted": "accept", "sold": "sell", "spoken": "speak", "given": "give",
}  # fmt: skip


def of_is(match: Parts, heading: str) -> Iterator[str]:
    """ "Parking is free", "the lab is in room 112", "3 pm is the check-in time"."""
    subject, rest = match["subject"], match["rest"]
    if is_value(subject) and not is_value(rest):
        subject, rest = re.sub(r" for (?:all )?\w+$", "", without_place(rest)), subject
    if PHONE.search(subject):
        yield f"what is the number of {who(_AT_A_NUMBER.sub('', subject), heading)}"
        return
    name, plain = who(subject, heading), without_place(_ADVERBS.sub("", rest))
    verb, left = be(name, match["verb"]), _left(plain)
    first, _, more = plain.partition(" ")
    if first in ("open", "closed"):
        yield from _hours(name, verb, rest, more)
        return
    if name not in ("you", "i"):
        if asked := _offered(name, first, more):
            yield asked
        yield from _valued(name, verb, plain, left)
        if PLACE.match(plain) and not CLOCK.search(plain):
            yield f"where {verb} {name}"
            if re.search(r"\d", plain):
                return
    if left:
        yield f"{verb} {name} {left}"


def _hours(name: str, verb: str, rest: str, when: str) -> Iterator[str]:
    days, does = swapped(without_place(without_values(when))), do(name, is_one=verb == "is")
    if rest.startswith("open"):
        yield f"what time {does} {name} open {days}"
        if len(CLOCK.findall(rest)) > 1:
            yield f"what time {does} {name} close {days}"
    yield f"{verb} {name} open {days}"


def _valued(name: str, verb: str, plain: str, left: str) -> Iterator[str]:
    """What is asked for where the predicate gives a value."""
    if PHONE.search(plain):
        yield f"what is {name}"
    elif MONEY.search(plain) or _FREE.match(plain):
        yield f"how much {verb} {name}"
    elif CLOCK.search(plain):
        timed = re.fullmatch(r"(?:the )?(?P<what>.+?)(?: times?| hours?)", name)
        yield f"what time is {timed['what']}" if timed else f"what time {verb} {name} {left}"
    elif _gives_a_span(plain) or _FOR_A_SPAN.search(plain):
        yield f"how long {verb} {name} {left}"
    elif SPAN.search(plain):
        yield f"when {verb} {name} {left}"


def of_there(match: Parts, heading: str) -> Iterator[str]:
    """ "There is a pool on the roof", "there is no charge for it"."""
    rest = match["rest"]
    thing = _AVAILABLE.sub("", _left(_AMOUNT.sub("", rest)))
    if fee := _FEE.match(thing):
        yield f"how much is {fee['what']}"
    yield f"{match['verb']} there {'any ' if rest.startswith('no ') else ''}{thing}"


def of_acts(match: Parts, heading: str) -> Iterator[str]:
    """ "The clinic opens at 8 a.m."."""
    verb, rest = match["verb"], match["rest"]
    name = re.sub(r"^(.+?) times?$", r"\1", who(match["subject"], heading))
    ask = "what time" if CLOCK.search(rest) else "when"
    yield f"{ask} {do(name, is_one=bool(match['s']))} {name} {verb} {_left(rest)}"


def of_takes(match: Parts, heading: str) -> Iterator[str]:
    """ "A refill takes two days"."""
    name, verb, rest = who(match["subject"], heading), match["verb"], match["rest"]
    does = do(name, is_one=bool(match["s"]))
    if _gives_a_span(rest):
        yield f"how long {does} {name} {verb}"
        return
    if CLOCK.search(rest):
        yield f"what time {does} {name} {verb} {_left(rest)}"
    yield f"{does} {name} {verb} {_left(rest)}"


def of_costs(match: Parts, heading: str) -> Iterator[str]:
    """ "A visit costs $120 without insurance"."""
    name, case = who(match["subject"], heading), _CASE.search(match["rest"])
    does = do(name, is_one=bool(match["s"]))
    yield f"how much {does} {name} cost {_left(case.group()) if case else ''}"


def of_can(match: Parts, heading: str) -> Iterator[str]:
    """ "Guests can use the gym", "you may not smoke"."""
    modal = "will" if match["verb"] == "will" else "can"
    rest = _ADVERBS.sub("", match["rest"])
    if PHONE.search(rest):
        yield f"what number do i call to {_left(rest)}"
    yield f"{modal} {who(match['subject'], heading)} {_left(rest)}"


def of_must(match: Parts, heading: str) -> Iterator[str]:
    """ "Patients must fast for 12 hours before the test"."""
    name, rest = who(match["subject"], heading), match["rest"]
    asked = f"{do(name)} {name} need to {_left(rest)}"
    yield asked
    if _FOR_A_SPAN.search(rest):
        yield f"how long {asked}"
    elif SPAN.search(rest) or CLOCK.search(rest):
        yield f"when {asked}"


def of_does(match: Parts, heading: str) -> Iterator[str]:
    """ "We accept cash", "the room does not have a bath"; without a subject, the business."""
    parts = match.groupdict()
    verb, subject = parts.get("verb") or "have", parts.get("subject")
    left = _AVAILABLE.sub("", _left(_AMOUNT.sub("", match["rest"])))
    name = who(subject, heading) if subject else "you"
    if name == "you":
        yield _have(verb, left)
    else:
        is_one = bool(parts.get("s")) or parts.get("do") == "does" if subject else None
        yield f"{do(name, is_one=is_one)} {name} {verb} {left}"


def of_order(match: Parts, heading: str) -> Iterator[str]:
    """ "Bring a photo ID", "call 555-0142 to cancel a booking"."""
    verb, rest = match["verb"], match["rest"]
    aim = _AIM.search(rest)
    if PHONE.search(rest):
        to = "" if verb == "call" else f"to {verb} {_left(rest)}"
        yield f"what number do i call {swapped(aim.group()) if aim else to}"
    elif verb == "bring":
        visit = re.search(r"\bto .*", rest)
        yield f"what should i bring {_left(visit.group()) if visit else 'to my visit'}"
    if aim:
        yield f"how do i {_left(aim['what'])}"
    yield f"do i need to {verb} {_left(rest)}"


def of_aim(match: Parts, heading: str) -> Iterator[str]:
    """ "To book a visit, call 555-0142"."""
    if PHONE.search(match["rest"]):
        yield f"what number do i call to {_left(match['aim'])}"
    yield f"how do i {_left(match['aim'])}"


def _offered(name: str, first: str, more: str) -> str:
    """What a caller asks about a thing that is available, accepted, required …; else ''."""
    if first in _DOES:
        return _have(_DOES[first], _ARTICLE.sub("", name))
    if first in ("required", "needed", "necessary"):
        return f"do i need {_ARTICLE.sub('', name)} {_left(more)}"
    return ""


def _have(verb: str, thing: str) -> str:
    """Whether the business has something: "is there outdoor seating", "do you accept cash"."""
    if verb not in ("have", "offer", "provide"):
        return f"do you {verb} {thing}"
    return f"{'are' if is_plural(thing) else 'is'} there {thing}"


def _left(text: str) -> str:
    """A predicate without its values and side clauses, as the caller says it."""
    return swapped(without_place(short(without_place(text))))


def _gives_a_span(text: str) -> bool:
    plain = _ABOUT.sub("", text)
    return bool(SPAN.match(plain)) or (plain[:1].isdigit() and bool(SPAN.search(plain)))
