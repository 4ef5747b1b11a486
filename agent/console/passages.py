"""The passages that an answer came from, with what was quoted of them.

A record holds a passage's hash, not its text: the text is that of the index in service, if its
hash is still the same, and else said to have been changed since.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from rag import Index
from rag.sentences import sentence_spans
from rag.speakable import without_citations
from rag.types import Passage

_CHANGED = "The passage was changed since this call; this is how it reads today."
_GONE = "The passage is no longer in the documents."
_BRACKETED = re.compile(r"\s?\[[^\[\]\s]{1,200}\]")
_WORD = re.compile(r"\w+")
_CLOSE = 0.5  # of the draft's words, in one sentence of the passage

Span = tuple[int, int]


class Passages:
    """Looks passages up in the index of the moment, which ``index`` gives."""

    def __init__(self, index: Callable[[], Index]) -> None:
        self._index = index
        self._known: tuple[str, dict[str, Passage], dict[str, str]] = ("", {}, {})

    def named(self, name: str) -> tuple[Passage, str] | None:
        """A passage and its document's path; None if there is none of that name today."""
        by_id, paths = self._today()
        passage = by_id.get(name)
        return None if passage is None else (passage, paths.get(passage.doc, passage.doc))

    def cited(self, verdict: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Each passage that the ``verdict`` event cites, as the call's page shows it."""
        hashes = {hit.get("id"): str(hit.get("sha256", "")) for hit in verdict.get("hits", [])}
        quoted = _uncited(verdict.get("draft") or verdict.get("say") or "")
        return [
            self._shown(name, hashes.get(name, ""), str(verdict.get("kb", "")), quoted)
            for name in verdict.get("citations", [])
        ]

    def _shown(self, name: str, sha256: str, revision: str, quoted: str) -> dict[str, Any]:
        shown: dict[str, Any] = {"id": name, "sha256": sha256, "revision": revision}
        found = self.named(name)
        if found is None:
            return shown | {
                "document": None, "heading": None, "page": None, "row": None,
                "state": "gone", "note": _GONE, "pieces": [], "quotes": [],
            }  # fmt: skip
        passage, document = found
        same = passage.sha256 == sha256
        quotes = quotes_in(passage.text, quoted, closest=same)
        return shown | {
            "document": document,
            "heading": passage.heading,
            "page": passage.page,
            "row": passage.row,
            "state": "same" if same else "changed",
            "note": "" if same else _CHANGED,
            "pieces": pieces(passage.text, quotes),
            "quotes": [list(span) for span in quotes],
        }

    def _today(self) -> tuple[dict[str, Passage], dict[str, str]]:
        kb = self._index().kb
        if self._known[0] != kb.sha256:
            paths = {source.id: source.path for source in kb.sources}
            self._known = (kb.sha256, {one.id: one for one in kb.passages}, paths)
        return self._known[1:]


def quotes_in(passage: str, quoted: str, *, closest: bool = True) -> list[Span]:
    """Where ``passage`` says what was ``quoted``, as character offsets, in order.

    Sentences that stand there word for word; where none does, the one that is closest in words,
    if at least half of them are in it and ``closest`` allows it.
    """
    exact = [
        (at, at + len(sentence))
        for start, end in sentence_spans(quoted)
        if (at := passage.find(sentence := quoted[start:end])) >= 0
    ]
    if exact:
        return _joined(exact)
    whole = quoted.strip().rstrip(".!?")
    if whole and (at := passage.find(whole)) >= 0:
        return [(at, at + len(whole))]
    return _closest(passage, quoted) if closest else []


def pieces(text: str, quotes: Iterable[Span]) -> list[dict[str, Any]]:
    """``text`` in order, cut at the quotes."""
    cut, at = [], 0
    for start, end in quotes:
        cut += [(text[at:start], False), (text[start:end], True)]
        at = end
    cut.append((text[at:], False))
    return [{"text": part, "quoted": is_quoted} for part, is_quoted in cut if part]


def _closest(passage: str, quoted: str) -> list[Span]:
    wanted = _words(quoted)
    spans = sentence_spans(passage)
    if not wanted or not spans:
        return []
    best = max(spans, key=lambda span: len(wanted & _words(passage[slice(*span)])))
    shared = len(wanted & _words(passage[slice(*best)]))
    return [best] if shared >= _CLOSE * len(wanted) else []


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.lower()))


def _joined(spans: Iterable[Span]) -> list[Span]:
    """Sorted, those that overlap made one."""
    joined: list[Span] = []
    for start, end in sorted(spans):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined


def _uncited(draft: str) -> str:
    return _BRACKETED.sub("", without_citations(draft))
