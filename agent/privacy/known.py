"""What was found to be personal, to be found again where nothing beside it tells."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from agent.privacy.kinds import Found, Kind, Redacted, overlaps
from agent.privacy.names import is_plain_word
from agent.privacy.redacting import replaced
from agent.privacy.words import runs_of, words_of

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_NUMBERS = frozenset({Kind.CARD, Kind.PHONE, Kind.ACCOUNT})
_SHORTEST = 4
_MOST = 100


class Known:
    """What is personal, whatever stands between its words: "jane doe example com".

    Numbers are known by their digits: "forty eight twenty one" is looked up as "48 21".
    """

    def __init__(self) -> None:
        self._digits: dict[str, Kind] = {}
        self._rows: dict[str, list[tuple[tuple[str, ...], Kind]]] = {}
        self._count = 0

    def learn(self, text: str, found: Iterable[Found]) -> None:
        """Whatever was ``found`` in ``text`` and is a number, or has several words."""
        for one in found:
            said = text[one.start : one.end]
            words = _words(said)
            digits = _digits(said) if one.kind in _NUMBERS else ""
            if len(digits) >= _SHORTEST and len(self._digits) < _MOST:
                self._digits[digits] = one.kind
            if len(words) > 1:
                self._add(tuple(words), one.kind)

    def learn_names(self, text: str, found: Iterable[Found], keep: frozenset[str]) -> None:
        """Each word of the names ``found`` that is no ordinary word and not of the documents."""
        for one in found:
            for word in _words(text[one.start : one.end]) if one.kind is Kind.NAME else ():
                if not (word.isdigit() or is_plain_word(word) or word in keep):
                    self._add((word,), Kind.NAME)

    def hidden(self, text: str) -> Redacted:
        """``text`` without what is known."""
        if not (self._rows or self._digits):
            return Redacted(text, ())
        places = list(_WORD.finditer(text))
        words = [_plain(place.group()) for place in places]
        found: list[Found] = []
        at = 0
        while at < len(words):
            used, kind = self._row_at(words, at)
            start = places[at].start()
            if used and not text[:start].endswith("["):
                found.append(Found(kind, start, places[at + used - 1].end()))
            at += max(used, 1)
        found += [one for one in self._numbers(text) if not overlaps(one.start, one.end, found)]
        found.sort(key=lambda one: one.start)
        return Redacted(
            replaced(text, found, lambda one: one.kind.placeholder) if found else text,
            tuple(found),
        )

    def _numbers(self, text: str) -> list[Found]:
        """The runs of digits that hold a known number."""
        if not self._digits:
            return []
        found = []
        for run in runs_of(words_of(text)):
            digits = "".join(part.said for part in run)
            for known, kind in self._digits.items():
                if digits == known or (len(known) > _SHORTEST and known in digits):
                    found.append(Found(kind, run[0].start, run[-1].end))
                    break
        return found

    def _add(self, row: tuple[str, ...], kind: Kind) -> None:
        rows = self._rows.setdefault(row[0], [])
        if self._count < _MOST and (row, kind) not in rows:
            rows.append((row, kind))
            rows.sort(key=lambda one: -len(one[0]))
            self._count += 1

    def _row_at(self, words: Sequence[str], at: int) -> tuple[int, Kind]:
        for row, kind in self._rows.get(words[at], ()):
            if tuple(words[at : at + len(row)]) == row:
                return len(row), kind
        return 0, Kind.NAME


def _digits(text: str) -> str:
    return "".join(part.said for run in runs_of(words_of(text)) for part in run)


def _words(text: str) -> list[str]:
    return [_plain(word) for word in _WORD.findall(text)]


def _plain(word: str) -> str:
    return word.lower().replace("’", "'").removesuffix("'s")
