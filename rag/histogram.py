"""The scores of answerable and unanswerable questions, counted and drawn with the floor.

Answerable questions stand above the axis, unanswerable ones below it, so that the four parts the
floor cuts them into can be told apart without a colour. Questions of which no sentence passed the
checks have no score; they stand apart at the left, under "failed": every floor refuses them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from html import escape
from io import BytesIO
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from PIL.ImageDraw import ImageDraw
    from PIL.ImageFont import FreeTypeFont

BINS = 40


@dataclass(frozen=True, slots=True)
class Histogram:
    """How many questions of each group score in each of ``BINS`` equal parts of 0 to 1.

    A question heard in several voices is spread over their scores. ``unscored`` are those, of the
    answerable and of the unanswerable, of which no sentence passed the checks.
    """

    answerable: tuple[float, ...]
    unanswerable: tuple[float, ...]
    unscored: tuple[float, float]

    @classmethod
    def of(
        cls, answerable: Iterable[Sequence[float]], unanswerable: Iterable[Sequence[float]]
    ) -> Histogram:
        """Count questions, each given as the scores of its voices; below 0 is no score."""
        (first, first_not), (second, second_not) = _count(answerable), _count(unanswerable)
        return cls(first, second, (first_not, second_not))

    def as_json(self) -> dict[str, Any]:
        """As plain values."""
        return {name: list(values) for name, values in asdict(self).items()}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Histogram:
        """From what :meth:`as_json` gave.

        Raises:
            KeyError, TypeError, ValueError: if it is not that.
        """
        answerable, unanswerable = tuple(values["answerable"]), tuple(values["unanswerable"])
        if len(answerable) != BINS or len(unanswerable) != BINS:
            raise ValueError(f"a histogram that has not {BINS} bins")
        first, second = values["unscored"]
        return cls(answerable, unanswerable, (first, second))


def _count(questions: Iterable[Sequence[float]]) -> tuple[tuple[float, ...], float]:
    bins, unscored = [0.0] * BINS, 0.0
    for scores in questions:
        for score in scores:
            if score < 0:
                unscored += 1 / len(scores)
            else:
                bins[min(int(score * BINS), BINS - 1)] += 1 / len(scores)
    return tuple(round(value, 3) for value in bins), round(unscored, 3)


@dataclass(frozen=True, slots=True)
class Picture:
    """What is drawn: the counts, the ``floor``, and how the groups fare at it.

    ``over_refusal`` and ``wrongly_answered`` are the labels of the two kinds of error.
    """

    title: str
    histogram: Histogram
    floor: float
    over_refusal: str
    wrongly_answered: str


# The drawing, in pixels. The unscored have a column of their own, left of the scale.
_WIDTH, _HEIGHT = 900, 520
_LEFT, _RIGHT, _TOP, _BOTTOM = 76, 872, 92, 452
_MIDDLE = (_TOP + _BOTTOM) / 2
_COLUMN, _ZERO = 34, 148
_COLOURS = {
    "ground": "#ffffff",
    "ink": "#1c2430",
    "faint": "#5b6675",
    "line": "#dfe3e8",
    "answerable": "#2a78d6",
    "unanswerable": "#d9730d",
    "floor": "#1c2430",
}
_AXIS = "answerability score (at least the floor: answered)"


@dataclass(frozen=True, slots=True)
class _Box:
    """A filled part, in a colour of ``_COLOURS``."""

    x: float
    y: float
    width: float
    height: float
    colour: str


@dataclass(frozen=True, slots=True)
class _Line:
    x1: float
    y1: float
    x2: float
    y2: float
    colour: str
    width: float = 1.0


@dataclass(frozen=True, slots=True)
class _Text:
    """``anchor`` is where ``x`` is in the text: start, middle or end; ``y`` its baseline."""

    x: float
    y: float
    text: str
    colour: str = "ink"
    size: int = 13
    anchor: str = "start"
    upright: bool = True


def svg(picture: Picture) -> str:
    """The picture as an ``<svg>`` element, its colours classes that a page may set anew."""
    rules = "".join(
        f".h-{name}{{fill:var(--h-{name},{colour})}}.hl-{name}{{stroke:var(--h-{name},{colour})}}"
        for name, colour in _COLOURS.items()
    )
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" '
        f'aria-label="{escape(_spoken(picture))}" font-family="system-ui,sans-serif">'
        f"<style>{rules}</style>"
    ]
    for shape in _shapes(picture):
        if isinstance(shape, _Box):
            parts.append(
                f'<rect x="{shape.x:.1f}" y="{shape.y:.1f}" width="{shape.width:.1f}" '
                f'height="{shape.height:.1f}" class="h-{shape.colour}"/>'
            )
        elif isinstance(shape, _Line):
            parts.append(
                f'<line x1="{shape.x1:.1f}" y1="{shape.y1:.1f}" x2="{shape.x2:.1f}" '
                f'y2="{shape.y2:.1f}" class="hl-{shape.colour}" stroke-width="{shape.width}"/>'
            )
        else:
            turned = (
                "" if shape.upright else f' transform="rotate(-90 {shape.x:.1f} {shape.y:.1f})"'
            )
            parts.append(
                f'<text x="{shape.x:.1f}" y="{shape.y:.1f}" class="h-{shape.colour}" '
                f'font-size="{shape.size}" text-anchor="{shape.anchor}"{turned}>'
                f"{escape(shape.text)}</text>"
            )
    return "".join([*parts, "</svg>"])


def png(picture: Picture, *, scale: int = 2) -> bytes:
    """The picture as a PNG of ``scale`` times 900 by 520 pixels."""
    from PIL import Image, ImageDraw

    image = Image.new("RGB", (_WIDTH * scale, _HEIGHT * scale), _COLOURS["ground"])
    draw = ImageDraw.Draw(image)
    for shape in _shapes(picture):
        if isinstance(shape, _Box):
            left, top = round(shape.x * scale), round(shape.y * scale)
            right = round((shape.x + shape.width) * scale) - 1
            bottom = round((shape.y + shape.height) * scale) - 1
            if right >= left and bottom >= top:
                draw.rectangle((left, top, right, bottom), fill=_COLOURS[shape.colour])
        elif isinstance(shape, _Line):
            ends = tuple(v * scale for v in (shape.x1, shape.y1, shape.x2, shape.y2))
            draw.line(ends, _COLOURS[shape.colour], max(1, round(shape.width * scale)))
        elif shape.upright:
            _write(draw, shape, scale)
        else:
            _paste_turned(image, shape, scale)
    data = BytesIO()
    image.save(data, "PNG", optimize=True)
    return data.getvalue()


_ANCHORS = {"start": "ls", "middle": "ms", "end": "rs"}


def _font(size: float) -> FreeTypeFont:
    """Pillow's own typeface, so that the picture is the same on every machine."""
    from PIL import ImageFont

    found = ImageFont.load_default(size)
    assert isinstance(found, ImageFont.FreeTypeFont)
    return found


