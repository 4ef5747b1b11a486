"""Which of the languages that may be spoken a text is written in, by its script."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

# The first code point of each script's block of 128 (Unicode, Blocks.txt).
_FIRST = {0x0900: "hi", 0x0980: "bn", 0x0A80: "gu", 0x0B80: "ta", 0x0C00: "te"}
_DANDAS = "।॥"  # of the Devanagari block, and ends sentences in the other scripts too


def language_of(text: str, among: Sequence[str] = ("en", "hi", "bn", "gu", "ta", "te")) -> str:
    """That of ``among`` whose script stands most often in ``text``.

    Any letter of an Indic script counts more than all Latin ones: a Hindi voice reads an English
    name, and an English voice no Hindi. Without any, "en" if it is one of them, else the first.
    """
    rest = "en" if "en" in among or not among else among[0]
    if text.isascii():
        return rest
    written = Counter(_FIRST.get(ord(c) & ~0x7F) for c in text if c not in _DANDAS)
    known = [code for code, _ in written.most_common() if code in among]
    return known[0] if known and known[0] is not None else rest
