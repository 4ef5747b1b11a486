import io
import json
import re

import pytest
from PIL import Image

from rag.histogram import BINS, Histogram, Picture, png, svg

COUNTED = Histogram.of([[0.9, 0.91], [0.5, -1.0], [1.0]], [[0.0], [0.024], [-1.0], [0.51]])
PICTURE = Picture("Scores & floor", COUNTED, 0.6, "3.0 % refused", "5.0 % answered")
BLUE, ORANGE, INK = (42, 120, 214), (217, 115, 13), (28, 36, 48)


def test_a_question_counts_once_spread_over_its_voices():
    assert COUNTED.answerable[36] == 1.0
    assert COUNTED.answerable[20] == 0.5
    assert COUNTED.answerable[BINS - 1] == 1.0, "a score of 1 is in the last bin"
    assert sum(COUNTED.answerable) == 2.5
    assert COUNTED.unanswerable[0] == 2.0
    assert COUNTED.unanswerable[20] == 1.0
    assert COUNTED.unscored == (0.5, 1.0)


def test_it_survives_a_file():
    assert Histogram.from_json(json.loads(json.dumps(COUNTED.as_json()))) == COUNTED
    short = {**COUNTED.as_json(), "answerable": [1.0]}
    with pytest.raises(ValueError, match="has not 40 bins"):
        Histogram.from_json(short)


def test_the_picture_as_svg():
    drawn = svg(PICTURE)
    assert drawn.count('class="h-answerable"') == 4 + 1, "three bins, the unscored, the legend"
    assert drawn.count('class="h-unanswerable"') == 2 + 1 + 1
    assert "Scores &amp; floor" in drawn
    assert ">floor 0.600</text>" in drawn
    assert ">answerable, 3: 3.0 % refused</text>" in drawn
    assert ">unanswerable, 4: 5.0 % answered</text>" in drawn
    # 148 is 0 on the scale, 872 is 1.
    assert re.search(r'<line x1="582.4" y1="[\d.]+" x2="582.4" y2="452.0" class="hl-floor"', drawn)


def test_answerable_stand_above_the_axis_in_proportion():
    boxes = re.findall(r'<rect x="([\d.]+)" y="([\d.]+)" width="[\d.]+" height="([\d.]+)" '
                       r'class="h-(answerable|unanswerable)"/>', svg(PICTURE))  # fmt: skip
    bars = [(float(x), float(y), float(h), name) for x, y, h, name in boxes if float(y) > 60]
    up = [bar for bar in bars if bar[3] == "answerable"]
    down = [bar for bar in bars if bar[3] == "unanswerable"]
    assert all(abs(y + h - 272) <= 0.11 for _, y, h, _ in up)
    assert all(y == 272 for _, y, _, _ in down)
    heights = {round(x): h for x, _, h, _ in up}
    assert heights[round(148 + 724 * 36 / 40) + 1] == pytest.approx(120.0, abs=0.1)
    assert heights[88] == pytest.approx(60.0, abs=0.1), "a sixth has no score"


@pytest.mark.parametrize(
    ("floor", "sides"),
    [(0.02, ["refused", "answered"]), (0.5, ["refused", "answered"]), (0.99, ["refused"])],
)
def test_labels_stay_within_the_drawing(floor, sides):
    drawn = svg(Picture("t", COUNTED, floor, "a", "b"))
    assert re.findall(r'font-size="12" text-anchor="\w+">(refused|answered)<', drawn) == sides


def test_the_picture_as_png():
    image = Image.open(io.BytesIO(png(PICTURE, scale=1)))
    assert (image.format, image.size) == ("PNG", (900, 520))
    axis = 272
    in_bin = round(148 + 724 * 36.5 / 40)
    assert image.getpixel((in_bin, axis - 20)) == BLUE
    assert image.getpixel((in_bin, axis + 20)) == (255, 255, 255)
    assert image.getpixel((157, axis + 20)) == ORANGE
    assert image.getpixel((582, 400)) == INK
    assert Image.open(io.BytesIO(png(PICTURE))).size == (1800, 1040)


def test_nothing_measured_can_be_drawn():
    empty = Histogram.of([], [])
    assert ">answerable, 0: a</text>" in svg(Picture("t", empty, 0.0, "a", "b"))
