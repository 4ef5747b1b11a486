"""A second look at the best passages: question and passage read together by a cross-encoder.

Any ONNX cross-encoder will do, from a folder with ``model.onnx`` and ``tokenizer.json``, as
sentence-transformers and Optimum write them. There is no reranker unless one is configured.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frontdesk import ModelFileError
from rag.embed import Vectors
from rag.embedders.session import one_thread

_MODEL, _TOKENIZER = "model.onnx", "tokenizer.json"
_MAX_TOKENS = 512
_BATCH = 32
_PADDING = ("[PAD]", "<pad>")
_INPUTS = {"input_ids", "attention_mask", "token_type_ids"}


class CrossEncoder:
    """The model of a folder, as a ``rag.types.Reranker``: one thread, safe to share.

    Of a pair longer than ``max_tokens`` the longer of the two is cut at its end. The score is
    the model's logit, or that of class 1 less that of class 0 where there are two.

    Raises:
        ModelFileError: if a file is missing or cannot be used.
    """

    def __init__(self, folder: Path | str, *, max_tokens: int = _MAX_TOKENS) -> None:
        model, tokenizer = (_file(Path(folder), name) for name in (_MODEL, _TOKENIZER))
        self.hash = _hash(model, tokenizer, max_tokens)
        self._session = _opened(model)
        self._tokenizer = _tokenizer(tokenizer, max_tokens)
        self._inputs = {source.name for source in self._session.get_inputs()}
        if "input_ids" not in self._inputs or not self._inputs <= _INPUTS:
            raise ModelFileError(
                f"{model} takes {', '.join(sorted(self._inputs))}; a cross-encoder takes input_ids "
                "and perhaps attention_mask and token_type_ids: export it for text classification"
            )

    def score(self, question: str, texts: Sequence[str]) -> Vectors:
        """One score a text, float32 (n,).

        Raises:
            ModelFileError: if the model gives neither one number a pair nor two.
        """
        parts = [
            self._scores(question, texts[start : start + _BATCH])
            for start in range(0, len(texts), _BATCH)
        ]
        return np.concatenate(parts) if parts else np.empty(0, np.float32)

    def _scores(self, question: str, texts: Sequence[str]) -> Vectors:
        pairs = self._tokenizer.encode_batch([(question, text) for text in texts])
        columns: dict[str, NDArray[np.int64]] = {
            "input_ids": np.array([pair.ids for pair in pairs], np.int64),
            "attention_mask": np.array([pair.attention_mask for pair in pairs], np.int64),
            "token_type_ids": np.array([pair.type_ids for pair in pairs], np.int64),
        }
        inputs = {name: columns[name] for name in self._inputs}
        logits = np.asarray(self._session.run(None, inputs)[0], np.float32)
        if logits.size == len(texts):
            return logits.reshape(-1)
        if logits.shape == (len(texts), 2):
            margin: Vectors = logits[:, 1] - logits[:, 0]
            return margin
        raise ModelFileError(
            f"the reranker gives numbers of shape {logits.shape} for {len(texts)} pairs; it must "
            "give one or two a pair: export it for text classification"
        )


def _file(folder: Path, name: str) -> Path:
    path = folder / name
    if not path.is_file():
        raise ModelFileError(
            f"reranker file {path} is missing; put an ONNX cross-encoder's {_MODEL} and "
            f"{_TOKENIZER} there or leave the reranker out of the settings"
        )
    return path


def _hash(model: Path, tokenizer: Path, max_tokens: int) -> str:
    found = hashlib.sha256(str(max_tokens).encode())
    for path in (model, tokenizer):
        with path.open("rb") as file:
            found.update(hashlib.file_digest(file, "sha256").digest())
    return found.hexdigest()


def _opened(model: Path) -> Any:
    from onnxruntime.capi import onnxruntime_pybind11_state as state

    # They share no class below Exception.
    broken = (state.Fail, state.InvalidArgument, state.InvalidGraph, state.InvalidProtobuf)
    try:
        return one_thread(model)
    except (*broken, state.NotImplemented, state.RuntimeException) as problem:
        raise ModelFileError(
            f"reranker file {model} cannot be loaded ({str(problem).splitlines()[0][:200]}); "
            "put a complete ONNX file there"
        ) from problem


def _tokenizer(path: Path, max_tokens: int) -> Any:
    """The tokenizer of a file, with padding and truncation of our own."""
    from tokenizers import Tokenizer

    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as problem:  # the library raises Exception itself
        raise ModelFileError(
            f"reranker file {path} is not a tokenizer of the tokenizers library ({problem}); "
            "put the model's own tokenizer.json there"
        ) from problem
    token = next((name for name in _PADDING if tokenizer.token_to_id(name) is not None), None)
    if token is None:
        raise ModelFileError(f"reranker file {path} has no padding token ({', '.join(_PADDING)})")
    tokenizer.enable_padding(pad_id=tokenizer.token_to_id(token), pad_token=token)
    tokenizer.enable_truncation(max_tokens)
    return tokenizer
