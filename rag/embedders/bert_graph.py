"""The encoder of BERT as an ONNX graph over weights of four or eight bits.

onnxruntime's ``MatMulNBits`` multiplies them in 8-bit integers (``accuracy_level`` 4), each block
of weights and of activations under a scale of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rag.embed import Vectors
from rag.embedders.onnx_writer import Graph

_MICROSOFT = "com.microsoft"
_LEVELS = 127
_BLOCK = 64


@dataclass(frozen=True, slots=True, eq=False)
class Norm:
    """Layer normalisation: ``gain`` and ``bias`` are (width,)."""

    gain: Vectors
    bias: Vectors


@dataclass(frozen=True, slots=True, eq=False)
class Matrix:
    """A matrix of ``bits`` (4 or 8) a weight, and its ``bias`` (outputs,).

    ``numbers`` (outputs, blocks, bytes of a block) are counted from the middle, 8 or 128, and
    ``scales`` (outputs, blocks) are what one step is worth.
    """

    bits: int
    numbers: NDArray[np.uint8]
    scales: Vectors
    bias: Vectors

    @property
    def block(self) -> int:
        """How many weights are under one scale."""
        return int(self.numbers.shape[2]) * 8 // self.bits


@dataclass(frozen=True, slots=True, eq=False)
class Layer:
    """Attention (``qkv`` are query, key and value side by side) and feed-forward."""

    qkv: Matrix
    out: Matrix
    out_norm: Norm
    up: Matrix
    down: Matrix
    down_norm: Norm


def eight_bits(weight: Vectors, bias: Vectors) -> Matrix:
    """A matrix (inputs, outputs) rounded to eight bits, 64 weights under a scale."""
    blocks = np.ascontiguousarray(weight.T).reshape(weight.shape[1], -1, _BLOCK)
    scales = np.maximum(np.abs(blocks).max(axis=2), 1e-9) / _LEVELS
    numbers = np.round(blocks / scales[..., None]) + _LEVELS + 1
    return Matrix(8, numbers.astype(np.uint8), scales.astype(np.float32), bias)


def encoder(first: Norm, layers: Sequence[Layer], *, heads: int, epsilon: float) -> bytes:
    """A model from ``embedded`` (1, tokens, width) to the last layer's states, the same shape."""
    graph = Graph()
    _normalise(graph, first, "embedded", "state0", epsilon)
    for n, layer in enumerate(layers):
        _add(graph, layer, f"l{n}.", (f"state{n}", f"state{n + 1}"), heads, epsilon)
    tokens = (1, "tokens", len(first.gain))
    return graph.model(("embedded", tokens), (f"state{len(layers)}", tokens))


def _add(
    graph: Graph, layer: Layer, at: str, ends: tuple[str, str], heads: int, epsilon: float
) -> None:
    """Attention and feed-forward, each added to its input and normalised."""
    state, result = ends
    parts = [f"{at}{part}" for part in "qkv"]
    _multiply(graph, layer.qkv, state, f"{at}qkv")
    sizes = graph.weight(f"{at}sizes", np.full(3, len(layer.qkv.bias) // 3, np.int64))
    graph.node("Split", [f"{at}qkv", sizes], parts, axis=2)
    graph.node("MultiHeadAttention", parts, [f"{at}seen"], _MICROSOFT, num_heads=heads)
    _multiply(graph, layer.out, f"{at}seen", f"{at}out")
    graph.node("Add", [state, f"{at}out"], [f"{at}sum"])
    _normalise(graph, layer.out_norm, f"{at}sum", f"{at}middle", epsilon)
    _multiply(graph, layer.up, f"{at}middle", f"{at}up")
    graph.node("Gelu", [f"{at}up"], [f"{at}gelu"], _MICROSOFT)
    _multiply(graph, layer.down, f"{at}gelu", f"{at}down")
    graph.node("Add", [f"{at}middle", f"{at}down"], [f"{result}.sum"])
    _normalise(graph, layer.down_norm, f"{result}.sum", result, epsilon)


def _normalise(graph: Graph, norm: Norm, source: str, result: str, epsilon: float) -> None:
    gain, bias = graph.weight(f"{result}.w", norm.gain), graph.weight(f"{result}.b", norm.bias)
    graph.node("LayerNormalization", [source, gain, bias], [result], epsilon=epsilon)


def _multiply(graph: Graph, matrix: Matrix, source: str, result: str) -> None:
    """``source`` times the matrix, plus its bias."""
    outputs, blocks, _ = matrix.numbers.shape
    numbers = graph.weight(f"{result}.numbers", matrix.numbers)
    scales = graph.weight(f"{result}.scales", matrix.scales)
    bias = graph.weight(f"{result}.bias", matrix.bias)
    graph.node(
        "MatMulNBits",
        [source, numbers, scales, "", "", bias],
        [result],
        _MICROSOFT,
        K=blocks * matrix.block,
        N=outputs,
        bits=matrix.bits,
        block_size=matrix.block,
        accuracy_level=4,
    )
