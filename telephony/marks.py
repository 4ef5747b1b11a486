"""Marks on wires that tell of a clear once, and not of each mark that it dropped."""

from __future__ import annotations

from collections import deque


class MarksOut:
    """The marks that are out, in order. No I/O: say what was sent, ask what it settles."""

    def __init__(self) -> None:
        self._out: dict[str, None] = {}
        self._clears: deque[tuple[str, ...]] = deque()

    def sent(self, name: str) -> None:
        """Mark ``name`` went to the far end."""
        self._out[name] = None

    def clear_sent(self) -> None:
        """A clear went to the far end, behind the marks that are out."""
        self._clears.append(tuple(self._out))

    def reached(self, name: str) -> bool:
        """The far end returned ``name``; whether it was out."""
        return self._out.pop(name, "") is None

    def cleared(self) -> list[str]:
        """The far end obeyed the oldest clear; the marks that it dropped."""
        dropped = self._clears.popleft() if self._clears else ()
        return [name for name in dropped if self.reached(name)]
