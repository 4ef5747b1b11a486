"""The reader: one question and some sentences, word piece by word piece."""

import numpy as np
import pytest

from rag import documents, make_query
from rag.answerability import look_at, weights_for
from rag.building import build
from rag.reader import MOST_ASKED, MOST_SAID, Words
from tests.rag.shop_kb import write_kb

PAGES = """The pool opens at 6 a.m.

The pool closes at 9 p.m.

A swim costs $4 for a child.

A swim costs $7 for an adult.
"""


@pytest.fixture(scope="module")
def reader(embedder):
    return weights_for(embedder.name, embedder.hash).reader


@pytest.fixture(scope="module")
def pool(embedder, tmp_path_factory):
    return build(documents.load(write_kb(tmp_path_factory.mktemp("p"), p=PAGES)), embedder, {})


def words(*sizes, seed=0):
    """Pieces of random direction."""
    rng = np.random.default_rng(seed)
    vectors = rng.normal(size=(sum(sizes), 384)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    weight = rng.random(sum(sizes)).astype(np.float32)
    return Words(vectors, rng.integers(0, 30, sum(sizes)), weight, np.array(sizes))


def part(some, number):
    """Text ``number`` alone."""
    end = int(some.sizes[: number + 1].sum())
    rows = slice(end - int(some.sizes[number]), end)
    return Words(some.vectors[rows], some.ids[rows], some.weight[rows], some.sizes[[number]])


def read(reader, asked, said):
    return reader(asked, said, asked.vectors @ said.vectors.T)


def test_a_sentence_is_read_alike_alone_and_among_longer_ones(reader):
    asked, said = words(5), words(3, 9, 1, 6, seed=1)
    alone = [read(reader, asked, part(said, number))[0] for number in range(4)]
    assert read(reader, asked, said) == pytest.approx(alone, abs=1e-4)
    assert np.ptp(alone) > 0.01


def test_only_the_start_of_what_is_long_is_read(reader):
    asked, said = words(MOST_ASKED + 9), words(MOST_SAID + 9, seed=1)
    short = Words(
        said.vectors[:MOST_SAID], said.ids[:MOST_SAID], said.weight[:MOST_SAID],
        np.array([MOST_SAID]),
    )  # fmt: skip
    start = Words(
        asked.vectors[:MOST_ASKED], asked.ids[:MOST_ASKED], asked.weight[:MOST_ASKED], asked.sizes
    )
    assert read(reader, asked, said) == pytest.approx(read(reader, start, short), abs=1e-5)


@pytest.mark.parametrize(
    ("question", "right", "wrong"),
    [
        ("how late are you there", 1, 0),
        ("when do you shut", 1, 0),
        ("what would my six year old pay", 2, 3),
        ("how much for a grown up", 3, 2),
        ("price for my little boy", 2, 3),
    ],
)
def test_it_tells_near_neighbours_apart_by_words_they_do_not_share(
    pool, reader, question, right, wrong
):
    query = make_query(question)
    asked = pool.embedder.embed(query.text, query=True)
    view = look_at(query, asked, pool.search(asked.vector, 4), pool)
    order = {int(number): at for at, number in enumerate(view.numbers)}
    found = reader(view.asked, view.said, view.near)
    assert found[order[right]] > found[order[wrong]]
