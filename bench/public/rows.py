"""Reading the data, and printing what was found."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from rag.calibration import Rate


def read(path: Path) -> list[dict[str, Any]]:
    """The rows of a file of one JSON object a line.

    Raises:
        OSError: if it cannot be read.
    """
    return [json.loads(line) for line in path.read_text("utf-8").split("\n") if line.strip()]


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Columns as wide as their widest cell, numbers with three decimals."""
    cells = [list(head), *([_cell(value) for value in row] for row in rows)]
    widths = [max(len(row[n]) for row in cells) for n in range(len(head))]
    lines = ("  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)) for row in cells)
    return "\n".join(line.rstrip() for line in lines)


def _cell(value: object) -> str:
    if isinstance(value, Rate):
        return f"{value.rate:.3f} ({value.low:.3f} to {value.high:.3f}, n {value.n})"
    return f"{value:.3f}" if isinstance(value, float) else str(value)
