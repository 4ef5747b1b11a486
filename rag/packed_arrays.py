"""Arrays in JSON: the weights that come with the product."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

import numpy as np

from rag.embed import Vectors


def packed(values: Vectors) -> dict[str, Any]:
    """An array as JSON: eight bits a number, one scale.

    Raises:
        ValueError: if a value is infinite or no number.
    """
    if not np.isfinite(values).all():
        raise ValueError("an array with values that are no numbers")
    scale = float(np.abs(values).max(initial=0.0)) / 127 or 1.0
    whole = np.round(values / scale).astype(np.int8)
    data = base64.b64encode(whole.tobytes()).decode()
    return {"shape": list(values.shape), "scale": scale, "int8": data}


def unpacked(part: Mapping[str, Any]) -> Vectors:
    """The array that :func:`packed` gave, float32."""
    whole = np.frombuffer(base64.b64decode(part["int8"]), np.int8).reshape(part["shape"])
    return whole.astype(np.float32) * np.float32(part["scale"])
