"""How written text is read aloud: times, dates, money, phone numbers and the rest as words."""

from __future__ import annotations

from functools import lru_cache

from frontdesk import Spoken
from speech.languages import language_of
from speech.reading import english, hindi, indic
from speech.reading.slowly import slowed

__all__ = ["read_aloud", "read_slowly"]


@lru_cache(maxsize=2048)
def read_aloud(spoken: Spoken, language: str | None = None) -> str:
    """The words of ``spoken`` in the form given to a synthesiser: no digits, no symbols.

    ``language`` is a code such as "hi", and by the script of the text where it is not given. In
    languages other than English and Hindi plain numbers stay as digits.

    Raises:
        TypeError: if it is not a ``Spoken``.
    """
    if not isinstance(spoken, Spoken):
        raise TypeError(f"only Spoken may be read aloud, not {type(spoken).__name__}")
    language = language or language_of(spoken.text)
    if language == "hi":
        return hindi.words_of(spoken.text)
    if language in indic.LANGUAGES:
        return indic.words_of(spoken.text, language)
    return english.words_of(spoken.text)


def read_slowly(spoken: Spoken, language: str | None = None) -> str:
    """As :func:`read_aloud`, with pauses that let a caller write it down.

    Raises:
        TypeError: if it is not a ``Spoken``.
    """
    return slowed(read_aloud(spoken, language))
