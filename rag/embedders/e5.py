"""multilingual-e5-small in 4 bits, on onnxruntime: 100 languages, one space.

Questions start with "query: " and passages with "passage: ", mean pooling, unit length, as in
the model's card (https://huggingface.co/intfloat/multilingual-e5-small). Cosines crowd together:
relevant ones about 0.83 to 0.87, others 0.71 to 0.80.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Sequence

from frontdesk import models
from rag.embed import Embedding, Progress, Vectors, encode_each
from rag.embedders import packed
from rag.embedders.e5_graph import encoder
from rag.embedders.session import one_thread, unit
from rag.embedders.unigram import SPACE, Token, Unigram

_QUERY, _PASSAGE = "query: ", "passage: "


class E5:
    """multilingual-e5-small on one thread; safe to share between threads.

    Raises:
        ModelFileError: if the model file is missing or altered.
    """

    name = "e5"

    def __init__(self) -> None:
        model = packed.read(models.verified("e5-small"))
        names = f"{models.manifest()['e5-small'].sha256} {_QUERY}|{_PASSAGE} mean"
        self.hash = hashlib.sha256(names.encode()).hexdigest()
        self.dim = model.shape.width
        self.max_tokens = model.shape.positions
        self._words = model.blocks("emb.word", self.dim)
        # Every token is of the first of the two segment types.
        positions = model.weights("emb.pos").reshape(-1, self.dim)
        self._positions = positions + model.weights("emb.type")[: self.dim]
        self._tokenizer = Unigram(model.vocabulary)
        self._first, self._last = model.vocabulary.first, model.vocabulary.last
        self._prefixes = {
            is_query: [self._first, *(t.id for t in self._tokenizer.tokens(prefix))]
            for is_query, prefix in ((True, _QUERY), (False, _PASSAGE))
        }
        self._session = one_thread(encoder(model))

    def encode(
        self, texts: Sequence[str], *, query: bool = False, progress: Progress | None = None
    ) -> Vectors:
        """One unit vector a text: float32, shape ``(len(texts), 384)``. One text at a time."""
        return encode_each(self, texts, query=query, progress=progress)

    def embed(self, text: str, *, query: bool = False) -> Embedding:
        """One text with its word pieces, cut after about 506 of them.

        The prefix is read with the text, and is in its vector but not among its pieces.
        """
        prefix = self._prefixes[query]
        tokens = self._tokenizer.tokens(text)[: self.max_tokens - len(prefix) - 1]
        states = self._states([*prefix, *(token.id for token in tokens), self._last])
        own = states[len(prefix) : -1]
        kept = [n for n, token in enumerate(tokens) if token.text != SPACE]
        return Embedding(
            vector=unit(states.mean(axis=0)),
            pieces=bert_pieces(tokens),
            piece_vectors=unit(own[kept]),
            spans=tuple((tokens[n].start, tokens[n].end) for n in kept),
        )

    def embed_all(self, texts: Sequence[str]) -> list[Embedding]:
        """Each of some passages with its word pieces, one run of the model a text."""
        return [self.embed(text) for text in texts]

    def token_spans(self, text: str) -> list[tuple[int, int]]:
        """Character ranges of the tokens over the whole text, however long.

        A space that is a token of its own has an empty range.
        """
        return [(token.start, token.end) for token in self._tokenizer.tokens(text)]

    def _states(self, ids: list[int]) -> Vectors:
        """The last layer's state of each token: (tokens, dim)."""
        embedded = packed.dequantize(self._words[ids]) + self._positions[: len(ids)]
        states: Vectors = self._session.run(None, {"embedded": embedded[None]})[0][0]
        return states


def bert_pieces(tokens: Sequence[Token]) -> tuple[str, ...]:
    """The tokens in BERT's form: lower case, ``##`` before what continues a word.

    As there, a punctuation mark is a word of its own. A token that is only a space is left out.
    """
    pieces = []
    starts_word = True
    for token in tokens:
        starts_word = starts_word or token.text.startswith(SPACE)
        text = token.text.removeprefix(SPACE).lower()
        if not text:
            starts_word = True
            continue
        starts_word = starts_word or _is_mark(text[0])
        pieces.append(text if starts_word else "##" + text)
        starts_word = _is_mark(text[-1])
    return tuple(pieces)


def _is_mark(character: str) -> bool:
    return unicodedata.category(character)[0] in "PS"
