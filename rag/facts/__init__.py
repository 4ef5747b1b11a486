"""Facts of sentences as tuples, and whether they answer what was asked.

``read`` at build time, ``slots`` once a question, ``fits`` for what would be spoken, and
``stands`` where other sentences were found beside it.
"""

import hashlib
from functools import cache
from pathlib import Path

from rag.facts.asking import slots
from rag.facts.contrasts import Contrasts
from rag.facts.fitting import fits, same_slots
from rag.facts.reading import read
from rag.facts.rivals import rarity_of, stands
from rag.facts.types import Fact, Fit, Qualifiers, Slots, Value

__all__ = [
    "Contrasts",
    "Fact",
    "Fit",
    "Qualifiers",
    "Slots",
    "Value",
    "fits",
    "rarity_of",
    "read",
    "rules",
    "same_slots",
    "slots",
    "stands",
]


@cache
def rules() -> str:
    """A hash of the rules by which facts are read: what other rules read is not kept."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]
