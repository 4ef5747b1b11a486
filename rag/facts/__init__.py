"""Facts of sentences as tuples, and whether they answer what was asked.

``read`` at build time, ``slots`` once a question, ``fits`` for what would be spoken, and
``stands`` where other sentences were found beside it.
"""

from rag.facts.asking import slots
from rag.facts.contrasts import Contrasts
from rag.facts.fitting import fits
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
    "slots",
    "stands",
]
