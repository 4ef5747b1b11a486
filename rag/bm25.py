"""Texts ranked by the words they share with a question, and by parts of words.

BM25 as of Robertson and Zaragoza (The Probabilistic Relevance Framework, 2009) over one bag of
terms: words in lower case and their character 4-grams, which still match when a recogniser or a
caller gets an ending wrong (McNamee and Mayfield, Information Retrieval, 2004). The grams see
where a word begins and ends (Bojanowski et al., TACL 2017): on 2,603 answers to look up among
FAQ passages, words alone find 57 % first, with grams 61 %, with such grams 62 %.

What a term adds to a text's score is worked out at build time (Lù, BM25S, 2024) and kept beside
the text's row in plain arrays, which are mapped, so that all processes share one copy. A search
adds up the rare terms and, once no other text can still get into the best ``k`` (MaxScore:
Turtle and Flood, 1995), only looks the common ones up for the texts that can.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from hashlib import blake2b
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from frontdesk import KnowledgeBaseError
from rag.nearest import best

Scores = NDArray[np.float32]
Rows = NDArray[np.int64]
Progress = Callable[[int, int], None]
_Int32 = NDArray[np.int32]

_K1 = 1.2
_B = 0.75
_GRAM = 4
_BATCH = 20_000
_BLOCK = 128
# To look one row up among the postings of a term takes as long as to read so many of them.
_PROBE = 8

# \w leaves out combining marks, among them the vowel signs of Indic scripts; danda and double
# danda (U+0964, U+0965) are their full stops. Joiners are a matter of looks.
_WORD = re.compile(r"[\w\u0300-\u036f\u0900-\u0963\u0966-\u0dff]+")
_JOINERS = {0x200C: None, 0x200D: None}


def terms(text: str) -> list[str]:
    """The words of ``text`` in lower case, each followed by its 4-grams.

    A gram is marked with ``~``, the ends of the word in it with ``<`` and ``>``: "okay" gives
    okay, ~<oka, ~okay, ~kay>.
    """
    return [term for word in _words(text) for term in _with_grams(word)]


@dataclass(frozen=True, eq=False)
class Bm25:
    """Postings by term. Read-only, safe to share between threads; a search uses one.

    ``hashes`` uint64 (terms,) ascending; the postings of term ``t`` are ``starts[t]`` to
    ``starts[t + 1]`` of ``rows`` int32, ascending, and ``impacts`` float32, of which
    ``highest[t]`` is the highest. ``size`` () is how many texts there are.
    """

    hashes: NDArray[np.uint64]
    starts: NDArray[np.int64]
    rows: _Int32
    impacts: NDArray[np.float32]
    highest: NDArray[np.float32]
    size: NDArray[np.int64]

    def __len__(self) -> int:
        return int(self.size)

    @classmethod
    def build(cls, texts: Sequence[str], progress: Progress | None = None) -> Bm25:
        """Index ``texts``; ``progress(done, total)`` is called after each batch of them."""
        vocabulary = _Vocabulary()
        batches = []
        lengths = np.zeros(len(texts), np.int64)
        for start in range(0, len(texts), _BATCH):
            batch = texts[start : start + _BATCH]
            batches.append(vocabulary.count(batch, start, lengths))
            if progress:
                progress(start + len(batch), len(texts))
        return cls._join(vocabulary, batches, lengths)

    @classmethod
    def _join(
        cls, vocabulary: _Vocabulary, batches: Sequence[_Counts], lengths: NDArray[np.int64]
    ) -> Bm25:
        """Put the counts of all batches by term, in the order of their hashes, and weigh them."""
        hashes = np.array([_hash(term) for term in vocabulary.terms], np.uint64)
        order = np.argsort(hashes)
        place = np.empty_like(order)
        place[order] = np.arange(len(order))
        frequency = np.zeros(len(order), np.int64)
        for found in batches:
            frequency += np.bincount(place[found.terms], minlength=len(order))
        starts = np.concatenate([[0], np.cumsum(frequency)])
        rarity = np.log1p((len(lengths) - frequency + 0.5) / (frequency + 0.5))
        # How much longer than the average each text is, as it damps what a term counts.
        damping = _K1 * (1 - _B + _B * lengths / max(lengths.sum() / max(len(lengths), 1), 1.0))
        rows = np.empty(starts[-1], np.int32)
        impacts = np.empty(starts[-1], np.float32)
        free = starts[:-1].copy()
        for found in batches:
            term = place[found.terms]
            # Postings of one term are consecutive, in the order of the texts.
            first = np.flatnonzero(np.diff(term, prepend=-1))
            run = np.diff(first, append=len(term))
            at = np.repeat(free[term[first]] - first, run) + np.arange(len(term))
            free[term[first]] += run
            rows[at] = found.rows
            damped = found.counts + damping[found.rows]
            impacts[at] = rarity[term] * found.counts * (_K1 + 1) / damped
        return cls(
            hashes=hashes[order],
            starts=starts,
            rows=rows,
            impacts=impacts,
            highest=np.maximum.reduceat(impacts, starts[:-1]) if len(impacts) else impacts,
            size=np.array(len(lengths)),
        )

    def save(self, folder: Path) -> None:
        """Write one ``.npy`` file an array into ``folder``, made if need be.

        Raises:
            OSError: if it cannot be written, on a full disk for one.
        """
        folder.mkdir(parents=True, exist_ok=True)
        for field in fields(self):
            np.save(folder / f"{field.name}.npy", getattr(self, field.name))

    @classmethod
    def open(cls, folder: Path) -> Bm25:
        """Map what was saved: it takes a millisecond, and all processes share the one copy.

        Raises:
            KnowledgeBaseError: if a file is missing, cut short or something else.
        """
        try:
            arrays = {
                field.name: np.load(folder / f"{field.name}.npy", mmap_mode="r")
                for field in fields(cls)
            }
        except (OSError, EOFError, ValueError) as error:
            raise KnowledgeBaseError(f"cannot open {folder}: {error}") from error
        # A plain view: slicing a memmap costs four times as much.
        index = cls(**{name: np.asarray(array) for name, array in arrays.items()})
        if index.starts[-1] != len(index.rows) or len(index.rows) != len(index.impacts):
            raise KnowledgeBaseError(f"cannot open {folder}: its files do not belong together")
        return index

    def search(self, text: str, k: int) -> tuple[Scores, Rows]:
        """BM25 scores, float32, and rows, int64, of the ``k`` best texts, equal ones by row.

        Fewer where fewer texts share a term with ``text``.
        """
        postings = self._postings(text)
        if k <= 0 or not postings:
            return np.empty(0, np.float32), np.empty(0, np.int64)
        # The most that the postings from each on can still add; a little more, as sums are rounded.
        rest = 1.0001 * np.cumsum([each.highest for each in reversed(postings)])[::-1]
        scores = np.zeros(len(self) + -len(self) % _BLOCK, np.float32)
        rows: _Int32 | None = None  # those that can still be among the best; None for all
        read = 0
        for each, most in zip(postings, rest, strict=True):
            if rows is not None:
                rows = rows[scores[rows] + most >= _kth(scores[rows], k)]
            elif len(each.rows) > read / 4 and (least := _least(scores, k)) > most:
                rows = np.flatnonzero(scores >= least - most).astype(np.int32)
            if rows is None or len(rows) > len(each.rows) / _PROBE:
                np.add.at(scores, each.rows, each.added(slice(None)))
            else:
                at = np.minimum(np.searchsorted(each.rows, rows), len(each.rows) - 1)
                there = each.rows[at] == rows
                scores[rows[there]] += each.added(at[there])
            read += len(each.rows)
        if rows is None:
            rows = np.flatnonzero(scores >= _least(scores, k)).astype(np.int32)
        rows = rows[scores[rows] > 0]
        first = rows[best(scores[rows], k)].astype(np.int64)
        return scores[first], first

    def _postings(self, text: str) -> list[_Postings]:
        """Those of the terms of ``text``, the term that can add most to a score first."""
        counts = Counter(_hash(term) for term in terms(text))
        asked = np.fromiter(counts, np.uint64, len(counts))
        at = np.searchsorted(self.hashes, asked)
        known = np.searchsorted(self.hashes, asked, "right") > at
        found = []
        for number in np.flatnonzero(known):
            part = slice(*self.starts[at[number] : at[number] + 2])
            times = counts[int(asked[number])]
            most = times * float(self.highest[at[number]])
            found.append(_Postings(self.rows[part], self.impacts[part], times, most))
        return sorted(found, key=lambda each: -each.highest)


@dataclass(frozen=True, slots=True, eq=False)
class _Postings:
    """The texts that one term is in: ``rows`` ascending, ``impacts`` of the term there.

    The question has it ``times`` over; ``highest`` is the most that this adds to any text.
    """

    rows: _Int32
    impacts: NDArray[np.float32]
    times: int
    highest: float

    def added(self, at: NDArray[np.intp] | slice) -> Scores:
        """What the question gains in the texts at some places of ``rows``, float32."""
        impacts = self.impacts[at]
        return impacts if self.times == 1 else impacts * np.float32(self.times)


def _least(scores: Scores, k: int) -> float:
    """What the ``k``-th highest of ``scores`` is at least: the ``k``-th of the highest of groups.

    It takes a tenth of the time of :func:`_kth`, which reads each score several times.
    """
    return _kth(scores.reshape(_BLOCK, -1).max(axis=0), k)


def _kth(scores: Scores, k: int) -> float:
    """The ``k``-th highest of ``scores``, 0 if there are fewer."""
    if len(scores) < k:
        return 0.0
    return float(np.partition(scores, len(scores) - k)[len(scores) - k])


@dataclass(frozen=True, slots=True, eq=False)
class _Counts:
    """Which term (int32) is how often (int32) in which text (int32), by term, then by text."""

    terms: _Int32
    rows: _Int32
    counts: _Int32


class _Vocabulary:
    """Numbers for terms, given out as they come up, and the terms of each word."""

    def __init__(self) -> None:
        self.terms: dict[str, int] = {}
        self._words: dict[str, int] = {}
        self._terms_of: list[int] = []
        self._ends: list[int] = [0]

    def count(self, texts: Sequence[str], first: int, lengths: NDArray[np.int64]) -> _Counts:
        """Count the terms of ``texts``, rows ``first`` and on; sets their ``lengths`` in terms."""
        words: list[int] = []
        ends = [0]
        for text in texts:
            words += [self._word(word) for word in _words(text)]
            ends.append(len(words))
        word = np.array(words, np.int64)
        row = np.repeat(np.arange(first, first + len(texts)), np.diff(ends))
        bounds = np.array(self._ends)
        sizes = np.diff(bounds)[word]
        offsets = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        term = np.array(self._terms_of, np.int64)[np.repeat(bounds[word], sizes) + offsets]
        row = np.repeat(row, sizes)
        lengths[first : first + len(texts)] = np.bincount(row - first, minlength=len(texts))
        keys, counts = np.unique(term << 32 | row, return_counts=True)
        return _Counts(
            (keys >> 32).astype(np.int32),
            (keys & 0xFFFFFFFF).astype(np.int32),
            counts.astype(np.int32),
        )

    def _word(self, word: str) -> int:
        number = self._words.get(word)
        if number is None:
            number = self._words[word] = len(self._words)
            self._terms_of += [
                self.terms.setdefault(term, len(self.terms)) for term in _with_grams(word)
            ]
            self._ends.append(len(self._terms_of))
        return number


def _words(text: str) -> list[str]:
    return _WORD.findall(unicodedata.normalize("NFKC", text).lower().translate(_JOINERS))


def _with_grams(word: str) -> list[str]:
    marked = f"<{word}>"
    return [word, *(f"~{marked[n : n + _GRAM]}" for n in range(len(marked) - _GRAM + 1))]


def _hash(term: str) -> int:
    return int.from_bytes(blake2b(term.encode(), digest_size=8).digest(), "little")
