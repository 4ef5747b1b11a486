"""Questions that a document itself sets beside its answers: FAQ headings, "Q:" and "A:" lines."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace

from rag.readers.types import Block, fold

_Q = re.compile(r"^[ \t>*_#-]*(?:Q|Question)[ \t]*\d*[ \t]*[.:)][ \t*_]*", re.I | re.M)
_A = re.compile(r"^[ \t>*_#-]*(?:A|Answer)[ \t]*\d*[ \t]*[.:)][ \t*_]*", re.I | re.M)
# A line of its own that asks one thing, with its answer beneath.
_FIRST_LINE = re.compile(r"[^\n.?!]{3,120}\?[ \t*_]*\n\s*(?=\S)")


def pair_questions(
    text: str, blocks: Iterable[Block], plain: Callable[[str], str] = fold
) -> tuple[Block, ...]:
    """``blocks`` of ``text`` with every answer that stands under its question marked so.

    ``plain`` makes a block's text of its source. A question that nothing answers stays as a block
    with an empty text.
    """
    result: list[Block] = []
    for block in blocks:
        found = _split(text, block, plain) if block.kind == "paragraph" else [block]
        asked = result[-1] if result else None
        if asked and asked.kind == "question" and not asked.text and found[0].kind == "paragraph":
            source = text[block.start : block.end]
            mark = _A.match(source)
            start = mark.end() if mark else 0
            answer = _answer(block, source, (start, len(source)), asked.question or "", plain)
            result[-1:] = [answer]
        else:
            result += found
    return tuple(result)


def _split(text: str, block: Block, plain: Callable[[str], str]) -> list[Block]:
    """The answers in one paragraph; itself if it holds no question."""
    source = text[block.start : block.end]
    marks = list(_Q.finditer(source))
    if marks and marks[0].start() == 0:
        ends = [*(mark.start() for mark in marks[1:]), len(source)]
        return [
            _marked(block, source, (mark.end(), end), plain)
            for mark, end in zip(marks, ends, strict=True)
        ]
    first = _FIRST_LINE.match(source)
    if first:
        span = (first.end(), len(source))
        return [_answer(block, source, span, plain(first.group()), plain)]
    if block.heading.endswith("?"):
        return [replace(block, kind="question", question=block.heading)]
    return [block]


def _marked(block: Block, source: str, span: tuple[int, int], plain: Callable[[str], str]) -> Block:
    """What follows a "Q:": the question, and the answer if an "A:" follows."""
    answer = _A.search(source, *span)
    asked_to, start = (answer.start(), answer.end()) if answer else (span[1], span[1])
    question = plain(source[span[0] : asked_to]).strip("*_ ")
    return _answer(block, source, (start, span[1]), question, plain)


def _answer(
    block: Block, source: str, span: tuple[int, int], question: str, plain: Callable[[str], str]
) -> Block:
    body = source[slice(*span)]
    start = span[0] + len(body) - len(body.lstrip())
    end = start + len(body.strip())
    return replace(
        block,
        text=plain(source[start:end]),
        start=block.start + start,
        end=block.start + end,
        kind="question",
        question=question,
    )
