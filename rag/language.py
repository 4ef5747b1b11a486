"""The language of a text, by its script."""

from __future__ import annotations

import unicodedata
from collections import Counter

LANGUAGES = ("en", "hi", "bn", "gu", "ta", "te")
"""What :func:`language_of` may say: ISO 639-1 codes."""

# The first code point of each script's block of 128 (Unicode, Blocks.txt).
_BLOCKS = {"hi": 0x0900, "bn": 0x0980, "gu": 0x0A80, "ta": 0x0B80, "te": 0x0C00}
# Letters and vowel signs: the danda of the Devanagari block ends sentences in all five scripts.
_SCRIPT = {
    chr(code): language
    for language, first in _BLOCKS.items()
    for code in range(first, first + 128)
    if unicodedata.category(chr(code))[0] in "LM"
}
# "Dr. Sharma का नंबर" is a Hindi question with a borrowed name, so less than half is enough.
_SHARE = 0.2


def language_of(text: str) -> str:
    """One of :data:`LANGUAGES`: the Indic script that most letters are of, else "en".

    A fifth of the letters is enough, since names and loan words stay in Latin script; of two
    scripts with as many letters the one that comes first counts. Whatever else is written in a
    script (Marathi in Devanagari) goes by the language named here. 5 to 9 µs for a question.
    """
    if text.isascii():
        return "en"
    written = Counter(filter(None, map(_SCRIPT.get, text)))
    if not written:
        return "en"
    others = sum(letter.isalpha() for letter in text if letter not in _SCRIPT)
    language, letters = written.most_common(1)[0]
    return language if letters >= _SHARE * (others + written.total()) else "en"
