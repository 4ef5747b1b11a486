"""A flat index of one knowledge base: vectors of passages and sentences, and word by word.

A passage is found by its own vector or by that of its best sentence, whichever is closer. On the
clinic's questions as typed, sentences raised the area under the curve of answerable against
unanswerable from 0.90 to 0.94, and the right passage came first for 91 instead of 88 %.

For the passages found there is a second score, the support of late interaction (Khattab and
Zaharia, ColBERT, SIGIR 2020): for each word asked its nearest word in the passage, weighted by
how rare the word is here. Its area on the same questions is 0.98; it is what tells a hepatitis
shot from a flu shot.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from rag.calibration import Calibration
from rag.documents import KnowledgeBase, split_sentences
from rag.embed import Embedder, Embedding, Vectors
from rag.namesake import namesake
from rag.pieces import stopwords, whole_words
from rag.types import Hit

# A word that a follow-up brought in weighs twice what it took over from the question before.
_FOCUS_WEIGHT = 2.0


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of passage number ``passage``; its word pieces are rows ``start`` to ``end``."""

    passage: int
    text: str
    start: int
    end: int


@dataclass(frozen=True, eq=False)
class Index:
    """Everything an answer is looked up in. Read-only, safe to share between threads.

    ``passage_vectors`` (passages, dim) and ``sentence_vectors`` (sentences, dim) are float32 of
    unit length; ``piece_vectors`` (pieces, dim) the same in float16. ``sentences`` are in passage
    order. ``calibrations`` maps a language to its floors.
    """

    kb: KnowledgeBase
    embedder: Embedder
    passage_vectors: Vectors
    sentence_vectors: Vectors
    piece_vectors: NDArray[np.float16]
    pieces: tuple[str, ...]
    sentences: tuple[Sentence, ...]
    calibrations: Mapping[str, Calibration] = field(default_factory=dict)

    def scores(self, vector: Vectors) -> Vectors:
        """Cosine of each passage to a unit ``vector`` (dim,): its own or its best sentence's."""
        starts = self._bounds[:-1]
        best_sentence = np.maximum.reduceat(self.sentence_vectors @ vector, starts)
        best: Vectors = np.maximum(self.passage_vectors @ vector, best_sentence)
        return best

    def search(self, vector: Vectors, k: int) -> tuple[Hit, ...]:
        """The ``k`` best passages for a unit ``vector`` (dim,), best first."""
        scores = self.scores(vector)
        order = np.argsort(-scores, kind="stable")[:k]
        return tuple(Hit(self.kb.passages[n], float(scores[n])) for n in order)

    def passage_number(self, passage_id: str) -> int:
        """Where a passage is in ``kb.passages``."""
        return self._numbers[passage_id]

    def sentence_numbers(self, passage: int) -> range:
        """Which of ``sentences`` are of passage number ``passage``."""
        return range(self._bounds[passage], self._bounds[passage + 1])

    def namesake(self, asked: Embedding, focus: Collection[str], number: int) -> str:
        """What sentence ``number`` names in place of what was asked for, or ''."""
        rows = slice(self.sentences[number].start, self.sentences[number].end)
        vectors = self.piece_vectors[rows].astype(np.float32)
        return namesake(asked, focus, self.pieces[rows], vectors)

    def support(
        self, asked: Embedding, weights: Vectors, passage: int
    ) -> tuple[float, list[float]]:
        """How far the words asked are found in a passage, and in each of its sentences.

        Each is the mean, over the word pieces of the question, of the cosine to the nearest piece
        there: at most 1, higher is better. ``weights`` are those of :meth:`weights`.
        """
        sentences = [self.sentences[n] for n in self.sentence_numbers(passage)]
        first, last = sentences[0].start, sentences[-1].end
        near = asked.piece_vectors @ self.piece_vectors[first:last].astype(np.float32).T
        # initial: a sentence that the tokenizer makes nothing of supports nothing.
        by_sentence = [
            float(weights @ near[:, s.start - first : s.end - first].max(axis=1, initial=0.0))
            for s in sentences
        ]
        return float(weights @ near.max(axis=1, initial=0.0)), by_sentence

    def weights(self, pieces: Sequence[str], focus: Collection[str]) -> Vectors:
        """The share of each word piece of a question, summing to 1: the rarer here, the larger.

        Words in ``focus``, which a follow-up brought in, count twice. Without a single word of
        substance all count alike.
        """
        rarest = _rarity(0, len(self.kb.passages))
        weights = np.array(
            [0.0 if p in stopwords() else self._rarities.get(p, rarest) for p in pieces],
            np.float32,
        )
        for word in whole_words(pieces):
            if word.text in focus:
                weights[word.start : word.end] *= _FOCUS_WEIGHT
        total = weights.sum()
        if not total:
            return np.full(len(pieces), 1 / max(len(pieces), 1), np.float32)
        shares: Vectors = weights / total
        return shares

    @cached_property
    def _bounds(self) -> NDArray[np.intp]:
        """Where the sentences of each passage start, and one past the last."""
        owners = [s.passage for s in self.sentences]
        return np.searchsorted(owners, np.arange(len(self.kb.passages) + 1))

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {passage.id: n for n, passage in enumerate(self.kb.passages)}

    @cached_property
    def _rarities(self) -> dict[str, float]:
        frequency: Counter[str] = Counter()
        for passage in range(len(self.kb.passages)):
            sentences = [self.sentences[n] for n in self.sentence_numbers(passage)]
            frequency.update(set(self.pieces[sentences[0].start : sentences[-1].end]))
        return {p: _rarity(count, len(self.kb.passages)) for p, count in frequency.items()}


def build(kb: KnowledgeBase, embedder: Embedder, calibrations: Mapping[str, Calibration]) -> Index:
    """Embed every passage and sentence of ``kb``: about 30 ms a passage of three sentences."""
    passage_vectors = np.empty((len(kb.passages), embedder.dim), np.float32)
    sentences: list[Sentence] = []
    pieces: list[str] = []
    piece_vectors: list[Vectors] = []
    for number, passage in enumerate(kb.passages):
        whole = embedder.embed(passage.text)
        passage_vectors[number] = whole.vector
        at = 0
        for text in split_sentences(passage.text):
            at = passage.text.index(text, at)
            part = _part(whole, at, at + len(text))
            at += len(text)
            if not part[0] and whole.spans and whole.spans[-1][1] < at:
                # Beyond the model's window: read on its own.
                alone = embedder.embed(text)
                part = (list(alone.pieces), alone.piece_vectors)
            start = len(pieces)
            pieces += part[0]
            piece_vectors.append(part[1])
            sentences.append(Sentence(number, text, start, len(pieces)))
    return Index(
        kb=kb,
        embedder=embedder,
        passage_vectors=passage_vectors,
        sentence_vectors=embedder.encode([s.text for s in sentences]),
        piece_vectors=np.concatenate(piece_vectors).astype(np.float16),
        pieces=tuple(pieces),
        sentences=tuple(sentences),
        calibrations=dict(calibrations),
    )


def _part(whole: Embedding, start: int, end: int) -> tuple[list[str], Vectors]:
    """The word pieces of ``whole`` within a range of characters."""
    rows = [n for n, (a, b) in enumerate(whole.spans) if a >= start and b <= end]
    return [whole.pieces[n] for n in rows], whole.piece_vectors[rows]


def _rarity(count: int, passages: int) -> float:
    """BM25's inverse document frequency (Robertson and Zaragoza, 2009)."""
    return math.log(1 + (passages - count + 0.5) / (count + 0.5))
