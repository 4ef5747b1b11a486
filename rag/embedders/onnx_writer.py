"""The few messages of an ONNX file, written as bytes: enough to hand weights to onnxruntime.

The ``onnx`` package does this and far more; it is needed at run time for nothing else, so a test
has it read back what is written here. Field numbers are those of
https://github.com/onnx/onnx/blob/main/onnx/onnx.proto, the encoding that of Protocol Buffers.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

_ELEMENT = {np.dtype(np.float32): 1, np.dtype(np.uint8): 2, np.dtype(np.int64): 7}
_FLOAT = 1
_IR_VERSION = 8
_OPSET = 17


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _float(field: int, value: float) -> bytes:
    return _varint(field << 3 | 5) + struct.pack("<f", value)


def _message(field: int, body: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(body)) + body


def _text(field: int, value: str) -> bytes:
    return _message(field, value.encode("utf-8"))


def _attribute(name: str, value: float) -> bytes:
    if isinstance(value, int):
        return _text(1, name) + _number(3, value) + _number(20, 2)
    return _text(1, name) + _float(2, value) + _number(20, 1)


def _tensor(name: str, values: NDArray[np.generic]) -> bytes:
    dims = b"".join(_number(1, size) for size in values.shape)
    kind = _number(2, _ELEMENT[values.dtype])
    return dims + kind + _text(8, name) + _message(9, values.tobytes())


def _value(name: str, shape: Sequence[int | str]) -> bytes:
    dims = b"".join(
        _message(1, _number(1, size) if isinstance(size, int) else _text(2, size)) for size in shape
    )
    return _text(1, name) + _message(2, _message(1, _number(1, _FLOAT) + _message(2, dims)))


class Graph:
    """A graph in the making: nodes in the order that they run in."""

    def __init__(self) -> None:
        self._nodes: list[bytes] = []
        self._weights: list[bytes] = []

    def weight(self, name: str, values: NDArray[np.generic]) -> str:
        """Add a constant (float32, uint8 or int64) and return its name."""
        self._weights.append(_tensor(name, values))
        return name

    def node(
        self,
        kind: str,
        inputs: Sequence[str],
        outputs: Sequence[str],
        domain: str = "",
        **attributes: float,
    ) -> None:
        """Add an operator; an input that is left out is ''."""
        body = b"".join(_text(1, name) for name in inputs)
        body += b"".join(_text(2, name) for name in outputs) + _text(4, kind)
        body += b"".join(_message(5, _attribute(k, v)) for k, v in attributes.items())
        self._nodes.append(body + (_text(7, domain) if domain else b""))

    def model(
        self, source: tuple[str, Sequence[int | str]], result: tuple[str, Sequence[int | str]]
    ) -> bytes:
        """The file: one float ``source`` and one float ``result``, each a name and a shape."""
        graph = b"".join(_message(1, node) for node in self._nodes) + _text(2, "graph")
        graph += b"".join(_message(5, weight) for weight in self._weights)
        graph += _message(11, _value(*source)) + _message(12, _value(*result))
        opsets = _message(8, _text(1, "") + _number(2, _OPSET))
        opsets += _message(8, _text(1, "com.microsoft") + _number(2, 1))
        return _number(1, _IR_VERSION) + opsets + _message(7, graph)
