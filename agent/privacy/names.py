"""Names of persons: after the words that give one, or of a list.

A recogniser may write capitals or none, so neither is enough alone. "My name is" is believed
whatever follows; "this is" and "for my daughter" only before a listed name or a capital; and a
listed name that is no ordinary word is one anywhere. A doctor who is asked for is kept: staff are
what callers ask about.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from agent.privacy.kinds import Found, Kind
from agent.privacy.word_lists import common_names, first_names, no_names, surnames, word_names
from rag.pieces import stopwords
from speech.abbreviations import MONTHS, WEEKDAYS

_N = r"[^\W\d_]+(?:['’-][^\W\d_]+)*\.?"
_WHO = r"(?:daughter|son|wife|husband|mother|father|mom|mum|dad|sister|brother|partner|child|kid|baby|grandma|grandmother|grandpa|grandfather|grandson|granddaughter|aunt|uncle|cousin|friend|boyfriend|girlfriend|fianc[eé]e?|niece|nephew)"  # noqa: E501
_STRONG = re.compile(
    r"\bnames?(?:'s|’s|\s+is|\s+are|\s*:|,)\s*(?:also\s+|uh,?\s+|um,?\s+)?"
    r"|\b(?:first|last|full|middle|maiden|family)\s+name\s*(?:is|'s|:|,)?\s*(?:uh,?\s+|um,?\s+)?"
    r"|\bsurname\s*(?:is|'s|:|,)?\s*"
    r"|\bunder the name(?: of)?\s+"
    r"|\b(?:call me|i go by|i am called|i['’]m called)\s+",
    re.I,
)
_MEDIUM = re.compile(
    r"\b(?:i['’]?m|i am|this is|it['’]?s|it is|we['’]?re the|put down|"
    r"behalf of|under|named|ask for|appointment (?:is )?for|name)\s+"
    rf"|\b{_WHO}(?:['’]s\s+name(?:\s+is)?)?,?\s+(?:is\s+called\s+|called\s+|named\s+)?",
    re.I,
)
_SPEAKING = re.compile(
    rf"(?:^|[,.!?]\s+)((?:{_N}\s+){{0,1}}{_N})\s+(?:speaking|calling)\b(?!\s+of)", re.I
)
_TITLE = re.compile(r"\b(?:mr|mrs|ms|miss|mister|missus)\.?\s+(?=[^\W\d_])", re.I)
_DOCTOR = re.compile(
    r"\b(?:doctor|dr|nurse|professor|president)\.?\s+(?:\w+\s+)?$"
    r"|\b(?:san|santa|saint|st|los|las|south|north|west|east|new|fort|port|lake|mount|hotel)\.?\s+$",
    re.I,
)
_SPELLED = re.compile(
    r"\b(?:spelled|spelt|spell it|spelling is|names?(?:['’]s|\s+is)?|that['’]?s)\W+"
    r"(?P<letters>(?:[^\W\d_][\s.,-]+){2,24}[^\W\d_]\b)(?!['’])",
    re.I,
)
_PARTICLES = frozenset(
    "al bin ben da de del della den der di dos du el ibn la le los ter van von".split()
)
_SPELLED_AFTER = re.compile(
    r"[\s,.;:]+(?:(?:that['’]?s|it['’]?s|that is|and that['’]?s|spelled|spelt)\s+)?"
    r"(?P<letters>(?:[^\W\d_][\s.,-]+){2,24}[^\W\d_]\b)(?!['’])",
    re.I,
)
_WORD = re.compile(_N)
_BESIDE = re.compile(r"\s+(?:[A-Z]\.?\s+)?")
_PLACE = re.compile(
    r"\b(?:street|st|avenue|ave|road|rd|drive|lane|blvd|county|city|hospital|park|day|luther|hotel|"
    r"plaza|square|inn|center|centre|museum|restaurant|bar|cafe|hall|airport|beach|bridge)\b",
)
_NOBODY = re.compile(
    r"\b(?:do|does)\s+(?:you|they|it|the\s+\w+)\s+(?:take|accept)\s+$"  # an insurer
    r"|\b(?:clinics?|offices?|locations?|branch|branches|place|practice|one)\s+(?:\w+\s+)?"
    r"(?:in|near)\s+$",  # a town
    re.I,
)
_DONE = re.compile(r"[a-z]+(?:ed|ing)")
"""As in "the name is misspelled"."""
_NATION = re.compile(r"(?:ican|adian|ish|ese|ian|ing|ed)$")
_FIRST_LETTER = 1
_MOST_WORDS = 3


def find_names(text: str, keep: frozenset[str]) -> Iterator[Found]:
    """Names in ``text``; one word of ``keep`` is kept unless the caller says that it is theirs."""
    for match in _SPELLED.finditer(text):
        if not match[0].lower().startswith("that") or match["letters"].count(" ") > 2:
            yield Found(Kind.NAME, match.start("letters"), match.end("letters"))
    for match in _STRONG.finditer(text):
        yield from _name_at(text, match.end(), keep, "strong")
    for match in _MEDIUM.finditer(text):
        yield from _name_at(text, match.end(), keep, "medium")
    for match in _TITLE.finditer(text):
        yield from _name_at(text, match.end(), keep, "title", match.start())
    for match in _SPEAKING.finditer(text):
        first = _WORD.match(text, match.start(1))
        if first and first.group().lower() not in _never():
            yield from _name_at(text, match.start(1), keep, "medium")
    for match in _WORD.finditer(text):
        if _bare(match.group()) in common_names():
            yield from _name_at(text, match.start(), keep, "listed")


def is_plain_word(word: str) -> bool:
    """Whether ``word`` (lower case) is too ordinary to be looked for because it once was a name."""
    return word in _never() or word in word_names() or len(word) < 3


def _name_at(
    text: str, at: int, keep: frozenset[str], cue: str, start: int | None = None
) -> Iterator[Found]:
    """The name that begins at ``at``; ``start`` is where a title before it begins."""
    first = _WORD.match(text, at)
    if first is None or _DOCTOR.search(text[max(0, at - 24) : at]):
        return
    if cue == "listed" and _NOBODY.search(text[max(0, at - 40) : at]):
        return
    if not _is_first(text, first, keep, cue):
        return
    end = _surname_end(text, first, cue)
    if cue == "listed":
        after = _following(text, end)
        further = _following(text, after.end()) if after else None
        last = further if further and _bare(further.group()) == "day" else after
        whole = text[at : last.end() if last else end].lower()
        if _PLACE.search(whole) or _is_kept(text[at:end], keep):
            return
    yield Found(Kind.NAME, at if start is None else start, _without_stop(text, at, end))
    spelled = _SPELLED_AFTER.match(text, end)
    if spelled:
        yield Found(Kind.NAME, spelled.start("letters"), spelled.end("letters"))


def _is_first(text: str, first: re.Match[str], keep: frozenset[str], cue: str) -> bool:
    word = _bare(first.group())
    if word in _never() and not (word in word_names() and cue == "strong"):
        return False
    if cue == "strong":
        return not _DONE.fullmatch(first.group()) or word in first_names() or word in surnames()
    if cue == "title":
        return word not in keep
    if word in keep:
        return False
    if word in first_names():
        return True
    after = _following(text, first.end())
    has_surname = after is not None and _is_surname(after.group())
    if word in word_names():
        # "I'm Faith", "this is april johnson"; but not "it's May" and "this is hard".
        return (has_surname and not _is_calendar(word)) or (has_surname and word in surnames())
    is_capital = first.group()[0].isupper() and not _NATION.search(word)
    lone_capital = first.group().isupper() and len(word) > 1
    return is_capital and not lone_capital and not _is_calendar(word)


def _surname_end(text: str, first: re.Match[str], cue: str) -> int:
    """Where the name that begins with ``first`` ends: at most two more words."""
    end = first.end()
    for _ in range(_MOST_WORDS - 1):
        after = _after_particles(text, end)
        if after is None or (text[end - 1 : end] == "." and end - first.start() > 3):
            break
        is_led = bool(_PARTICLES & set(_WORD.findall(text[end : after.start()].lower())))
        is_more = _is_listed(after.group()) or (is_led and _bare(after.group()) not in _never())
        if not (_is_surname(after.group()) or (cue == "strong" and is_more)):
            break
        end = after.end()
    return end


def _after_particles(text: str, end: int) -> re.Match[str] | None:
    """The word after ``end``, or after "de la" there."""
    after = _following(text, end)
    for _ in range(2):
        further = (
            _following(text, after.end()) if after and _bare(after.group()) in _PARTICLES else None
        )
        after = further or after
    return after


def _following(text: str, end: int) -> re.Match[str] | None:
    gap = _BESIDE.match(text, end)
    return _WORD.match(text, gap.end()) if gap else None


def _is_surname(written: str) -> bool:
    word = _bare(written)
    if word in _never():
        return False
    capital = written[0].isupper() and len(word) > 1 and not _is_calendar(word)
    return capital or word in surnames()


def _is_listed(written: str) -> bool:
    word = _bare(written)
    return word not in _never() and (word in first_names() or word in word_names())


def _bare(written: str) -> str:
    """``written`` in lower case, without a stop and an ending of its own: "jane's", "I'd"."""
    return re.sub(r"(?:['’](?:s|d|m|ll|ve|re))?\.?$", "", written.lower()).replace("’", "'")


def _without_stop(text: str, at: int, end: int) -> int:
    return end - 1 if text[at:end].endswith(".") else end


def _is_kept(name: str, keep: frozenset[str]) -> bool:
    return any(_bare(word) in keep for word in name.split())


def _is_calendar(word: str) -> bool:
    return word in MONTHS or word in WEEKDAYS


@cache
def _never() -> frozenset[str]:
    """Words that are no name whatever stands before them."""
    return no_names() | (stopwords() - word_names() - first_names()) | frozenset(WEEKDAYS)
