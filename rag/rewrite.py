"""Transcript in, the question to look up out: cleaned, and follow-ups resolved.

No word of a knowledge base is ever put in the caller's mouth: turning "you" into "the clinic"
once lifted a pizza question above a floor. Only the caller's own words, of this question and the
one before, are used.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from pathlib import Path

from rag import days, numbers

_FILLERS = Path(__file__).with_name("data") / "fillers.txt"

_CLOCK_HALF = re.compile(r"\b([ap])\.\s?m\b\.?", re.IGNORECASE)
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}\b)")
# A time or a decimal stays one word, so does a word with an apostrophe inside.
_WORD = re.compile(r"\d+(?:[:.]\d+)+|\S+?(?:'\S+?)*(?=[\s:.']|$)")
_JOINERS = "\u200c\u200d"

_FOLLOW_UP = re.compile(r"^(?:and )?(?:what|how) about\b ?")


@cache
def default_fillers() -> frozenset[str]:
    """The filler words that come with the package (``rag/data/fillers.txt``)."""
    return read_fillers(_FILLERS)


def read_fillers(path: Path) -> frozenset[str]:
    """Filler words of a file: one a line, ``#`` starts a comment.

    Raises:
        OSError, UnicodeDecodeError: if the file cannot be read.
    """
    lines = (line.partition("#")[0].strip() for line in path.read_text("utf-8").splitlines())
    return frozenset(line.lower() for line in lines if line)


def words(text: str) -> list[str]:
    """Lower-case words of any script, apostrophes kept inside words, times and decimals whole.

    Letters, marks and digits of every script are kept (Hindi vowel signs are marks, which
    ``\\w`` would drop); all else separates words.
    """
    text = unicodedata.normalize("NFC", text).lower().replace("’", "'")
    text = _CLOCK_HALF.sub(r"\1m ", text)
    text = _THOUSANDS.sub("", text)
    kept = "".join(c if _is_word_char(c) or c in "':." else " " for c in text)
    return [w for w in (m.group().strip("':.") for m in _WORD.finditer(kept)) if w]


def rewrite(asr_text: str, context: str | None = None) -> str:
    """The question as it is looked up.

    Lower-case words only, fillers dropped, number words as digits. A result that starts with
    "what about" or "how about" takes up ``context``, the question before it: its weekday
    replaced by the new one, or else the new words appended.
    """
    return _resolve(asr_text, context, default_fillers())


def clean(text: str, fillers: frozenset[str]) -> str:
    """``text`` as lower-case words, ``fillers`` dropped, number words as digits."""
    # The "oh" of "two oh four" is a digit, and a filler everywhere else: numbers go first.
    kept = [w for w in words(text) if w not in fillers or w in ("o", "oh")]
    return " ".join(w for w in numbers.digits(kept) if w not in fillers)


def _resolve(text: str, context: str | None, fillers: frozenset[str]) -> str:
    """The rule of :func:`rewrite`: one weekday for another, or words appended."""
    cleaned = clean(text, fillers)
    follow_up = _FOLLOW_UP.match(cleaned)
    if not follow_up or not context:
        return cleaned
    before, new = clean(context, fillers), cleaned[follow_up.end() :]
    day = days.WEEKDAY_WORD.search(new)
    if day and days.WEEKDAY_WORD.search(before):
        return days.WEEKDAY_WORD.sub(day.group(), before)
    return f"{before} {new}".strip()


@cache
def _is_word_char(char: str) -> bool:
    return unicodedata.category(char)[0] in "LMN" or char in _JOINERS
