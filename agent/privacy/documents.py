"""The values of the documents in service, for the redaction of calls that go on meanwhile."""

from __future__ import annotations

import threading
from collections.abc import Callable

from agent.privacy.kept import kept_values
from rag import Index

_AT_ONCE = 100_000
"""Letters of documents that are read before the first call: 0.1 s. More takes a thread; until it
is done nothing is kept, so that values of the documents are hidden too, but nothing personal is
shown."""


class DocumentValues:
    """What a :class:`agent.privacy.Redactor` keeps: values of the ``index`` in service."""

    def __init__(self, index: Callable[[], Index]) -> None:
        """Read the documents of the first index, or begin to."""
        self._index = index
        self._of = ""
        self._kept: frozenset[str] = frozenset()
        self()

    def __call__(self) -> frozenset[str]:
        """The values; after a new index those of the one before, until it is read."""
        kb = self._index().kb
        if kb.sha256 != self._of:
            self._of = kb.sha256
            texts = [f"{one.heading}\n\n{one.text}" for one in kb.passages]
            if sum(map(len, texts)) <= _AT_ONCE:
                self._kept = kept_values(texts)
            else:
                threading.Thread(target=self._read, args=(kb.sha256, texts), daemon=True).start()
        return self._kept

    def _read(self, of: str, texts: list[str]) -> None:
        kept = kept_values(texts)
        if of == self._of:
            self._kept = kept
