"""What comes of a grounding check."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Grounding:
    """Whether a text stands in its evidence, and the values that were compared.

    Of several sentences, the one that stands worst. ``overlap`` is the share of its content words
    (weighted by rarity) that the evidence has, 0 to 1; ``similarity`` the cosine to the closest
    sentence of the evidence, None where nothing was embedded. ``doubt`` is 0 to 1 and compared
    with ``limit``. ``decided_by`` is "quoted", "rules", "words" or "embedding"; ``reason`` says
    what is wrong, empty where nothing is; ``features`` are what the doubt was made of.
    """

    ok: bool
    overlap: float
    similarity: float | None
    doubt: float
    limit: float
    decided_by: str
    reason: str = ""
    sentence: str = ""
    features: Mapping[str, float] = field(default_factory=dict, repr=False)

    @property
    def detail(self) -> str:
        """The values compared, and the reason."""
        close = "" if self.similarity is None else f", similarity {self.similarity:.2f}"
        values = f"overlap {self.overlap:.2f}{close}, doubt {self.doubt:.2f} of {self.limit:.2f}"
        return f"{values}: {self.reason}" if self.reason else values
