"""Writing the small XML answers that providers take, with nothing in them that breaks out."""

from __future__ import annotations

import re
from xml.sax.saxutils import quoteattr

_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def without_forbidden(text: str) -> str:
    """``text`` without the characters that XML forbids; they cannot be escaped."""
    return _NOT_XML.sub("", text)


def plain(text: str) -> str:
    """``text`` for a voice that would read what looks like markup (SSML) as markup."""
    return text.replace("<", " ").replace(">", " ")


def attribute(value: str) -> str:
    """``value`` quoted and escaped as an attribute."""
    return quoteattr(without_forbidden(value))


def document(inner: str) -> str:
    """The ``<Response>`` with ``inner``, which is XML already."""
    return f'<?xml version="1.0" encoding="UTF-8"?><Response>{inner}</Response>'
