"""Whether a sentence that would be spoken stands in the passages that it cites.

``grounded`` says so with the values compared; ``as_check`` and ``draft_check`` put it as a check.
"""

from rag.grounding.check import as_check, draft_check
from rag.grounding.judge import grounded
from rag.grounding.types import Grounding

__all__ = ["Grounding", "as_check", "draft_check", "grounded"]
