"""Words in a document that speak to a language model, and text that hides from a reader.

English, Spanish, French, German, Portuguese, Italian, Russian, Chinese, Hindi, Gujarati, Bengali,
Tamil and Telugu; also written with look-alike letters of another alphabet, with invisible
characters between the letters, or in base64 or hexadecimal digits.
"""

from __future__ import annotations

import base64
import binascii
import re
import unicodedata
from collections.abc import Iterator

from rag.readers.ignore_words import foreign_instruction

_MACHINE = r"(?:ai|a\.i\.|llms?|(?:large )?language models?|chat ?bots?|(?:ai |voice )?assistants?)"
_ENGLISH = (
    r"\b(?<!not )(?<!n't )(?<!never )(?:ignore|disregard|forget|bypass|override) (?:\w+ ){0,3}?"
    r"(?:previous|prior|above|earlier|preceding|all|any|your|other|system) (?:\w+ ){0,2}?"
    r"(?:instructions?|rules|prompts?|guidelines|directions|context|training|programming)\b"
    r"|\b(?:system|developer|hidden) (?:prompt|message)s?\b"
    rf"|\bas an? {_MACHINE}\b|\byou are (?:now )?(?:an? )?(?:helpful )?{_MACHINE}\b"
    rf"|\bif you(?: are|'re) an? {_MACHINE}\b|\b(?:note|attention|instructions?)(?: to| for)? "
    rf"(?:the |any |all )?{_MACHINE}\b"
    rf"|\b{_MACHINE} (?:must|should|reading this|that reads? this)\b"
    r"|\bfrom now on,? you\b|\bpretend (?:to be|(?:that )?you are)\b|\bdo anything now\b"
    r"|\bjail ?break\b|\bnew (?:system )?instructions:"
    r"|<\|[^|]*\|>|\[/?INST\]|<</?SYS>>|</?system>|^\s*(?:system|assistant)\s*:"
)
_INSTRUCTION = re.compile(_ENGLISH, re.I | re.M)
# In text that nobody sees, less is enough.
_HIDDEN_WHO = re.compile(
    rf"\b(?:{_MACHINE}|models?|prompts?|instructions?|users?|callers?)\b", re.I
)
_HIDDEN_WHAT = re.compile(r"\b(?:you|must|always|never|answer|say|tell|reply)\b", re.I)
_HIDDEN = re.compile(r"\b(?:always|never) (?:answer|say|tell|reply)\b", re.I)
_TAGS = re.compile("[\U000e0020-\U000e007e]+")
_INVISIBLE = re.compile(
    "[\u200b\u2060-\u2064\u180e\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]"
    "|(?<!^)\ufeff|(?<=[A-Za-z ])[\u200c\u200d](?=[A-Za-z ])"
)
_BASE64 = re.compile(r"(?<![\w+/=])[A-Za-z0-9+/_-]{20,}={0,2}")
_HEX = re.compile(r"(?<!\w)(?:[0-9a-f]{2}\s?){12,}(?!\w)", re.I)
# Letters of the Cyrillic and Greek alphabets that look like Latin ones (Unicode UTS #39).
_LOOKALIKES = str.maketrans("аеорсухіјѕԁһАВЕКМНОРСТХІοαινυρκ", "aeopcyxijsdhABEKMHOPCTXIoaivupk")
_MIXED = re.compile(r"[a-z][а-яіјѕԁһα-ω]|[а-яіјѕԁһα-ω][a-z]", re.I)


def instruction(text: str) -> str:
    """What in ``text`` speaks to a language model, or hides from a reader; empty for nothing."""
    unseen = _INVISIBLE.findall(text)
    found = _spoken(text)
    parts = [f"it says {short(found)!r} to a language model"] if found else []
    for how, decoded in () if found else _decoded(text):
        found = _spoken(decoded)
        if found:
            parts.append(f"in {how} it says {short(found)!r} to a language model")
            break
    if unseen:
        names = sorted({f"U+{ord(char):04X}" for char in unseen})
        parts.append(f"{len(unseen)} hidden characters ({', '.join(names[:3])})")
    return "; ".join(parts)


def hidden_instruction(text: str) -> str:
    """The same for text that nobody who opens the document sees; empty for a harmless one."""
    who = _HIDDEN_WHO.search(text)
    asks = _HIDDEN.search(text) or (who and _HIDDEN_WHAT.search(text, who.end()))
    return instruction(text) or ("a request that nobody sees" if asks else "")


def short(text: str) -> str:
    """``text`` on one line of at most 120 characters."""
    text = " ".join(text.split())
    return text if len(text) <= 120 else text[:117] + "..."


def _spoken(text: str) -> str:
    """The words that speak to a language model; empty for none."""
    bare = text
    if not text.isascii():
        bare = unicodedata.normalize("NFKC", _INVISIBLE.sub("", text).replace("\xad", ""))
        bare = re.sub(r"\w+", _latin, bare)
    bare = re.sub(r"[^\S\n]+", " ", bare)
    tags = "".join(chr(ord(c) - 0xE0000) for run in _TAGS.findall(text) for c in run)
    for one in filter(None, (bare, tags)):
        found = _INSTRUCTION.search(one)
        if found:
            return found.group()
    return foreign_instruction(bare)


def _latin(word: re.Match[str]) -> str:
    """A word of two alphabets in one."""
    text = word.group()
    return text.translate(_LOOKALIKES) if _MIXED.search(text) else text


def _decoded(text: str) -> Iterator[tuple[str, str]]:
    """Readable text that ``text`` holds in another encoding, and the encoding's name."""
    for found in _BASE64.findall(text):
        body = found.rstrip("=").replace("-", "+").replace("_", "/")
        try:
            data = base64.b64decode(body + "=" * (-len(body) % 4), validate=True)
        except binascii.Error:
            continue
        yield from _readable("base64", data)
    for found in _HEX.findall(text):
        digits = re.sub(r"\s", "", found)
        yield from _readable("hexadecimal", bytes.fromhex(digits))


def _readable(how: str, data: bytes) -> Iterator[tuple[str, str]]:
    try:
        yield how, data.decode("utf-8")
    except UnicodeDecodeError:
        return
