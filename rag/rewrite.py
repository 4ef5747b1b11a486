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
from rag.language import language_of
from rag.types import Query

_FILLERS = Path(__file__).with_name("data") / "fillers.txt"

_CLOCK_HALF = re.compile(r"\b([ap])\.\s?m\b\.?", re.IGNORECASE)
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}\b)")
# A time or a decimal stays one word, so does a word with an apostrophe inside.
_WORD = re.compile(r"\d+(?:[:.]\d+)+|\S+?(?:'\S+?)*(?=[\s:.']|$)")
_JOINERS = "\u200c\u200d"

_FOLLOW_UP = re.compile(r"^(?:and )?(?:what|how) about\b ?")
# Richer follow-ups, for make_query only: "i'm what about sunday" (what the recogniser makes of
# "um, and what about"), "and the lab", "for children", "and where is that".
# Before "about" at the start of a turn the recogniser hears "what" as "one" (2 of 33 recorded
# follow-ups, and 3 of 20 cuts of one of them) and "how" as "held" or "fell" (1 of 8 each).
FOLLOW_UP_WITHIN = re.compile(r"^(?:\S+ ){0,3}?(?:what|how|1|one|held|fell) about\b ?")
_NO_QUESTION = (
    r"(?!.*\b(?:how|what|when|where|which|who|why|is|are|do|does|did|can|could|will|would|should|i|"
    r"you|we|it|that|there)\b)(?=\S+(?: \S+){0,3}$)"
)
FRAGMENT = re.compile(rf"^(?:and |(?=(?:for|on|in|at|with|until) )){_NO_QUESTION}")
_PRONOUN = re.compile(r"\b(?:that|it|those|them|they|these)\b(?!')")
# But not "does it cost to park": that "it" stands for nothing said before.
_POINTS_BACK = re.compile(
    r"^(?:and )?(?=(?:how|what|when|where|which|who|whose|is|are|was|do|does|did|will)\b)"
    rf"(?=\S+(?: \S+){{1,6}}$)(?=.*{_PRONOUN.pattern})(?!.*\bit\b.*\bto\b)"
)
DAY_AFTER = re.compile(
    r"\b(?:the )?(?:(?:mon|tues|wednes|thurs|fri|satur|sun)?day) (?:after|before)$"
)
PERSON = re.compile(
    r"\b(?:(?:a|an|the) )?(?:(?:new|returning|existing) )?(?:adult|child|kid|senior|infant|"
    r"toddler|teen|teenager|student|visitor|guest|patient)s?\b|\b(?:a )?(?:children|baby|babies)\b"
)
_SLOTS = (days.DAY_SLOT, PERSON)
# A chain of follow-ups adds words with each: the question that it began with stands first.
CONTEXT_WORDS = 20
# Words of a follow-up that name no new subject: "what about on sunday then".
EMPTY_WORDS = frozenset(
    "a an the on in at for of and or then that this these those it next day days too also "
    "instead please now is are do you your i my we".split()
)
_NOT_OF_A_THING = EMPTY_WORDS | frozenset(
    "how what when where which who long much many often does did can could will would should "
    "have has get take takes need to before after with without if cost costs there any about "
    "was were be been me us he she they".split()
)


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


def make_query(
    asr_text: str,
    context: str | None = None,
    *,
    fillers: frozenset[str] | None = None,
    language: str | None = None,
) -> Query:
    """A :class:`Query` from what was heard; ``context`` is the previous *resolved* question.

    Goes further than :func:`rewrite`: a follow-up may also replace a holiday, "the weekend" or
    a kind of person ("and for children"), its other new words are appended beside the new day
    ("what about refills on sunday"), and in a short question that points back ("and where is
    that") what the one before was about takes the place of the pronoun. Other names of a holiday
    give way to the usual one ("july 4th"). The ``language`` picks the floor; not given, it is
    that of the script of what was heard.
    """
    text, focus = _resolve_richly(asr_text, context, fillers or default_fillers())
    return Query(
        raw=asr_text,
        text=text,
        context=context,
        language=language or language_of(asr_text),
        focus=focus,
    )


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


def _resolve_richly(
    text: str, context: str | None, fillers: frozenset[str]
) -> tuple[str, tuple[str, ...]]:
    """The rules of :func:`make_query`: the resolved question and the words that are new in it."""
    cleaned = days.by_usual_name(clean(text, fillers))
    before = days.by_usual_name(clean(context, fillers)) if context else ""
    before = " ".join(before.split()[:CONTEXT_WORDS])
    if not before:
        return cleaned, ()
    follow_up = FOLLOW_UP_WITHIN.match(cleaned) or FRAGMENT.match(cleaned)
    if not follow_up:
        return _point_back(before, cleaned)
    new = cleaned[follow_up.end() :]
    beside = DAY_AFTER.search(new)
    if beside and days.HOLIDAY.search(before):
        resolved = days.HOLIDAY.sub(lambda m: f"{beside.group()} {m.group()}", before)
        return resolved, tuple(new.split())
    return _fill_slots(before, new), tuple(w for w in new.split() if w not in EMPTY_WORDS)


def _point_back(before: str, cleaned: str) -> tuple[str, tuple[str, ...]]:
    """What ``before`` was about in the place of a pronoun: "how long does that take"."""
    points_back = _POINTS_BACK.match(cleaned)
    thing = before.split()
    while thing and thing[0] in _NOT_OF_A_THING:
        del thing[0]
    while thing and thing[-1] in _NOT_OF_A_THING:
        del thing[-1]
    if not points_back or not thing:
        return cleaned, ()
    new = cleaned[points_back.end() :]
    focus = tuple(w for w in _PRONOUN.sub(" ", new).split() if w not in EMPTY_WORDS)
    return _PRONOUN.sub(" ".join(thing), new, count=1), focus


def _fill_slots(before: str, new: str) -> str:
    """``before`` with the day, person or thing that ``new`` names; its other words appended."""
    rest = new
    for slot in _SLOTS:
        found = slot.search(rest)
        if found and slot.search(before):
            before = found.group().join(slot.split(before))
            rest = slot.sub(" ", rest)
    if rest == new:
        before, rest = replace_thing(before, new)
    known = set() if rest == new else set(before.split()) | EMPTY_WORDS
    return " ".join([before, *(w for w in rest.split() if w not in known)])


def replace_thing(before: str, new: str) -> tuple[str, str]:
    """A thing of the same kind replaced: "a blood sugar test" for "a cholesterol test".

    The kind is the last word of ``new``, and the thing in ``before`` is that word with the words
    of substance right before it. Returns the new question and what is left to append.
    """
    old, thing = before.split(), new.split()
    while thing and thing[0] in EMPTY_WORDS:
        thing = thing[1:]
    if len(thing) < 2 or thing[-1] not in old or not set(thing) - set(old):
        return before, new
    end = old.index(thing[-1])
    start = end
    while start > 0 and end - start < 3 and old[start - 1] not in _NOT_OF_A_THING:
        start -= 1
    return " ".join([*old[:start], *thing, *old[end + 1 :]]), ""


@cache
def _is_word_char(char: str) -> bool:
    return unicodedata.category(char)[0] in "LMN" or char in _JOINERS
