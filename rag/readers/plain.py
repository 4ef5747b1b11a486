"""Plain text: paragraphs at blank lines, underlined or capital lines as headings."""

from __future__ import annotations

import re

from rag.readers.decode import decode
from rag.readers.questions import pair_questions
from rag.readers.types import Block, Content, fold

_BLOCK = re.compile(r"^(?:[^\S\n]*+\S[^\n]*+(?:\n|\Z))++", re.M)
_UNDERLINE = re.compile(r"\s*([=\-~*_])\1{2,}\s*")
_LONGEST_HEADING = 80


def read(data: bytes) -> Content:
    """The paragraphs of a text file."""
    text = decode(data)
    blocks: list[Block] = []
    heading = ""
    for match in _BLOCK.finditer(text):
        start, end = match.span()
        above, size = _heading(match.group())
        heading, start = above or heading, start + size
        source = text[start:end]
        if fold(source):
            start += len(source) - len(source.lstrip())
            end = start + len(source.strip())
            blocks.append(Block(fold(source), heading, None, None, start, end))
    return Content(text, pair_questions(text, blocks))


def _heading(block: str) -> tuple[str, int]:
    """A heading at the top of ``block`` and the characters that it takes."""
    lines = block.splitlines(keepends=True)
    first = lines[0].strip()
    if _UNDERLINE.fullmatch(first):
        return "", len(lines[0]) if len(lines) == 1 else 0
    if len(first) > _LONGEST_HEADING:
        return "", 0
    if len(lines) > 1 and _UNDERLINE.fullmatch(lines[1].strip()):
        return first, len(lines[0]) + len(lines[1])
    if first.isupper() and first[-1:] not in ".!;," and len(first) > 3:
        return first, len(lines[0])
    # A question alone on its line is what the next paragraph answers.
    if len(lines) == 1 and re.fullmatch(r"[^.?!:]+\?", first):
        return first, len(lines[0])
    return "", 0
