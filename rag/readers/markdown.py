"""Markdown: headings, paragraphs, lists, pipe tables and front matter, with their offsets."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from rag.readers.decode import decode
from rag.readers.questions import pair_questions
from rag.readers.tables import read_rows
from rag.readers.types import Block, Content, fold

_FRONT = re.compile(r"\A---[ \t]*\r?\n.*?\n---[ \t]*(?:\r?\n|\Z)", re.S)
_COMMENT = re.compile(r"<!--(.*?)(?:-->|\Z)", re.S)
_FENCE = re.compile(r"\s*(```|~~~)")
_RULE = re.compile(r"\s*(?:(?:\*\s*){3,}|(?:-\s*){3,}|(?:_\s*){3,}|={3,}\s*)")
_UNDERLINE = re.compile(r"\s*(?:=+|-{2,})\s*")
_TABLE = re.compile(r"\s*\|.*\|\s*")
_TABLE_RULE = re.compile(r"\s*\|?(?:\s*:?-+:?\s*\|)+\s*(?::?-+:?)?\s*\|?\s*")
_CELL = re.compile(r"(?<!\\)\|")
_ITEM = re.compile(r"^[ \t>]*(?:[-*+]|\d+[.)])[ \t]+", re.M)
_QUOTE = re.compile(r"^[ \t]*>+[ \t]?", re.M)
_MARKUP = (
    (re.compile(r"!\[([^\]\n]*)\]\([^)\n]*\)"), r"\1"),
    (re.compile(r"\[([^\]\n]+)\](?:\([^)\n]*\)|\[[^\]\n]*\])"), r"\1"),
    (re.compile(r"<((?:https?://|mailto:)[^>\s]+)>"), r"\1"),
    (re.compile(r"</?[A-Za-z][^>\n]*>"), " "),
    (re.compile(r"(`+)([^`\n]+)\1"), r"\2"),
    (re.compile(r"(?<!\w)(\*\*\*|\*\*|\*)(?=\S)(.+?)(?<=\S)\1(?!\w)", re.S), r"\2"),
    (re.compile(r"(?<!\w)(__|_)(?=\S)(.+?)(?<=\S)\1(?!\w)", re.S), r"\2"),
    (re.compile(r"~~(?=\S)(.+?)(?<=\S)~~"), r"\1"),
    (re.compile(r"\\([\\`*_{}\[\]()#+\-.!|<>~])"), r"\1"),
)


def read(data: bytes) -> Content:
    """The paragraphs and table rows of a Markdown file."""
    text = decode(data)
    hidden = tuple(fold(found) for found in _COMMENT.findall(text) if fold(found))
    # Blanked, not cut: every offset stays that of the source.
    seen = _COMMENT.sub(lambda found: re.sub(r"[^\n]", " ", found.group()), text)
    seen = _FRONT.sub(lambda found: re.sub(r"[^\n]", " ", found.group()), seen)
    blocks: list[Block] = []
    heading = ""
    for is_heading, start, end in _pieces(seen):
        source = seen[start:end]
        if is_heading:
            heading = plain(source.strip().strip("#"))
        elif _TABLE.fullmatch(source.partition("\n")[0]):
            blocks += _table(source, start, heading)
        else:
            start += len(source) - len(source.lstrip())
            end = start + len(source.strip())
            if plain(source):
                blocks.append(Block(plain(source), heading, None, None, start, end))
    return Content(text, pair_questions(seen, blocks, plain), hidden)


def plain(source: str) -> str:
    """``source`` as it is read aloud: no markup, list items parted by semicolons."""
    items = list(_ITEM.finditer(source))
    for item in reversed(items):
        before = source[: item.start()].rstrip()
        joint = "" if not before else " " if before[-1] in ".:;,!?" else "; "
        source = before + joint + source[item.end() :]
    source = _QUOTE.sub("", source)
    for pattern, kept in _MARKUP:
        source = pattern.sub(kept, source)
    return fold(source)


def _pieces(text: str) -> Iterator[tuple[bool, int, int]]:
    """(is a heading, start, end) of each heading, paragraph and table, in order."""
    first, at, fenced = -1, 0, False
    lines = text.splitlines(keepends=True)
    for number, line in enumerate(lines):
        start, at = at, at + len(line)
        fence = bool(_FENCE.match(line))
        fenced ^= fence
        following = lines[number + 1] if number + 1 < len(lines) else ""
        if not fenced and not fence and first < 0 and _is_underlined(line, following):
            yield True, start, at
        elif fence or (not fenced and _cuts(line)):
            if first >= 0:
                yield False, first, start
            first = -1
            if line.lstrip().startswith("#"):
                yield True, start, at
        elif first < 0 and line.strip():
            first = start
    if first >= 0:
        yield False, first, at


def _cuts(line: str) -> bool:
    return not line.strip() or line.lstrip().startswith("#") or bool(_RULE.fullmatch(line))


def _is_underlined(line: str, following: str) -> bool:
    return bool(line.strip() and not _cuts(line) and _UNDERLINE.fullmatch(following))


def _table(source: str, start: int, heading: str) -> Iterator[Block]:
    rows: list[tuple[int, list[str]]] = []
    spans: dict[int, tuple[int, list[tuple[int, int]]]] = {}
    at, number = start, 0
    for line in source.splitlines(keepends=True):
        if not _TABLE_RULE.fullmatch(line):
            number += 1
            cells = _cells(line)
            rows.append((number, [plain(line[slice(*cell)]) for cell in cells]))
            spans[number] = (at, cells)
        at += len(line)
    _, found = read_rows(rows)
    for row in found:
        line_start, cells = spans[row.number]
        first, last = cells[0][0], cells[-1][1]
        if row.cell is not None:
            first, last = cells[row.cell] if row.cell < len(cells) else (last, last)
        yield Block(
            row.text,
            row.topic or heading,
            None,
            row.number,
            line_start + first,
            line_start + last,
            row.kind,
            row.question,
        )


def _cells(line: str) -> list[tuple[int, int]]:
    """The spans of a row's cells in ``line``, outer white space left out."""
    edges = [match.start() for match in _CELL.finditer(line)]
    result = []
    for left, right in pairwise(edges):
        cell = line[left + 1 : right]
        start = left + 1 + len(cell) - len(cell.lstrip())
        result.append((start, start + len(cell.strip())) if cell.strip() else (left + 1, left + 1))
    return result
