"""Measured floors of a knowledge base: what they are, where they came from, how sure they are."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from frontdesk import KnowledgeBaseError

FLOORS_FILE = "floors.json"
_SAMPLE_KB = Path(__file__).resolve().parent.parent / "kb" / "clinic"
_Z95 = 1.959964


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
    """The floors for one language, and the measurement they rest on.

    ``floor`` is on the cosine of the best passage, ``support_floor`` on the words of the question
    found in it. On the questions that set them, ``over_refusal`` is the share of right answers to
    well-heard questions that they refuse, ``wrongly_answered`` the share of unanswerable questions
    that they and the checks let through, ``auc`` and ``support_auc`` the areas under the curve of
    answerable against unanswerable. The ``n`` of a rate counts questions, not clips, because clips
    of one question are not independent. ``is_default`` marks floors
    measured on another knowledge base.
    """

    floor: float
    support_floor: float
    alpha: float
    method: str
    set: str
    set_sha256: str
    embedder: str
    n_answerable: int
    n_unanswerable: int
    over_refusal: Rate
    wrongly_answered: Rate
    auc: float
    support_auc: float
    is_default: bool = False

    def as_json(self) -> dict[str, Any]:
        """As plain values, for a file."""
        return asdict(self)

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Calibration:
        """From what :meth:`as_json` gave.

        Raises:
            KeyError, TypeError, ValueError: if it is not that.
        """
        rates = {k: Rate(**values[k]) for k in ("over_refusal", "wrongly_answered")}
        return cls(**{**values, **rates})

    def __post_init__(self) -> None:
        """Refuse floors that would let everything through, or fail at every question.

        Raises:
            ValueError: if a floor is not a number from 0 to 1.
        """
        for name in ("floor", "support_floor"):
            value = getattr(self, name)
            if not isinstance(value, int | float) or not 0 <= value <= 1:
                raise ValueError(f"{name} is {value!r}, not a number from 0 to 1")


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
    """The floors of a knowledge base; for want of them the sample clinic's, marked as default.

    Raises:
        KnowledgeBaseError: if a file of floors is there and does not hold any.
    """
    own, sample = folder / FLOORS_FILE, _SAMPLE_KB / FLOORS_FILE
    if own.exists():
        return read(own)
    if sample.exists():
        return {k: replace(c, is_default=True) for k, c in read(sample).items()}
    return {}


def dump(calibrations: Mapping[str, Calibration]) -> str:
    """The text of a floors file."""
    table = {language: c.as_json() for language, c in calibrations.items()}
    return json.dumps(table, indent=2) + "\n"
