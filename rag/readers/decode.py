"""Bytes to text: UTF-8 first, then what the bytes themselves say, then Windows-1252."""

from __future__ import annotations

import codecs
import re

from rag.readers.needs import need
from rag.readers.types import Damaged

_MAGIC = (
    (b"%PDF-", "a PDF"),
    (b"PK\x03\x04", "a zip archive or an Office document"),
    (b"\xd0\xcf\x11\xe0", "an old Office document"),
    (b"\x89PNG", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"\x7fELF", "a program"),
)
_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f]")


def decode(data: bytes, declared: str | None = None) -> str:
    """``data`` as text; ``declared`` is an encoding that the file names itself.

    Raises:
        Damaged: if it is not text, or in an encoding that cannot be told.
    """
    for magic, name in _MAGIC:
        if data.startswith(magic):
            raise Damaged(f"its name says text, but it is {name}; give it its right suffix")
    bom = next((encoding for mark, encoding in _BOMS if data.startswith(mark)), None)
    text = _strict(data, bom) if bom else _guess(data, declared)
    if text is None:
        raise Damaged(f"its mark says {bom}, but its bytes do not; save it again as UTF-8")
    found = _CONTROL.search(text)
    if found:
        raise Damaged(
            f"it is a binary file, not text (control character at {found.start()}); "
            "remove it or give it its right suffix"
        )
    return text


def _guess(data: bytes, declared: str | None) -> str | None:
    text = _strict(data, "utf-8")
    if text is None and b"\0" in data:
        raise Damaged(
            f"it is a binary file, not text (zero byte at {data.index(0)}); "
            "remove it or give it its right suffix"
        )
    if text is None and declared:
        text = _strict(data, declared)
    if text is None:
        text = _windows(data)
    return text


def _windows(data: bytes) -> str:
    """Windows-1252, if the text that it gives is not a mess."""
    best = need("charset_normalizer").from_bytes(data, cp_isolation=["cp1252"]).best()
    if best is None or best.encoding != "cp1252":
        at = _first_bad(data)
        raise Damaged(
            f"its encoding is neither UTF-8 nor Windows-1252 (byte {at}); save it again as UTF-8"
        )
    return data.decode("cp1252")


def _first_bad(data: bytes) -> int:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        return error.start
    return 0


def _strict(data: bytes, encoding: str) -> str | None:
    try:
        return data.decode(encoding)
    except (UnicodeError, LookupError):
        return None
