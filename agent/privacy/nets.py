"""E-mail addresses, written ("jane@example.com") or said ("jane dot doe at example dot com")."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agent.privacy.word_lists import first_names
from rag.pieces import stopwords

_WRITTEN = re.compile(r"(?<![\w@])[\w.+'-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,5}")
_TOKEN = re.compile(r"[^\s,;:?!\"()]+")
_HOST = re.compile(
    r"\bat\s+(?P<host>(?:[\w'-]{1,40}\s+){0,4}?[\w'-]{1,40}"
    r"(?:\s+(?:dot|period)\s+[\w-]{1,40}(?:\.[a-z]{2,10})?|\.[a-z]{2,10}(?!\s?\.?m\b)){1,3})",
    re.I,
)
_TOPS = frozenset(
    "com org net edu gov io health example in uk us co info biz de fr it es nl pl ca au me ie ch "
    "at dev app".split()
)
_PROVIDERS = re.compile(
    r"\b(?:g\s?mail|yahoo|hot\s?mail|outlook|i\s?cloud|aol|msn|proton(?:\s?mail)?|comcast|gmx|"
    r"verizon|live)\b",
    re.I,
)
_CUE = re.compile(r"\b(?:e\s?-?mail|mail|write|send|address|reach|contact|link|inbox)\b", re.I)
_MARKS = {
    "dot": ".", "period": ".", "dash": "-", "hyphen": "-", "minus": "-", "underscore": "_",
    "plus": "+", "point": ".",
}  # fmt: skip
_NOBODY = frozenset(
    "look looking is are park parking found site website page open call calls order book online "
    "him her them us me you it visit go here there work someone anyone hours form forms".split()
)
_ENDS_LOCAL = frozenset(
    "email mail e-mail address send to yes yeah okay ok use using has write sure and um uh or that "
    "portal be would it's that's is at my his her the for on under please".split()
)
_MOST_TOKENS, _MOST_WORDS = 30, 3


@dataclass(frozen=True, slots=True)
class Address:
    """An e-mail address at ``text[start:end]``; ``value`` as it is written, in lower case."""

    value: str
    start: int
    end: int


def addresses_of(text: str) -> Iterator[Address]:
    """The e-mail addresses of ``text``, in no order."""
    if "@" in text:
        for match in _WRITTEN.finditer(text):
            yield Address(match.group().lower().rstrip(".'-"), match.start(), match.end())
    if not re.search(r"\bat\b", text, re.I):
        return
    tokens = list(_TOKEN.finditer(text))
    for match in _HOST.finditer(text):
        host = _host(match["host"])
        top = host.rpartition(".")[2]
        if top not in _TOPS:
            continue
        before = [t for t in tokens if t.end() <= match.start()]
        first = _local(before)
        if first is None:
            continue
        start = before[first].start()
        local = text[start : match.start()].split()
        if not _is_address(text[:start], local, match["host"]):
            continue
        value = "".join(_MARKS.get(word.lower(), word.lower()) for word in local) + f"@{host}"
        yield Address(value, start, match.end())


def _host(said: str) -> str:
    words = [word.lower() for word in said.split()]
    return "".join("." if word in ("dot", "period") else word for word in words)


def _local(before: Sequence[re.Match[str]]) -> int | None:
    """Where the words before "at" that name a mailbox begin, or None where there are none."""
    here, plain = len(before), 0
    while here > 0 and len(before) - here < _MOST_TOKENS:
        word = before[here - 1].group().lower()
        joined = here < len(before) and before[here].group().lower() in _MARKS
        if word in _MARKS and here < len(before):
            here -= 1
            continue
        if here >= 3 and [t.group().lower() for t in before[here - 3 : here - 1]] == ["as", "in"]:
            here -= 3
            continue
        if word in _ENDS_LOCAL and not (joined and here > 1):
            break
        if here < len(before) and not joined:
            if len(word) > 1 and (word in stopwords() or word.endswith(".")):
                break
            plain += len(word) > 1
            if plain >= _MOST_WORDS:
                break
        here -= 1
    return here if here < len(before) else None


def _is_address(before: str, local: Sequence[str], host: str) -> bool:
    """Whether ``local`` at ``host`` is somebody's, and not "look at clinic dot com"."""
    words = [word.lower() for word in local]
    if len(words) == 1 and words[0] in _NOBODY:
        return False
    if _PROVIDERS.search(host) or any(w in _MARKS or w[-1].isdigit() for w in words):
        return True
    if any(len(w) == 1 and w not in ("a", "i") for w in words) or "." in words[-1].strip("."):
        return True
    return words[-1] in first_names() or _CUE.search(before[-40:]) is not None
