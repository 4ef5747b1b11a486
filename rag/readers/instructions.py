"""Words in a document that speak to a language model, and text that hides from a reader."""

from __future__ import annotations

import re
import unicodedata

_MACHINE = r"(?:ai|a\.i\.|llms?|(?:large )?language models?|chat ?bots?|(?:ai |voice )?assistants?)"
_INSTRUCTION = re.compile(
    r"\b(?:ignore|disregard|forget|bypass|override) (?:\w+ ){0,3}?"
    r"(?:previous|prior|above|earlier|preceding|all|any|your|other|system) (?:\w+ ){0,2}?"
    r"(?:instructions?|rules|prompts?|guidelines|directions|context|training|programming)\b"
    r"|\b(?:system|developer|hidden) (?:prompt|message)s?\b"
    rf"|\bas an? {_MACHINE}\b|\byou are (?:now )?(?:an? )?(?:helpful )?{_MACHINE}\b"
    rf"|\bif you(?: are|'re) an? {_MACHINE}\b|\b(?:note|attention|instructions?)(?: to| for)? "
    rf"(?:the |any |all )?{_MACHINE}\b"
    rf"|\b{_MACHINE} (?:must|should|reading this|that reads? this)\b"
    r"|\bfrom now on,? you\b|\bpretend (?:to be|(?:that )?you are)\b|\bdo anything now\b"
    r"|\bjail ?break\b|\bnew (?:system )?instructions:"
    r"|<\|[^|]*\|>|\[/?INST\]|<</?SYS>>|</?system>|^\s*(?:system|assistant)\s*:",
    re.I | re.M,
)
# In text that nobody sees, less is enough.
_HIDDEN = re.compile(
    rf"\b(?:{_MACHINE}|models?|prompts?|instructions?|users?|callers?)\b.*\b(?:you|must|always|"
    r"never|answer|say|tell|reply)\b|\b(?:always|never) (?:answer|say|tell|reply)\b",
    re.I | re.S,
)
_TAGS = re.compile("[\U000e0020-\U000e007e]+")
_INVISIBLE = re.compile(
    "[\u200b\u2060-\u2064\u180e\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]"
    "|(?<!^)\ufeff|(?<=[A-Za-z ])[\u200c\u200d](?=[A-Za-z ])"
)


def instruction(text: str) -> str:
    """What in ``text`` speaks to a language model, or hides from a reader; empty for nothing."""
    tags = "".join(chr(ord(c) - 0xE0000) for run in _TAGS.findall(text) for c in run)
    unseen = _INVISIBLE.findall(text)
    bare = unicodedata.normalize("NFKC", _INVISIBLE.sub("", text).replace("\xad", ""))
    spoken = _INSTRUCTION.search(re.sub(r"[^\S\n]+", " ", bare)) or _INSTRUCTION.search(tags)
    parts = [f"it says {short(spoken.group())!r} to a language model"] if spoken else []
    if unseen:
        names = sorted({f"U+{ord(char):04X}" for char in unseen})
        parts.append(f"{len(unseen)} hidden characters ({', '.join(names[:3])})")
    return "; ".join(parts)


def hidden_instruction(text: str) -> str:
    """The same for text that nobody who opens the document sees; empty for a harmless one."""
    return instruction(text) or ("a request that nobody sees" if _HIDDEN.search(text) else "")


def short(text: str) -> str:
    """``text`` on one line of at most 120 characters."""
    text = " ".join(text.split())
    return text if len(text) <= 120 else text[:117] + "..."
