"""Finds against labels, with intervals."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from agent.privacy import Found, Kind
from bench.personal.labelled import Example

Finder = Callable[[str], Sequence[Found]]
_Z = 1.959964
_LOOSE = re.compile(r"[\W_]")


@dataclass(frozen=True, slots=True)
class Share:
    """``hits`` of ``n``, with Wilson's interval of 95 % (E. B. Wilson, 1927)."""

    hits: int
    n: int

    @property
    def interval(self) -> tuple[float, float]:
        """From 0 to 1."""
        if not self.n:
            return 0.0, 1.0
        share, spread = self.hits / self.n, _Z * _Z / self.n
        middle = (share + spread / 2) / (1 + spread)
        half = _Z / (1 + spread) * math.sqrt(share * (1 - share) / self.n + spread / self.n / 4)
        return max(0.0, middle - half), min(1.0, middle + half)

    def as_json(self) -> dict[str, Any]:
        """For a result file."""
        low, high = self.interval
        share = round(self.hits / self.n, 4) if self.n else None
        return {
            "hits": self.hits, "n": self.n, "share": share,
            "low": round(low, 4), "high": round(high, 4),
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class Miss:
    """Something found that is not personal, or personal and not found."""

    what: str
    kind: Kind
    text: str
    part: str


def score(examples: Iterable[Example], finder: Finder) -> tuple[dict[str, Any], list[Miss]]:
    """Figures by kind, and what went wrong.

    Personal details count as hidden when no letter or digit of them is left, whatever kind they
    were taken for (``named`` is the share that were taken for the right one). A find is right when
    it hides nothing but personal details. ``untouched`` is the share of texts with none that stay
    as they are.
    """
    rows = [(one, tuple(finder(one.text))) for one in examples]
    misses: list[Miss] = []
    by_kind: dict[str, Any] = {}
    all_hidden, all_right, found_n, labels_n = 0, 0, 0, 0
    for kind in Kind:
        hidden = named = labels = right = found = 0
        for example, finds in rows:
            for label in (p for p in example.personal if p.kind is kind):
                labels += 1
                is_hidden = not _letters(example.text, label, finds)
                hidden += is_hidden
                named += is_hidden and any(f.kind is kind and _touch(f, label) for f in finds)
                if not is_hidden:
                    misses.append(_miss("missed", example, label))
            for find in (f for f in finds if f.kind is kind):
                found += 1
                is_right = not _letters(example.text, find, example.personal)
                right += is_right
                if not is_right:
                    misses.append(_miss("too much", example, find))
        by_kind[kind.value] = {
            "recall": Share(hidden, labels).as_json(),
            "named": Share(named, labels).as_json(),
            "precision": Share(right, found).as_json(),
        }
        all_hidden, labels_n = all_hidden + hidden, labels_n + labels
        all_right, found_n = all_right + right, found_n + found
    plain = [finds for example, finds in rows if not example.personal]
    figures = {
        "texts": len(rows),
        "recall": Share(all_hidden, labels_n).as_json(),
        "precision": Share(all_right, found_n).as_json(),
        "untouched": Share(sum(not finds for finds in plain), len(plain)).as_json(),
        "by_kind": by_kind,
    }
    return figures, misses


def _letters(text: str, span: Found, hidden: Iterable[Found]) -> str:
    """Letters and digits of ``span`` outside of ``hidden``."""
    covered = {at for one in hidden for at in range(one.start, one.end)}
    left = "".join(text[at] for at in range(span.start, span.end) if at not in covered)
    return _LOOSE.sub("", left)


def _touch(one: Found, other: Found) -> bool:
    return one.start < other.end and other.start < one.end


def _miss(what: str, example: Example, span: Found) -> Miss:
    return Miss(what, span.kind, example.text, example.text[span.start : span.end])
