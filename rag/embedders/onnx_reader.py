"""The weights in an ONNX file, mapped and not copied: the counterpart of ``onnx_writer``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from frontdesk import ModelFileError

_ELEMENT = {1: np.float32, 2: np.uint8, 3: np.int8, 6: np.int32, 7: np.int64, 9: np.bool_}
_MODEL_GRAPH, _GRAPH_WEIGHT = 7, 5
_DIMS, _KIND, _NAME, _RAW = 1, 2, 8, 9


def weights(path: Path) -> dict[str, NDArray[np.generic]]:
    """The constants of the model at ``path`` by name, in the order of the file.

    Only those whose values stand in the file as plain bytes, as every large one does.

    Raises:
        ModelFileError: if it is no ONNX file.
    """
    try:
        data = np.memmap(path, np.uint8, "r")
        found: dict[str, NDArray[np.generic]] = {}
        for field, graph in _fields(data):
            if field == _MODEL_GRAPH and isinstance(graph, np.ndarray):
                for part, tensor in _fields(graph):
                    if part == _GRAPH_WEIGHT and isinstance(tensor, np.ndarray):
                        found |= _tensor(tensor)
    except (IndexError, ValueError) as error:
        raise ModelFileError(f"{path} is not an ONNX file ({error})") from error
    return found


def _tensor(message: NDArray[np.uint8]) -> dict[str, NDArray[np.generic]]:
    shape: list[int] = []
    name, kind, raw = "", 0, None
    for field, value in _fields(message):
        if isinstance(value, int):
            if field == _DIMS:
                shape.append(value)
            elif field == _KIND:
                kind = value
        elif field == _DIMS:  # all in one
            shape += _varints(value)
        elif field == _NAME:
            name = value.tobytes().decode()
        elif field == _RAW:
            raw = value
    if raw is None or kind not in _ELEMENT:
        return {}
    # Views of the file; numpy reads one that is not aligned all the same.
    return {name: np.frombuffer(raw, _ELEMENT[kind]).reshape(shape)}


def _fields(message: NDArray[np.uint8]) -> Iterator[tuple[int, NDArray[np.uint8] | int]]:
    """The fields of a Protocol Buffers message: numbers, and the bytes of the rest."""
    at = 0
    while at < len(message):
        key, at = _varint(message, at)
        wire = key & 7
        if wire == 0:
            value, at = _varint(message, at)
            yield key >> 3, value
            continue
        if wire == 2:
            size, at = _varint(message, at)
        elif wire in (1, 5):
            size = 8 if wire == 1 else 4
        else:
            raise ValueError(f"unknown wire type {wire}")
        if at + size > len(message):
            raise ValueError("cut off")
        yield key >> 3, message[at : at + size]
        at += size


def _varint(message: NDArray[np.uint8], at: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        byte = int(message[at])
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
    raise ValueError("a number of more than ten bytes")


def _varints(message: NDArray[np.uint8]) -> list[int]:
    found, at = [], 0
    while at < len(message):
        value, at = _varint(message, at)
        found.append(value)
    return found
