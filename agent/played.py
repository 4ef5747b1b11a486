"""Which words of a reply the caller has heard when it is cut."""

from __future__ import annotations

from dataclasses import dataclass, replace

from frontdesk import Spoken
from rag.sentences import split_sentences
from speech.reading import read_aloud

# A sentence that has less than this left was understood: nothing of it is said again.
_ALL_BUT_MS = 250.0
# For words whose audio is not all there yet: a telephone voice says 15 letters a second.
_MS_A_LETTER = 67.0


_NOTHING = Spoken("")


@dataclass(frozen=True, slots=True)
class Played:
    """A reply up to where it was cut.

    ``whole`` are the sentences that were heard to their end, ``words`` those heard of ``sentence``,
    the one that was cut ('' where nothing was left). ``rest`` is what there is still to say, from
    the beginning of that sentence.
    """

    whole: str = ""
    words: str = ""
    sentence: str = ""
    rest: Spoken = _NOTHING

    @property
    def heard(self) -> str:
        """Everything that was heard, to the word."""
        return _joined(self.whole, self.words)

    @property
    def begun(self) -> str:
        """The sentences of which at least a word was heard."""
        return _joined(self.whole, self.sentence if self.words else "")


def played(
    say: Spoken, position_ms: float, total_ms: float = 0.0, *, complete: bool = True
) -> Played:
    """What of ``say`` is heard in its first ``position_ms``.

    ``total_ms`` is how long its audio lasts, as far as it is there; ``complete`` says that it all
    is. Its sentences, and the words of one, share the time by the letters of what is read aloud:
    where the pauses lie is not known, so a word more or less is within the error.
    """
    parts = split_sentences(say.text)
    letters = [max(1, len(read_aloud(Spoken(part)))) for part in parts]
    if not complete or total_ms <= 0:
        total_ms = max(total_ms, sum(letters) * _MS_A_LETTER)
    end = 0.0
    for at, (part, count) in enumerate(zip(parts, letters, strict=True)):
        begin, end = end, end + total_ms * count / sum(letters)
        if position_ms < end - _ALL_BUT_MS:
            words = part.split()
            share = max(0.0, position_ms - begin) / (end - begin)
            said = " ".join(words[: int(share * len(words))])
            rest = replace(say, text=" ".join(parts[at:]))
            return Played(" ".join(parts[:at]), said, part, rest)
    return Played(whole=" ".join(parts))


def _joined(*parts: str) -> str:
    return " ".join(part for part in parts if part)
