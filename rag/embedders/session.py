"""An onnxruntime session on one thread, and unit vectors: what the local models share."""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path
from typing import Any

import numpy as np

from rag.embed import Vectors


def one_thread(model: Path | bytes) -> Any:
    """An ``onnxruntime.InferenceSession`` for a model file or its bytes.

    Loading unpacks and rearranges the weights; what that leaves behind is given back to the
    system. MiniLM holds 115 instead of 173 MB after it, multilingual-e5-small 110 instead of 120;
    without onnxruntime's prepacking MiniLM held 172 and took half as long again.
    """
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    source = model if isinstance(model, bytes) else str(model)
    session = onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"])
    _give_back_memory()
    return session


def unit(vectors: Vectors) -> Vectors:
    """Rows (or one vector) at length 1, float32."""
    scaled: Vectors = vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)
    return scaled.astype(np.float32)


def _give_back_memory() -> None:
    """glibc keeps freed memory for itself until told; other C libraries have no such call."""
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)
