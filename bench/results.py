"""Result files: every figure the README quotes is written here by a command."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bench.process import machine

RESULTS = Path(__file__).parent / "results"


def percentiles(values_ms: Sequence[float]) -> dict[str, float | None]:
    """p50, p70, p90, p95 and p100 in ms, each an observed value."""
    names = (50, 70, 90, 95, 100)
    if not values_ms:
        return {f"p{p}_ms": None for p in names}
    found = np.percentile(np.asarray(values_ms), names, method="lower")
    return {f"p{p}_ms": round(float(v), 1) for p, v in zip(names, found, strict=True)}


def write_result(name: str, figures: Mapping[str, Any], folder: Path = RESULTS) -> Path:
    """Write ``figures`` with machine, date and commit; return the file."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.json"
    path.write_text(json.dumps({"machine": machine(), **figures}, indent=2) + "\n", "utf-8")
    return path
