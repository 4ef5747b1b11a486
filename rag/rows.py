"""Records in a file, read one at a time: a knowledge base of a million passages is not loaded.

Two files: ``NAME.rows`` holds one JSON array after the other, ``NAME.ends.npy`` where each ends.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Callable, Iterable, Sequence
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Any, Generic, TypeVar, overload

import numpy as np

T = TypeVar("T")


class RowsWriter:
    """Writes rows, each an array of plain values, one at a time."""

    def __init__(self, folder: Path, name: str) -> None:
        self._ends_path = folder / f"{name}.ends.npy"
        self._file = (folder / f"{name}.rows").open("wb")
        self._ends = array("q")
        self._at = 0

    def add(self, row: Sequence[Any]) -> None:
        """Append one row."""
        self._at += self._file.write(json.dumps(row, ensure_ascii=False).encode())
        self._ends.append(self._at)

    def close(self) -> None:
        """Finish both files."""
        self._file.close()
        np.save(self._ends_path, np.array(self._ends, np.int64))


def write_rows(folder: Path, name: str, rows: Iterable[Sequence[Any]]) -> None:
    """Write ``rows``, each an array of plain values."""
    writer = RowsWriter(folder, name)
    for row in rows:
        writer.add(row)
    writer.close()


class Rows(Sequence[T], Generic[T]):
    """The records of :func:`write_rows`, each made by ``make(*values)`` when it is asked for.

    Raises:
        OSError, ValueError: if the files are missing or not of one length.
    """

    def __init__(self, folder: Path, name: str, make: Callable[..., T]) -> None:
        self._make = make
        self._ends = np.load(folder / f"{name}.ends.npy", mmap_mode="r")
        path = folder / f"{name}.rows"
        size = int(self._ends[-1]) if len(self._ends) else 0
        if path.stat().st_size != size:
            raise ValueError(f"{path.name} has {path.stat().st_size} bytes, not {size}")
        with path.open("rb") as file:
            self._data: mmap | bytes = mmap(file.fileno(), 0, access=ACCESS_READ) if size else b""

    def __len__(self) -> int:
        return len(self._ends)

    @overload
    def __getitem__(self, at: int) -> T: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[T, ...]: ...
    def __getitem__(self, at: int | slice) -> T | tuple[T, ...]:
        if isinstance(at, slice):
            return tuple(self[n] for n in range(*at.indices(len(self))))
        number = range(len(self))[at]
        start = int(self._ends[number - 1]) if number else 0
        return self._make(*json.loads(self._data[start : int(self._ends[number])]))
