"""Questions that a passage answers, made from its own sentences by rules.

A caller's question lies closer to a question than to the statement that answers it. Where the
source sets no question beside a passage, its statements are turned into the questions that they
answer ("Parking is free" into "is parking free"), and those are indexed beside it; they are never
quoted (doc2query: Nogueira et al., 2019, here without a model). ``python -m bench.expansion``
shows what it is worth.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from rag.sentences import split_sentences
from rag.types import Passage

LIMIT = 4
"""The most questions made from one sentence."""

_MONEY = re.compile(
    r"[$€£₹]\s?\d|\d+(?:\.\d\d)? ?(?:dollars?|euros?|pounds?|rupees?|cents?)\b|\bfee\b"
)
_CLOCK = re.compile(r"\b\d{1,2}(?::\d\d)? ?[ap]\.?m\b\.?|\b\d{1,2}:\d\d\b|\bnoon\b|\bmidnight\b")
_SPAN = re.compile(
    r"\b(?:\d+|an?|one|two|three|four|five|six|ten) (?:\w+ )?"
    r"(?:minute|hour|day|week|month|year)s?\b"
)
_PHONE = re.compile(r"\b\d{3}[- ]\d{4}\b|\(\d{3}\)")
_PLACE = re.compile(
    r"^(?:located |available |found )?"
    r"(?:in|at|on|near|behind|beside|next to|across|opposite|by|inside|outside)\b"
)
# A value and what leads to it: what the question asks for, so not in the question.
_UNIT = r"(?:dollars?|euros?|pounds?|percent|%|minutes?|hours?|days?|weeks?|business days?)"
_VALUE = re.compile(
    r"(?:\b(?:from|until|till|between|at|by|before|after|for|of|around|about|up to|to|is|are|and"
    r"|an?)\s+)*"
    rf"(?:[$€£₹]\s?[\d,.]+|\d[\d,.:]*(?: ?(?:[ap]\.?m\b\.?|{_UNIT}))?|\bnoon\b|\bmidnight\b)"
)
_BREAK = re.compile(
    r"\s*(?:[,;:(–—]| but | because | so that | which | if | as long as | unless ).*$"
)
_LEAD = re.compile(
    r"^(?:yes|no|yeah|sure|unfortunately|currently|sorry|absolutely|of course|please|note that"
    r"|in addition|also|however)[,.]? +"
)
_SWAP = {
    "you": "i", "your": "my", "yours": "mine", "yourself": "myself", "we": "you", "our": "your",
    "us": "you", "ours": "yours", "am": "are",
}  # fmt: skip
# Who the caller is to the business.
_CALLERS = frozenset("guests patients customers visitors clients members diners passengers".split())
_CLAUSE = "if|when|while|after|before|because|although"
_SUBJECT = rf"(?P<subject>(?!(?:{_CLAUSE}) )(?:[\w'’&-]+ ){{0,8}}?[\w'’&-]+)"
# "On Saturday the lab is open", "Without insurance, a visit costs": what comes first goes last.
_FRONT = re.compile(
    r"(?P<front>(?:on|in|at|for|after|before|during|without|with|from|by|if|when) [^,]{1,48}), "
    r"(?P<main>.+)"
    r"|(?P<day>on \w+days?(?: and \w+days?)?) (?P<rest>(?:the|our|we|you|a|all) .+)"
)
_PRONOUNS = frozenset("it its they this that these those he she here which who".split())
_AND = re.compile(r" and (?=(?:costs?|takes?|lasts?|is|are|opens?|closes?|includes?|needs?|must) )")
_VERB = re.compile(r"\b(?:costs?|takes?|lasts?|is|are|opens?|closes?)\b")
_LOOSE = "within|by|from|to|at|in|for|of|up|about|until|on|with|over|under|per|after|before"
_DANGLING = re.compile(rf"(?: (?:{_LOOSE}|and|or|the|an?|is|are|,))+$|^(?:{_LOOSE}) *$")


def made_questions(passage: Passage, limit: int = LIMIT) -> tuple[str, ...]:
    """The questions made from a passage in English, at most ``limit`` a sentence; else none.

    Lower case, worded as a caller would.
    """
    if passage.language != "en":
        return ()
    found: dict[str, None] = {}
    for sentence in split_sentences(passage.text):
        made = dict.fromkeys(_of_sentence(sentence, passage.heading))
        found.update(dict.fromkeys(list(made)[:limit]))
    return tuple(found)


def _of_sentence(sentence: str, heading: str) -> Iterator[str]:
    text = " ".join(sentence.rstrip(".!? ").lower().split())
    if sentence.rstrip().endswith("?"):
        return
    while (shorter := _LEAD.sub("", text)) != text:
        text = shorter
    front = _FRONT.fullmatch(text)
    after = ""
    if front:
        text, after = front["main"] or front["rest"], front["front"] or front["day"]
    for clause in _clauses(text):
        for question in _of_clause(clause, heading):
            tidy = " ".join(f"{question} {_swapped(after)}".split())
            if 3 <= len(tidy.split()) <= 16:
                yield tidy


def _clauses(text: str) -> Iterator[str]:
    """The statements of a sentence: "a form takes 5 days and costs $15" is two."""
    first, *others = _AND.split(text)
    yield first
    verb = _VERB.search(first)
    if verb:
        yield from (f"{first[: verb.start()]}{other}" for other in others)


def _of_clause(text: str, heading: str) -> Iterator[str]:
    for pattern, make in _RULES:
        match = pattern.fullmatch(text)
        if match:
            yield from make(match, heading.lower().strip())
            return


def _who(match: re.Match[str], heading: str) -> str:
    """The subject as the caller would name it; a pronoun gives way to the heading."""
    subject = match["subject"].strip()
    if subject in _PRONOUNS:
        subject = heading if heading and not heading.endswith("?") else subject
    if subject in _CALLERS:
        return "i"
    return _swapped(subject)


def _do_or_does(who: str) -> str:
    plural = who in ("i", "you", "we") or (who.endswith("s") and not who.endswith("ss"))
    return "do" if plural else "does"


def _swapped(text: str) -> str:
    return " ".join(_SWAP.get(word, word) for word in text.split())


def _short(text: str) -> str:
    """What is left of a predicate without its values and side clauses."""
    kept = " ".join(_VALUE.sub(" ", _BREAK.sub("", text)).strip(" .-").split())
    return _swapped(_DANGLING.sub("", kept))


def _is(match: re.Match[str], heading: str) -> Iterator[str]:
    verb, rest = match["verb"], match["rest"]
    who = _who(match, heading)
    plain = re.sub(r"^(?:not|never|always|also|only|currently)\s+", "", rest)
    if re.match(r"open\b", plain):
        yield f"what time do you open {_days(rest)}" if who == "you" else f"when {verb} {who} open"
        yield f"what are the hours {'' if who == 'you' else 'of ' + who} {_days(rest)}"
    elif _MONEY.search(rest):
        yield f"how much {verb} {who}"
    elif _PHONE.search(rest):
        yield f"what is {who}"
    elif _CLOCK.search(rest):
        yield f"what time {verb} {who}"
        yield f"when {verb} {who}"
    elif _SPAN.search(rest):
        yield f"how long {verb} {who}"
    if _PLACE.match(plain):
        yield f"where {verb} {who}"
    if left := _short(plain):
        yield f"{verb} {who} {left}"


def _days(rest: str) -> str:
    found = re.search(r"\bon (?:weekdays|weekends|\w+days?)\b", rest)
    return found.group() if found else ""


def _there(match: re.Match[str], heading: str) -> Iterator[str]:
    thing = _short(re.sub(r"^(?:no|not any|any|a|an|some|plenty of|several)\s+", "", match["rest"]))
    article = "any" if match["verb"] == "are" or match["rest"].startswith("no ") else "a"
    if re.search(r"\b(?:charge|fee|cost)\b", thing):
        yield f"how much is {re.sub(r'^(?:charge|fee|cost) (?:for|of) ', '', thing)}"
    yield f"{match['verb']} there {article} {thing}"
    yield f"do you have {thing}"


def _acts(match: re.Match[str], heading: str) -> Iterator[str]:
    base, rest, who = match["verb"], match["rest"], _who(match, heading)
    yield f"what time {_do_or_does(who)} {who} {base} {_days(rest)}"
    yield f"when {_do_or_does(who)} {who} {base}"


def _takes(match: re.Match[str], heading: str) -> Iterator[str]:
    who = _who(match, heading)
    if _SPAN.search(match["rest"]):
        yield f"how long {_do_or_does(who)} {who} {match['verb']}"
    else:
        yield f"{_do_or_does(who)} {who} {match['verb']} {_short(match['rest'])}"


def _costs(match: re.Match[str], heading: str) -> Iterator[str]:
    who = _who(match, heading)
    yield f"how much {_do_or_does(who)} {who} cost"
    yield f"how much is {who}"


def _can(match: re.Match[str], heading: str) -> Iterator[str]:
    modal = {"may": "can", "cannot": "can", "could": "can"}.get(match["verb"], match["verb"])
    rest = re.sub(r"^not ", "", match["rest"])
    yield f"{modal} {_who(match, heading)} {_short(rest)}"
    if _PHONE.search(rest):
        yield f"what number do i call to {_short(rest)}"


def _must(match: re.Match[str], heading: str) -> Iterator[str]:
    who = _who(match, heading)
    need = f"{_do_or_does(who)} {who} need to"
    yield f"{need} {_short(match['rest'])}"
    if _SPAN.search(match["rest"]) or _CLOCK.search(match["rest"]):
        yield f"when {need} {_short(match['rest'])}"


def _do(match: re.Match[str], heading: str) -> Iterator[str]:
    who = _who(match, heading)
    rest = _short(match["rest"])
    yield f"do you {match['verb']} {rest}" if who != "i" else f"do i {match['verb']} {rest}"


def _not(match: re.Match[str], heading: str) -> Iterator[str]:
    who = _who(match, heading)
    yield f"{_do_or_does(who)} {who} {_short(match['rest'])}"


def _imperative(match: re.Match[str], heading: str) -> Iterator[str]:
    verb, rest = match["verb"], match["rest"]
    aim = re.search(r"\bto (\w+ .*)$", rest)
    if _PHONE.search(rest):
        yield f"what number do i {verb} {_swapped(aim.group()) if aim else ''}"
    if verb == "bring":
        yield f"what should i bring {_swapped(aim.group()) if aim else 'to my visit'}"
    yield f"do i {verb} {_short(rest)}"
    if aim:
        yield f"how do i {_short(aim[1])}"


_RULES: tuple[tuple[re.Pattern[str], Callable[[re.Match[str], str], Iterator[str]]], ...] = tuple(
    (re.compile(pattern), make)
    for pattern, make in (
        (r"there (?P<verb>is|are|isn't|aren't) (?P<rest>.+)", _there),
        (rf"{_SUBJECT} (?P<verb>does|do)(?: not|n't) (?P<rest>.+)", _not),
        (rf"(?!there ){_SUBJECT} (?P<verb>is|are) (?P<rest>.+)", _is),
        (
            rf"{_SUBJECT} (?P<verb>open|close|start|begin|end)s? (?P<rest>.+)",
            _acts,
        ),
        (rf"{_SUBJECT} (?P<verb>take|last)s? (?P<rest>.+)", _takes),
        (rf"{_SUBJECT} costs? (?P<rest>.+)", _costs),
        (rf"{_SUBJECT} (?P<verb>can|may|will|cannot|could) (?P<rest>.+)", _can),
        (rf"{_SUBJECT} (?:must|should|needs? to|ha(?:ve|s) to) (?P<rest>.+)", _must),
        (
            rf"{_SUBJECT} (?P<verb>have|offer|accept|provide|sell|serve|allow|charge|require|give"
            r"|include|help|see|treat|need)s? (?P<rest>.+)",
            _do,
        ),
        (
            r"(?P<verb>bring|call|press|visit|ask|use|email|send|wait|arrive|fill|contact|book"
            r"|order|tell|pay|park|check) (?P<rest>.+)",
            _imperative,
        ),
    )
)
