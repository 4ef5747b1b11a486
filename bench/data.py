"""The folder with the public data."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path


def lacking(folder: Path, names: Iterable[str]) -> str:
    """Which of the files ``names`` are not in ``folder``, and how to mend it; "" for none."""
    missing = [name for name in names if not (folder / name).is_file()]
    if not missing:
        return ""
    return f"{folder} lacks {' and '.join(missing)}; give their folder with --data DIR"