def _write(draw: ImageDraw, text: _Text, scale: int) -> None:
    draw.text(
        (text.x * scale, text.y * scale),
        text.text,
        _COLOURS[text.colour],
        _font(text.size * scale),
        _ANCHORS[text.anchor],
    )


def _paste_turned(image: Any, text: _Text, scale: int) -> None:
    """Text that reads upward, its middle at ``x``, ``y``."""
    from PIL import Image, ImageDraw

    font = _font(text.size * scale)
    width, height = round(font.getlength(text.text)) + 4, round(text.size * scale * 1.6)
    strip = Image.new("RGB", (width, height), _COLOURS["ground"])
    ImageDraw.Draw(strip).text((2, height * 0.7), text.text, _COLOURS[text.colour], font, "ls")
    turned = strip.rotate(90, expand=True)
    image.paste(turned, (round(text.x * scale - height * 0.7), round(text.y * scale - width / 2)))


def _spoken(picture: Picture) -> str:
    return (
        f"{picture.title}. Floor {picture.floor:.3f}: {picture.over_refusal}; "
        f"{picture.wrongly_answered}."
    )


def _shapes(picture: Picture) -> list[_Box | _Line | _Text]:
    floor = _at(picture.floor)
    return [
        *_scale(picture.histogram),
        *_bars(picture.histogram),
        _Line(_LEFT, _MIDDLE, _RIGHT, _MIDDLE, "ink"),
        _Line(floor, _TOP - 8, floor, _BOTTOM, "floor", 2),
        *_labels(picture, floor),
    ]


def _at(score: float) -> float:
    """Where a score stands on the horizontal axis."""
    return _ZERO + score * (_RIGHT - _ZERO)


