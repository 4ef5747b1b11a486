"""Result files as Markdown: what figure blocks are made of."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from bench.results import RESULTS


def load(name: str) -> dict[str, Any]:
    """The figures in ``bench/results/NAME.json``.

    Raises:
        OSError: if they have not been measured.
    """
    loaded: dict[str, Any] = json.loads((RESULTS / f"{name}.json").read_text("utf-8"))
    return loaded


def measured_on(figures: Mapping[str, Any]) -> str:
    """Machine, date and commit of some figures."""
    m = figures["machine"]
    return f"{m['cpu']}, {m['cores']} cores, {m['date']}, commit {m['commit']}"


def percent(share: float) -> str:
    """A share from 0 to 1, to a tenth of a percent."""
    return f"{100 * share:.1f} %"


def table(head: Sequence[object], rows: Sequence[Sequence[object]]) -> str:
    """A Markdown table."""
    lines = [f"| {' | '.join(map(str, line))} |" for line in (head, *rows)]
    return "\n".join([lines[0], "|---" * len(head) + "|", *lines[1:]])
