"""Measured floors of a knowledge base: what they are, where they came from, how sure they are."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from frontdesk import KnowledgeBaseError
from rag.histogram import Histogram

FLOORS_FILE = "floors.json"
SAMPLE_KB = Path(__file__).resolve().parent.parent / "kb" / "clinic"
_Z95 = 1.959964
_RATES = ("over_refusal", "wrongly_answered")


@dataclass(frozen=True, slots=True)
class Rate:
    """A share of ``n`` with its 95 % interval (Wilson, JASA 22, 1927)."""

    rate: float
    n: int
    low: float
    high: float

    @classmethod
    def of(cls, count: float, n: int) -> Rate:
        """The rate ``count / n``; all of 0 to 1 when ``n`` is 0."""
        if n == 0:
            return cls(0.0, 0, 0.0, 1.0)
        p, z2 = count / n, _Z95 * _Z95
        middle = (p + z2 / (2 * n)) / (1 + z2 / n)
        half = _Z95 / (1 + z2 / n) * math.sqrt(p * (1 - p) / n + z2 / (4 * n * n))
        return cls(
            round(p, 4), n, round(max(0.0, middle - half), 4), round(min(1.0, middle + half), 4)
        )


@dataclass(frozen=True, slots=True)
class Calibration:
    """The floor for one language, and the measurement it rests on.

    ``floor`` is on the answerability score, 0 to 1. With ``confidence``, the rate of unanswerable
    questions that it lets through is at most ``bound``, and so at most ``alpha``. ``over_refusal``
    is the share of answerable questions refused and ``wrongly_answered`` that of unanswerable ones
    answered, no question judged by a floor that it set; ``kinds`` are the same
    rates by kind of question. The ``n`` of a rate counts questions, not clips, because clips of
    one question are not independent. ``auc`` is the area under the curve of answerable against
    unanswerable, ``separable`` whether ``over_refusal`` stays within what a business can bear.
    ``embedder`` and ``scorer`` say what gave the scores.
    """

    floor: float
    alpha: float
    confidence: float
    bound: float
    method: str
    set: str
    set_sha256: str
    embedder: str
    scorer: str
    n_answerable: int
    n_unanswerable: int
    over_refusal: Rate
    wrongly_answered: Rate
    auc: float
    separable: bool
    histogram: Histogram
    kinds: Mapping[str, Mapping[str, Rate]] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """As plain values, for a file."""
        return {**asdict(self), "histogram": self.histogram.as_json()}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Calibration:
        """From what :meth:`as_json` gave.

        Raises:
            KeyError, TypeError, ValueError: if it is not that.
        """
        if "support_floor" in values:
            raise ValueError("they are two floors on other scores, of an earlier version")
        rates: dict[str, Any] = {name: Rate(**values[name]) for name in _RATES}
        kinds = {
            name: {kind: Rate(**rate) for kind, rate in by_kind.items()}
            for name, by_kind in values["kinds"].items()
        }
        histogram = Histogram.from_json(values["histogram"])
        return cls(**{**values, **rates, "kinds": kinds, "histogram": histogram})

    def __post_init__(self) -> None:
        """Refuse a floor that would let everything through, or fail at every question.

        Raises:
            ValueError: if the floor is not a number from 0 to 1.
        """
        value = self.floor
        if not isinstance(value, int | float) or not 0 <= value <= 1:
            raise ValueError(f"floor is {value!r}, not a number from 0 to 1")


def read(path: Path) -> dict[str, Calibration]:
    """The floors in ``path`` by language.

    Raises:
        KnowledgeBaseError: if the file does not hold floors.
    """
    try:
        table = json.loads(path.read_text("utf-8"))
        return {language: Calibration.from_json(values) for language, values in table.items()}
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise KnowledgeBaseError(
            f"{path} does not hold floors ({error}); run: frontdesk kb calibrate"
        ) from error


def for_folder(folder: Path) -> dict[str, Calibration]:
    """The measured floors of a knowledge base by language; none where nobody measured any.

    Raises:
        KnowledgeBaseError: if a file of floors is there and does not hold any.
    """
    path = folder / FLOORS_FILE
    return read(path) if path.exists() else {}


def dump(calibrations: Mapping[str, Calibration]) -> str:
    """The text of a floors file."""
    table = {language: c.as_json() for language, c in calibrations.items()}
    return json.dumps(table, indent=2) + "\n"