def _shares(histogram: Histogram) -> list[tuple[str, list[float], float]]:
    """Of each group: its share of questions in each bin, and of the unscored."""
    result = []
    groups = (histogram.answerable, histogram.unanswerable)
    names = ("answerable", "unanswerable")
    for name, bins, unscored in zip(names, groups, histogram.unscored, strict=True):
        total = (sum(bins) + unscored) or 1.0
        result.append((name, [value / total for value in bins], unscored / total))
    return result


def _highest(histogram: Histogram) -> float:
    """The share that the height of the drawing stands for: a tick above the tallest bar."""
    tallest = max(max([*bins, unscored]) for _, bins, unscored in _shares(histogram))
    step = _step(tallest)
    return max(math.ceil(tallest / step - 1e-9), 1) * step


def _step(tallest: float) -> float:
    """Two to five ticks up to ``tallest``."""
    return next((step for step in (0.02, 0.05, 0.1) if tallest <= 5 * step), 0.2)


def _bars(histogram: Histogram) -> list[_Box]:
    height = (_BOTTOM - _TOP) / 2
    highest = _highest(histogram)
    width = (_RIGHT - _ZERO) / BINS
    boxes = []
    for name, bins, unscored in _shares(histogram):
        columns = [(_at(n / BINS) + 1, width - 2, share) for n, share in enumerate(bins)]
        for x, wide, share in [(_LEFT + 12, _COLUMN, unscored), *columns]:
            tall = share / highest * height
            top = _MIDDLE - tall if name == "answerable" else _MIDDLE
            if tall:
                boxes.append(_Box(x, top, wide, tall, name))
    return boxes


def _scale(histogram: Histogram) -> list[_Line | _Text]:
    """Grid lines with their shares, and the scores along the bottom."""
    shapes: list[_Line | _Text] = []
    highest = _highest(histogram)
    step = _step(highest)
    for n in range(-round(highest / step), round(highest / step) + 1):
        y = _MIDDLE - n * step / highest * (_BOTTOM - _TOP) / 2
        shapes.append(_Line(_LEFT, y, _RIGHT, y, "line"))
        label = f"{abs(n) * step:.0%}"
        shapes.append(_Text(_LEFT - 8, y + 4, label, "faint", 12, "end"))
    for tenth in range(0, 11, 2):
        x = _at(tenth / 10)
        shapes.append(_Line(x, _BOTTOM, x, _BOTTOM + 5, "faint"))
        shapes.append(_Text(x, _BOTTOM + 20, f"{tenth / 10:.1f}", "faint", 12, "middle"))
    column = _LEFT + 12 + _COLUMN / 2
    shapes.append(_Text(column, _BOTTOM + 20, "failed", "faint", 12, "middle"))
    shapes.append(_Text((_ZERO + _RIGHT) / 2, _BOTTOM + 46, _AXIS, "faint", 13, "middle"))
    shapes.append(_Text(24, _MIDDLE, "share of questions", "faint", 13, "middle", upright=False))
    return shapes


_WORD = 62
"""Room for "answered", and for half of "floor 0.000" with a gap."""


def _sides(floor: float, anchor: str) -> list[_Text]:
    """What becomes of a question on either side of the floor, where there is room to say it."""
    left, right = {"start": (8, 108), "middle": (_WORD, _WORD), "end": (108, 8)}[anchor]
    sides = []
    if floor - left - _WORD > _LEFT:
        sides.append(_Text(floor - left, _TOP - 13, "refused", "faint", 12, "end"))
    if floor + right + _WORD < _WIDTH:
        sides.append(_Text(floor + right, _TOP - 13, "answered", "faint", 12))
    return sides


def _labels(picture: Picture, floor: float) -> list[_Box | _Text]:
    histogram = picture.histogram
    counts = [
        round(sum(bins) + unscored)
        for bins, unscored in zip(
            (histogram.answerable, histogram.unanswerable), histogram.unscored, strict=True
        )
    ]
    # The value keeps clear of the edges of the drawing.
    anchor = "start" if picture.floor < 0.1 else "end" if picture.floor > 0.9 else "middle"
    return [
        _Text(_LEFT, 30, picture.title, size=18),
        _Box(_LEFT, 45, 12, 12, "answerable"),
        _Text(_LEFT + 18, 56, f"answerable, {counts[0]}: {picture.over_refusal}"),
        _Box(_LEFT + 400, 45, 12, 12, "unanswerable"),
        _Text(_LEFT + 418, 56, f"unanswerable, {counts[1]}: {picture.wrongly_answered}"),
        _Text(floor, _TOP - 13, f"floor {picture.floor:.3f}", "floor", 14, anchor),
        *_sides(floor, anchor),
    ]
