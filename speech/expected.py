"""The words that answer what the agent has just asked for."""

from __future__ import annotations

from speech.types import Hint

_UNITS = "one two three four five six seven eight nine".split()
_TEENS = "ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_FIGURES = tuple("0123456789")
_NUMBERS = (*_UNITS, *_TEENS, *_TENS, *_FIGURES)
_ORDINALS = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth "
    "fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth thirtieth"
).split()
_DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
_MONTHS = (
    "January February March April May June July August September October November December"
).split()

ANSWERS: dict[Hint, tuple[str, ...]] = {
    Hint.DIGITS: ("zero", *_NUMBERS),
    Hint.YES_NO: tuple(
        "yes yeah yep yup no nope nah okay ok sure correct right wrong absolutely definitely "
        "certainly course please thanks mm-hmm uh-huh".split()
    ),
    Hint.DATE: (
        *_DAYS, *_MONTHS, *_ORDINALS, *_NUMBERS,
        *"today tomorrow tonight week weekend month morning afternoon evening noon".split(),
    ),
}  # fmt: skip
"""By what was asked for: at least one of these is said."""

BESIDE: dict[Hint, tuple[str, ...]] = {
    Hint.DIGITS: tuple("oh o hundred thousand double triple and dash".split()),
    Hint.YES_NO: tuple("that's it is I do don't did not really thank you of".split()),
    Hint.DATE: tuple(
        "the of on in at after before and next this day a.m. p.m. a m p o'clock half past quarter "
        "to hundred thousand oh".split()
    ),
}
"""What may stand beside them, and is no answer alone: an "oh" by itself is a breath or a cough."""

MARKS = (*".,?!-:/()", *_FIGURES)
"""What may follow a word without a space."""
