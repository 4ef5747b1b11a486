"""Progress bars for work of several stages, on a terminal only."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tqdm import tqdm

Progress = Callable[[str, int, int], None]
"""Called with the name of a stage, how much of it is done, and how much there is."""


@contextmanager
def stages() -> Iterator[Progress]:
    """A bar for each stage that is reported, one after the other, on stderr."""
    bars: dict[str, tqdm[None]] = {}

    def report(stage: str, done: int, total: int) -> None:
        if stage not in bars:
            for bar in bars.values():
                bar.close()
            bars[stage] = tqdm(desc=stage, total=total, disable=not sys.stderr.isatty())
        bars[stage].total = total
        bars[stage].update(done - bars[stage].n)

    try:
        yield report
    finally:
        for bar in bars.values():
            bar.close()
