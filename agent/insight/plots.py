"""Small plots as SVG, drawn without a script; every bar says what it is."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

_HIGH = 100
_GAP = 0.2  # of a bar's place


def bars(names: Sequence[str], lower: Sequence[int], upper: Sequence[int]) -> str:
    """A bar each: ``lower`` and, on it, ``upper``."""
    most = max(1, *(a + b for a, b in zip(lower, upper, strict=True)))
    drawn = []
    for at, (name, low, high) in enumerate(zip(names, lower, upper, strict=True)):
        title = f"{name}: {low} answered, {high} refused"
        drawn.append(_bar(at, 0, low / most, "one", title))
        drawn.append(_bar(at, low / most, high / most, "two", title))
    return _svg(len(names), drawn, "questions answered and refused")


def levels(names: Sequence[str], values_ms: Sequence[float | None]) -> str:
    """A bar each; none where there is no value."""
    most = max((value for value in values_ms if value is not None), default=1) or 1
    drawn = [
        _bar(at, 0, value / most, "one", f"{name}: {value:.0f} ms")
        for at, (name, value) in enumerate(zip(names, values_ms, strict=True))
        if value is not None
    ]
    return _svg(len(names), drawn, "milliseconds to the reply")


def _bar(at: int, base: float, high: float, kind: str, title: str) -> str:
    if high <= 0:
        return ""
    y = _HIGH * (1 - base - high)
    return (
        f'<rect class="{kind}" x="{at + _GAP / 2:.2f}" y="{y:.2f}" width="{1 - _GAP}" '
        f'height="{_HIGH * high:.2f}"><title>{escape(title)}</title></rect>'
    )


def _svg(places: int, drawn: Sequence[str], label: str) -> str:
    return (
        f'<svg viewBox="0 0 {max(7, places)} {_HIGH}" preserveAspectRatio="none" role="img" '
        f'aria-label="{escape(label)}">{"".join(drawn)}<line class="axis" x1="0" y1="{_HIGH}" '
        f'x2="{max(7, places)}" y2="{_HIGH}" vector-effect="non-scaling-stroke"/></svg>'
    )
