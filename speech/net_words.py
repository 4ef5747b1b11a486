"""Addresses of the net as they are said: "jane dot doe at example dot com"."""

from __future__ import annotations

import re
from collections.abc import Sequence

from speech.number_words import Word, number_at
from speech.values import Kind, Value

_EMAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)*\.[A-Za-z]{2,}")
_WEB = re.compile(r"(?:https?://)?(?:www\.)?((?:[a-z0-9-]+\.)+[a-z]{2,}(?:/[\w/.-]*\w)?)/?", re.I)
_MARKS = {
    "dot": ".", "period": ".", "dash": "-", "hyphen": "-", "underscore": "_", "plus": "+",
    "slash": "/", "colon": ":",
}  # fmt: skip
_LOCAL = frozenset("._-+")
_TOP = frozenset("com org net edu gov io health example in uk us co info biz de fr it abc".split())
_LONGEST = 40  # words


def net_at(text: str, words: Sequence[Word], at: int) -> tuple[Value, int] | None:
    """The e-mail or web address that begins with word ``at``, and how many words it takes."""
    written = _written(text, words, at)
    if written:
        return written
    local, here = _labels(text, words, at, _LOCAL)
    if local and here < len(words) and words[here].text == "at":
        host, end = _labels(text, words, here + 1, frozenset("./-"), host=True)
        if host.rpartition(".")[2].isalpha() and "." in host.strip("."):
            said = f"{local}@{host}"
            value = Value(Kind.EMAIL, said.lower(), words[at].start, words[end - 1].end, said)
            return value, end - at
    host, end = _labels(text, words, at, frozenset("./-:"), host=True)
    return _web(words, at, host, end)


def _web(words: Sequence[Word], at: int, host: str, end: int) -> tuple[Value, int] | None:
    bare = re.sub(r"^https?://", "", host.lower())
    name = bare.partition("/")[0]
    known = name.rpartition(".")[2] in _TOP or name.startswith("www.") or bare != host.lower()
    if "." not in name.strip(".") or not known:
        return None
    value = bare.removeprefix("www.")
    return Value(Kind.WEB, value, words[at].start, words[end - 1].end, host), end - at


def _written(text: str, words: Sequence[Word], at: int) -> tuple[Value, int] | None:
    start = words[at].start
    email = _EMAIL.match(text, start)
    if email:
        used = sum(w.start < email.end() for w in words[at:])
        return Value(Kind.EMAIL, email[0].lower(), start, email.end(), email[0]), used
    web = _WEB.match(text, start)
    if web and web[1].partition("/")[0].rpartition(".")[2].lower() in _TOP:
        used = sum(w.start < web.end() for w in words[at:])
        return Value(Kind.WEB, web[1].lower(), start, web.end(), web[0]), used
    return None


def _labels(
    text: str, words: Sequence[Word], at: int, marks: frozenset[str], *, host: bool = False
) -> tuple[str, int]:
    """Words and letters with marks between them, as one string, and where they end.

    Letters and numbers one after another are one label ("m s n"), and so are up to three words of
    a host where a mark comes after ("g mail dot com"); otherwise a label is one word.
    """
    said, here = "", at
    while here < len(words) and here - at < _LONGEST:
        label, after = _label(text, words, here, host and not _ends_host(words, here))
        if not label:
            break
        said, here = said + label, after
        run = here
        while run < len(words) and words[run].text in _MARKS:
            run += 1
        seen = "".join(_MARKS[w.text] for w in words[here:run])
        if not seen or run >= len(words) or any(c not in marks for c in seen):
            break
        if not _label(text, words, run, False)[0]:
            break
        said, here = said + seen, run
    return said, here


def _ends_host(words: Sequence[Word], at: int) -> bool:
    return at > 0 and words[at - 1].text == "dot" and words[at].text in _TOP


def _label(text: str, words: Sequence[Word], at: int, several: bool) -> tuple[str, int]:
    said, here, plain = "", at, 0
    while here < len(words) and (here == at or words[here].glue.isspace()):
        word = words[here].text
        if word in _MARKS or word == "at" or "." in word:
            break
        number = number_at(words, here)
        if number is not None and "." not in number.digits and number.amount >= 0:
            said, here = said + number.digits, here + number.used
            continue
        if len(word) > 1 and plain and not (several and plain < 3 and _mark_after(words, here)):
            break
        if len(word) > 1 and said and not plain and not (several and _mark_after(words, here)):
            break
        plain += len(word) > 1
        said += text[words[here].start : words[here].end]
        here += 1
        if (
            len(word) > 1
            and not several
            and not (here < len(words) and number_at(words, here) is not None)
        ):
            break
    return said, here


def _mark_after(words: Sequence[Word], at: int) -> bool:
    """Whether a mark comes after word ``at``, or after the next."""
    return any(w.text in _MARKS for w in words[at + 1 : at + 3])
