"""The index that answers, exchanged for a newer one while calls go on.

A build puts a new index in service by replacing one small file (:mod:`rag.store`). A thread looks
at that file; the new index is opened whole and only then takes the place of the old one, by one
reference. A turn asks for the index once, so it is answered from one index alone; the old one
goes when its last turn ends. A new one that cannot be opened is named once, and the old one stays.
When no call is in progress, what is loaded now is left out of garbage collection in place of what
was (:mod:`agent.garbage`).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from loguru import logger

from agent.garbage import set_aside
from frontdesk import FrontdeskError
from rag import Index

EVERY_S = 2.0
"""Seconds between two looks at the file: one stat-sized read, so it costs nothing."""


class Knowledge:
    """The index in service. ``index`` may be read from any thread, at any time.

    ``pointer`` is the file that names it. ``open_first`` opens it, or builds it; ``open_next``
    opens what the file names now, and raises ``FrontdeskError`` if it cannot. ``on_swap`` is
    called with every new index before it answers.
    """

    def __init__(
        self,
        pointer: Path,
        open_first: Callable[[], Index],
        open_next: Callable[[], Index],
        *,
        on_swap: Callable[[Index], None] = lambda index: None,
        every_s: float = EVERY_S,
    ) -> None:
        self._pointer = pointer
        self._open = open_next
        self._on_swap = on_swap
        self._every_s = every_s
        self._is_exchanged = False
        # Read before the index is: one that comes while it is opened is seen at the first look.
        self._seen = self._named()
        self.index = open_first()

    def refresh(self) -> bool:
        """Put a new index in service if there is one; whether there was."""
        named = self._named()
        if named is None or named == self._seen:
            return False
        self._seen = named
        try:
            index = self._open()
            self._on_swap(index)
        except FrontdeskError as error:
            logger.warning("new index refused, the one before stays in service: {}", error)
            return False
        except Exception:  # noqa: BLE001 (the thread must go on looking; the log has it all)
            logger.exception("new index failed, the one before stays in service")
            return False
        self.index = index
        self._is_exchanged = True
        logger.info(
            "new index {} in service: {} passages", index.kb.sha256[:16], len(index.kb.passages)
        )
        return True

    def look(self, is_idle: Callable[[], bool]) -> None:
        """Refresh; after an exchange set aside what is loaded, at the first look while idle."""
        self.refresh()
        if self._is_exchanged and is_idle():
            self._is_exchanged = False
            set_aside()

    @contextmanager
    def watched(self, is_idle: Callable[[], bool] = lambda: True) -> Iterator[None]:
        """Look for a new index every few seconds, in a thread, until the block ends.

        ``is_idle`` says whether no call is in progress.
        """
        over = threading.Event()

        def watch() -> None:
            while not over.wait(self._every_s):
                self.look(is_idle)

        thread = threading.Thread(target=watch, name="knowledge", daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()

    def _named(self) -> str | None:
        """What the file says; None if there is none (an index that is kept in memory)."""
        try:
            return self._pointer.read_text("utf-8")
        except (OSError, UnicodeDecodeError):
            return None
