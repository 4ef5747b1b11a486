"""Card, phone and account numbers, in digits or as they are said."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from agent.luhn import passes_luhn
from agent.privacy.cues import cue_of, sides
from agent.privacy.ids import Run, id_runs
from agent.privacy.kept import is_kept_number
from agent.privacy.kinds import Found, Kind, overlaps
from speech.number_words import Word

_COUNTED = re.compile(
    r"\s*(?:dollars?|cents?|bucks|percent|%|pages?|minutes?|hours?|days?|weeks?|months?|years?|"
    r"people|kids|children|times|euros?|pounds|rupees|a\.?\s?m\b|p\.?\s?m\b|o'?\s?clock|miles?|"
    r"milligrams?|mg|degrees|steps|spaces|business|:\d|/\d|’|')",
    re.I,
)
_PLACES = re.compile(
    r"(?:\b(?:room|suite|unit|floor|bus|route|gate|step|part|page|year|zip|highway|interstate|"
    r"press|option|version|chapter|in|since|from|until|by)\s+"
    r"|\b(?:zip|postal|post)\s?code\s+(?:is\s+|as\s+)?|[$€£₹]\s?|\d[:/])$",
    re.I,
)
_LAST_DIGITS = re.compile(
    r"\b(?:ends?(?:ing)?(?:\s+(?:in|with|on))?|last (?:three|four|3|4)(?: digits)?(?: (?:of|on) my "
    r"\w+)?)\s*(?:is|are)?\s*$",
    re.I,
)
_SECURITY = re.compile(
    r"\b(?:security code|c\s?v\s?[vc]2?|(?:digits|number|numbers|code) on the back)\b[^?!.]{0,24}$",
    re.I,
)
_NEXT = re.compile(r"\b(?:number|no|code|id|pin|account|reference)(?:\s+is|'s)?\W*$", re.I)
_BEGUN = re.compile(
    r"\b(?:card|visa|amex|discover|(?:my|his|her|our|phone|cell|mobile)\s+(?:number|phone|cell|mobile))"
    r"(?:\s+number)?(?:\s+is|'s|:)?\s*$",
    re.I,
)
"""A recogniser may write no more of a long number than its beginning: "my card is 4,111"."""
_YEARS = re.compile(r"(?:19|20)\d\d")
_LEAD = re.compile(r"(?:\+\(?|\(|\bplus\s+)$", re.I)
_LONGEST_LEAD = 6
_GROUPS = frozenset({(3, 4), (3, 3, 4), (1, 3, 3, 4), (5, 5), (2, 5, 5), (3, 4, 4), (4, 4), (5, 6)})
_SHORTEST, _SHORTEST_ALONE, _SHORTEST_CARD = 4, 7, 13


def find_numbers(
    text: str, words: Sequence[Word], taken: Iterable[Found], keep: frozenset[str]
) -> Iterator[Found]:
    """Personal numbers of ``text`` outside of ``taken``; those of ``keep`` are not."""
    known = tuple(taken)
    for whole in id_runs(words):
        for run in _without_kept(whole, keep):
            run = _trimmed(text, run)
            if not run.parts or overlaps(run.start, run.end, known):
                continue
            kind = _kind(text, run)
            if kind is not None:
                lead = _LEAD.search(text, max(0, run.start - _LONGEST_LEAD), run.start)
                yield Found(kind, lead.start() if lead else run.start, run.end)


def _without_kept(run: Run, keep: frozenset[str]) -> list[Run]:
    """``run`` without numbers of the documents, which may stand beside others.

    Not out of a longer number: 1 800 555 0142 is not the desk's 555-0142.
    """
    if is_kept_number(run.digits, keep):
        return []
    if len(run.digits) in (10, 11) or passes_luhn(run.digits):
        return [run]
    count = len(run.parts)
    for size in range(count - 1, 0, -1):
        for at in range(count - size + 1):
            said = "".join(p.said for p in run.parts[at : at + size])
            if len(said) >= _SHORTEST_ALONE and is_kept_number(said, keep):
                rest = (run.parts[:at], run.parts[at + size :])
                pieces = [Run(r, r[0].start, r[-1].end, 0) for r in rest if r]
                return [one for piece in pieces for one in _without_kept(piece, keep)]
    return [run]


def _trimmed(text: str, run: Run) -> Run:
    """``run`` without a last part that counts something: "… 0142, 20 minutes"."""
    if run.letters or not _COUNTED.match(text, run.end):
        return run
    parts = run.parts[:-1]
    return Run(parts, run.start, parts[-1].end if parts else run.start, 0)


def _kind(text: str, run: Run) -> Kind | None:
    before, after = sides(text, run.start, run.end)
    cue = cue_of(before, after)
    count = len(run.digits)
    if count < _SHORTEST:
        return _short(before, run, cue)
    if run.letters:
        return _mixed(run, cue)
    if text[: run.start].endswith("+") and 8 <= count <= 15:
        return Kind.PHONE
    if count < _SHORTEST_ALONE:
        return _medium(before, run, cue)
    if cue is None and not _is_one_number(text, run):
        return None
    return _long(run, cue)


def _short(before: str, run: Run, cue: Kind | None) -> Kind | None:
    """Three digits: a card's security code, or an account's with letters."""
    if len(run.digits) == 3 and _SECURITY.search(before):
        return Kind.CARD
    if len(run.digits) == 3 and run.letters and cue is Kind.ACCOUNT:
        return Kind.ACCOUNT
    return None


def _mixed(run: Run, cue: Kind | None) -> Kind | None:
    """Digits and letters, which no phone and no card has."""
    if cue is Kind.ACCOUNT or (len(run.digits) >= 5 and run.letters >= 1):
        return Kind.ACCOUNT
    return None


def _medium(before: str, run: Run, cue: Kind | None) -> Kind | None:
    """Four to six digits: a part of a number, a code, or a year, a price, a room."""
    if _SECURITY.search(before):
        return Kind.CARD
    if _LAST_DIGITS.search(before):
        return cue if cue in (Kind.CARD, Kind.PHONE) else Kind.ACCOUNT
    if cue in (Kind.CARD, Kind.PHONE) and _BEGUN.search(before):
        return cue
    is_alone = run.one_by_one and len(run.parts) >= _SHORTEST - 1
    if _PLACES.search(before):
        return None
    if len(run.parts) == 1 and _YEARS.fullmatch(run.digits) and not _is_next(before):
        return None
    if cue is not None and (is_alone or cue is Kind.ACCOUNT or len(run.parts) > 2):
        return cue
    return Kind.ACCOUNT if is_alone else None


def _is_next(before: str) -> bool:
    return (
        re.search(r"\b(?:number|no|code|id|pin|account|reference)(?:\s+is|'s)?\W*$", before, re.I)
        is not None
    )


def _long(run: Run, cue: Kind | None) -> Kind:
    count = len(run.digits)
    if count >= _SHORTEST_CARD:
        if count <= 19 and passes_luhn(run.digits) and cue is not Kind.ACCOUNT:
            return Kind.CARD
        return Kind.ACCOUNT if cue is Kind.ACCOUNT else Kind.CARD
    if cue is not None:
        return cue
    is_phone = count in (7, 10, 11) or run.digits[0] == "0"
    return Kind.PHONE if is_phone else Kind.ACCOUNT


def _is_one_number(text: str, run: Run) -> bool:
    """Not so "10, 20, 30 and 40" and "2025 2026": a list, which no cue calls a number."""
    if run.one_by_one or any(p.is_word for p in run.parts):
        return run.one_by_one or len(run.parts) >= 3
    sizes = tuple(len(p.said) for p in run.parts)
    if len(sizes) == 1 or sizes in _GROUPS or len(run.digits) >= _SHORTEST_CARD:
        return not all(_YEARS.fullmatch(p.said) for p in run.parts) or len(sizes) > 2
    between = text[run.parts[0].start : run.parts[-1].end]
    if re.fullmatch(r"\d{4}-\d\d-\d\d", between):
        return False
    return "," not in between and len(sizes) <= 6 and sum(sizes) in (7, 9, 10, 11)
