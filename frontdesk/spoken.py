"""Text that may be spoken: the only type a voice accepts."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from frontdesk.errors import SpeechError

# Square brackets, and the wide ones in which some language models cite.
_CITATION = re.compile(r"[\[【［][^\]】］\n]*[\]】］]")


class CitationInSpeechError(SpeechError):
    """Text on its way to a voice still carries a bracketed citation."""

    retryable = False


@dataclass(frozen=True, slots=True)
class Spoken:
    """Words for a voice, proven free of bracketed ids when made.

    ``slow`` words take longer, with pauses that let a caller write them down.

    Raises:
        CitationInSpeechError: if ``text`` holds anything in square brackets.
    """

    text: str
    slow: bool = False

    def __post_init__(self) -> None:
        """Refuse a citation here, so that no later stage has to."""
        found = _CITATION.search(self.text)
        if found:
            raise CitationInSpeechError(f"refusing to speak {found.group()!r}")

    @classmethod
    def strip(cls, draft: str) -> Spoken:
        """Drop every bracketed citation of ``draft`` and fold the white space left behind."""
        text = _CITATION.sub("", draft)
        text = re.sub(r"\s+([.,;:!?])", r"\1", text)
        return cls(" ".join(text.split()))

    def slowly(self) -> Spoken:
        """The same words, to be said slowly."""
        return replace(self, slow=True)

    def __bool__(self) -> bool:
        """Whether there is anything to say."""
        return bool(self.text)
