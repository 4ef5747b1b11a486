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
_TABLE_RULE = re.compile(r"\s*+\|?(?:\s*+:?-+:?\s*+\|)+\s*+(?::?-+:?\s*+)?\|?\s*+")
_CELL = re.compile(r"(?<!\\)\|")
_CLOSING = re.compile(r"\s#+\Z")
_HEADING_LINE = re.compile(r"^[^\S\n]*#.*$", re.M)
_ITEM = re.compile(r"^[ \t>]*(?:[-*+]|\d+[.)])[ \t]+", re.M)
_QUOTE = re.compile(r"^[ \t]*>+[ \t]?", re.M)
_TAG = re.compile(r"</?[A-Za-z][^>\n]{0,1000}+>")
# A mark without its other half is looked for no further than this: else 20,000 of them, each
# looked for to the end, took minutes.
_MARKUP = (
    (re.compile(r"!\[([^\]\n]{0,1000}+)\]\([^)\n]*+\)"), r"\1"),
    (re.compile(r"\[([^\]\n]{1,1000}+)\](?:\([^)\n]*+\)|\[[^\]\n]{0,1000}+\])"), r"\1"),
    (re.compile(r"<((?:https?://|mailto:)[^>\s]+)>"), r"\1"),
    (_TAG, " "),
    (re.compile(r"(`+)([^`\n]+)\1"), r"\2"),
    (re.compile(r"(?<!\w)(\*\*\*|\*\*|\*)(?=\S)(.{1,1000}?)(?<=\S)\1(?!\w)", re.S), r"\2"),
    (re.compile(r"(?<!\w)(__|_)(?=\S)(.{1,1000}?)(?<=\S)\1(?!\w)", re.S), r"\2"),
    (re.compile(r"\\([\\`*_{}\[\]()#+\-.!|<>~])"), r"\1"),
)
_STRUCK = re.compile(
    r"(?<![\\~])~~(?=[^\s~])((?:[^~]|~(?!~)){1,1000}+)(?<=\S)~~(?!~)"
    r"|<(del|s|strike)(?:\s[^>\n]{0,1000}+)?>((?:[^<]|<(?!/?\2\b)){0,1000}+)</\2\s*>",
    re.I,
)


def read(data: bytes) -> Content:
    """The paragraphs and table rows of a Markdown file."""
    return parse(decode(data))


def parse(text: str) -> Content:
    """The paragraphs and table rows of Markdown, parted by blank lines.

    A line that starts with ``#`` is a heading wherever it stands: left out of the text, and what
    the paragraphs after its own stand under. It does not part the lines above and below it.
    """
    hidden = _COMMENT.findall(text)
    # Blanked, not cut: every offset stays that of the source.
    seen = _COMMENT.sub(lambda found: re.sub(r"[^\n]", " ", found.group()), text)
    seen = _FRONT.sub(lambda found: re.sub(r"[^\n]", " ", found.group()), seen)
    blocks: list[Block] = []
    notes: list[str] = []
    heading = ""
    for is_heading, start, end in _pieces(seen):
        source = seen[start:end]
        hidden += [_TAG.sub(" ", f[1] or f[3] or "") for f in _STRUCK.finditer(source)]
        if is_heading:
            heading = _title(source)
        elif _TABLE.fullmatch(source.partition("\n")[0]):
            blocks += _table(source, start, heading)
        else:
            body = _without_tail(source)
            start += len(body) - len(body.lstrip())
            end = start + len(body.strip())
            if plain(body):
                blocks.append(Block(plain(body), heading, None, None, start, end))
            notes += [_inside(text, start, found) for found in _HEADING_LINE.finditer(body.strip())]
            heading = _last_heading(source) or heading
    unseen = tuple(fold(found) for found in hidden if fold(found))
    return Content(text, pair_questions(seen, blocks, plain), unseen, tuple(notes))


def _without_tail(source: str) -> str:
    """A paragraph without the headings, and the white space, at its end."""
    lines = source.split("\n")
    while len(lines) > 1 and (not lines[-1].strip() or lines[-1].lstrip().startswith("#")):
        lines.pop()
    return "\n".join(lines).rstrip()


def _last_heading(source: str) -> str:
    """The last heading among a paragraph's lines; empty for none."""
    found = _HEADING_LINE.findall(source)
    return _title(found[-1]) if found else ""


def _title(line: str) -> str:
    return plain(_CLOSING.sub("", line.strip().lstrip("#")))


def _inside(text: str, start: int, heading: re.Match[str]) -> str:
    line = text.count("\n", 0, start + heading.start()) + 1
    return (
        f"the heading {heading.group().strip()!r} on line {line} stands inside a paragraph and was "
        "left out of it; put a blank line before it"
    )


def plain(source: str) -> str:
    """``source`` as it is read aloud: no markup, nothing struck out, semicolons between items."""
    source = _STRUCK.sub("", _HEADING_LINE.sub("", source))
    parts: list[str] = []
    at = 0
    for item in _ITEM.finditer(source):
        if before := source[at : item.start()].rstrip():
            parts += [before, " " if before[-1] in ".:;,!?" else "; "]
        at = item.end()
    source = _QUOTE.sub("", "".join([*parts, source[at:]]))
    for pattern, kept in _MARKUP:
        source = pattern.sub(kept, source)
    return fold(source)


def _pieces(text: str) -> Iterator[tuple[bool, int, int]]:
    """(is a heading, start, end) of each heading, paragraph and table, in order."""
    first, at, fenced = -1, 0, False
    lines = text.splitlines(keepends=True)
    for number, line in enumerate(lines):
        start, at = at, at + len(line)
        following = lines[number + 1] if number + 1 < len(lines) else ""
        fence = bool(_FENCE.match(line))
        fenced ^= fence
        inside = fenced and not fence
        if first < 0 and not inside and _heads(line, following):
            yield True, start, at
            continue
        if fence or (not inside and _cuts(line, following)):
            if first >= 0:
                yield False, first, start
            first = -1
        if first < 0 and not fence and not _is_blank(line):
            first = start
    if first >= 0:
        yield False, first, at


def _heads(line: str, following: str) -> bool:
    """Whether ``line``, at the start of a paragraph, is a heading."""
    if line.lstrip().startswith("#"):
        return True
    return not _is_blank(line) and bool(_UNDERLINE.fullmatch(following))


def _cuts(line: str, following: str) -> bool:
    """Whether a paragraph that has begun ends before ``line``."""
    return _is_blank(line) or bool(_TABLE.fullmatch(line) and _TABLE_RULE.fullmatch(following))


def _is_blank(line: str) -> bool:
    return not line.strip() or bool(_RULE.fullmatch(line))


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
