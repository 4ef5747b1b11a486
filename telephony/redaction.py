"""What a log or a record may say of a number or a token: no more than tells two calls apart."""

from __future__ import annotations

import re

_SECRET = re.compile(r"\bfd[tk]_[A-Za-z0-9_=-]+")
_IN_PATH = re.compile(r"(/(?:media|whisper|return)/)[^\s/?#\"'<>]+")
_NUMBER = re.compile(
    r"\+\d[\d ().-]{4,24}\d"  # +1 (555) 555-0100
    r"|(?<![\w.:-])\(?\d{3}\)?[ .-]\d{3}[ .-]\d{4}(?![\w:]|-\d|\.\d)"  # 555-555-0100
    r"|(?<![\w.-])\d{7,15}(?![\w:]|-\d|\.\d)"  # 15555550100, sip:15555550100@host
)
_SHOWN = 2
"""Digits of a number that stay."""


def masked(number: str) -> str:
    """``number`` with its last two digits only; empty if it is empty."""
    if not number:
        return ""
    digits = [char for char in number if char.isdigit()]
    if len(digits) <= _SHOWN:
        return "…"
    return "…" + "".join(digits[-_SHOWN:])


def without_secrets(text: str) -> str:
    """``text`` with numbers masked, and tokens and keys left out."""
    text = _SECRET.sub("[token]", text)
    text = _IN_PATH.sub(r"\1[token]", text)
    return _NUMBER.sub(lambda match: masked(match.group()), text)
