"""The answerability score: its features, its weights, and what it tells apart."""

import dataclasses
import json

import numpy as np
import pytest

from rag import Policy, documents, make_query
from rag.answer import best_answer
from rag.answerability import (
    DATA,
    FEATURES,
    View,
    combine,
    default_floor,
    look_at,
    score,
    stem,
    weights_for,
)
from rag.building import build
from rag.packed_arrays import packed, unpacked
from rag.reader import Words
from tests.rag.shop_kb import write_kb

INN = """Check-in starts at 3 p.m.

Check-out is until 11 a.m.

Breakfast is served from 7 to 10 a.m. and costs $12.

Parking costs $20 a night.

Pets are welcome for a fee of $15.
"""


@pytest.fixture(scope="module")
def inn(embedder, tmp_path_factory):
    folder = write_kb(tmp_path_factory.mktemp("inn"), inn=INN)
    return build(documents.load(folder), embedder, {})


@pytest.fixture(scope="module")
def weights(embedder):
    return weights_for(embedder.name, embedder.hash)


def scores(index, text, leave_out=()):
    """The best sentences' texts with their scores, best first."""
    query = make_query(text)
    asked = index.embedder.embed(query.text, query=True)
    found = score(query, asked, index.search(asked.vector, 10, leave_out), index)
    order = np.argsort(-found.values)
    return [(index.sentences[int(found.numbers[n])].text, float(found.values[n])) for n in order]


def features(index, text):
    """By sentence, the features by name."""
    query = make_query(text)
    asked = index.embedder.embed(query.text, query=True)
    view = look_at(query, asked, index.search(asked.vector, 10), index)
    return {
        index.sentences[int(number)].text: dict(zip(FEATURES, row.tolist(), strict=True))
        for number, row in zip(view.numbers, view.values, strict=True)
    }


@pytest.mark.parametrize(
    ("question", "answer", "passage"),
    [
        ("when can I check in", "Check-in starts at 3 p.m.", "kb-inn#1"),
        ("what time is check out", "Check-out is until 11 a.m.", "kb-inn#2"),
        ("how much is the parking", "Parking costs $20 a night.", "kb-inn#4"),
    ],
)
def test_the_answer_comes_first_and_is_missed_where_it_is_left_out(inn, question, answer, passage):
    (first, _), *_ = scores(inn, question)
    assert first == answer
    query = make_query(question)
    best = best_answer(query, inn).score
    without = best_answer(query, inn, Policy(leave_out=frozenset({passage}))).score
    assert without < default_floor(inn.embedder, "en") < best < 1


def test_other_words_for_the_same_thing_come_first_all_the_same(inn):
    (first, best), *_ = scores(inn, "can I bring my dog")
    assert first == "Pets are welcome for a fee of $15."
    (_, without), *_ = scores(inn, "can I bring my dog", {"kb-inn#5"})
    assert without < best


def test_the_features_say_why(inn):
    by_text = features(inn, "when is check in")
    right, wrong = by_text["Check-in starts at 3 p.m."], by_text["Check-out is until 11 a.m."]
    assert (right["opposite"], wrong["opposite"]) == (0.0, 1.0)
    assert right["support_sentence"] > wrong["support_sentence"]
    assert right["kind_fits"] == wrong["kind_fits"] == 1.0
    parking = by_text["Parking costs $20 a night."]
    assert (parking["kind_fits"], parking["kind_missing"]) == (0.0, 1.0)
    assert parking["not_asked"] > right["not_asked"]
    assert right["question_cosine"] == right["made_cosine"] == 0.0


def test_support_is_higher_for_words_that_are_there(index):
    helmet, skateboard = (
        features(index, f"how much is a {thing}")["A helmet for an adult costs $60."]
        for thing in ("helmet", "skateboard")
    )
    for name in ("support_sentence", "support_passage"):
        assert helmet[name] > skateboard[name] + 0.1


def test_a_question_set_beside_the_answer_counts(embedder, tmp_path):
    (tmp_path / "faq.csv").write_text("question,answer\nDo you take dogs?,They stay for $15.\n")
    index = build(documents.load(tmp_path), embedder, {})
    row = features(index, "are dogs allowed")["They stay for $15."]
    assert row["question_cosine"] > 0.6
    assert row["same_words"] == 0.5
    (_, best), *_ = scores(index, "are dogs allowed")
    assert 0 < best < 1


def words(weights, *sizes):
    """Some made-up word pieces for the reader."""
    rng = np.random.default_rng(len(sizes))
    vectors = rng.normal(size=(sum(sizes), len(weights.reader.project))).astype(np.float32)
    ids = np.arange(sum(sizes))
    return Words(vectors, ids, np.full(sum(sizes), 0.25, np.float32), np.array(sizes))


def test_the_model_is_the_sum_that_it_says(weights):
    asked, said = words(weights, 4), words(weights, 2, 1, 3)
    view = View(
        numbers=np.array([4, 5, 9]),
        hits=np.array([0, 0, 1]),
        has_question=np.array([False, False, True]),
        plain=np.array([2.0, 1.5, 1.9]),
        values=np.eye(3, len(FEATURES)),
        asked=asked,
        said=said,
        near=asked.vectors @ said.vectors.T,
    )
    rows = [0, 0, 1]
    linear = weights.bias[rows] + weights.weights[rows, [0, 1, 2]]
    linear += weights.read[rows] * weights.reader(asked, said, view.near)
    linear += weights.behind[rows] * np.array([0.0, -0.5, -0.1])
    assert combine(view, weights) == pytest.approx(1 / (1 + np.exp(-linear)))


def test_only_the_order_is_by_plain_closeness(weights):
    empty = np.zeros((1, len(FEATURES)))
    one = np.array([0])
    said = words(weights, 1)
    near = said.vectors @ said.vectors.T
    first = View(one, one, np.array([False]), np.array([0.1]), empty, said, said, near)
    closer = View(one, one, np.array([False]), np.array([2.1]), empty, said, said, near)
    assert combine(first, weights) == combine(closer, weights)
    assert weights.behind[0] > 0


def test_an_array_is_kept_in_eight_bits():
    values = np.array([[0.5, -1.27], [0.0, 0.01]], np.float32)
    back = unpacked(json.loads(json.dumps(packed(values))))
    assert back == pytest.approx(values, abs=0.005)
    assert unpacked(packed(np.zeros(3, np.float32))) == pytest.approx(np.zeros(3))


def test_the_weights_say_where_they_are_from_and_are_small(embedder, weights):
    path = DATA / f"answerability-{embedder.name}.json"
    table = json.loads(path.read_text("utf-8"))
    assert table["embedder"] == {"name": embedder.name, "hash": embedder.hash}
    assert table["date"]
    assert all(one["questions"] > 500 for one in table["data"])
    assert path.stat().st_size < 200_000
    assert weights.floors == table["floors"]
    assert 0.05 < weights.floors["en"] < 0.95
    against = [FEATURES.index(name) for name in ("opposite", "kind_missing", "not_asked")]
    assert (weights.weights[:, against] <= 0).all()
    assert (weights.weights[:, : FEATURES.index("not_asked")] >= 0).all()


def test_another_embedder_has_no_weights(inn):
    assert weights_for("minilm", "0" * 64) is None
    assert weights_for("none", "0" * 64) is None

    class Other:
        name, hash = "none", "0" * 64

        def embed(self, text, *, query=False):
            return inn.embedder.embed(text, query=query)

    other = dataclasses.replace(inn, embedder=Other())
    (first, best), *_ = scores(other, "when can I check in")
    asked = inn.embedder.embed("when can i check in", query=True)
    view = look_at(make_query("when can I check in"), asked, inn.search(asked.vector, 10), inn)
    assert first == "Check-in starts at 3 p.m."
    assert best == pytest.approx(view.plain.max() / 3)
    assert default_floor(other.embedder, "en") is None


@pytest.mark.parametrize(
    ("one", "other"),
    [("parking", "park"), ("cancellation", "cancel"), ("fees", "fee"), ("allowed", "allows")],
)
def test_endings_do_not_count(one, other):
    assert stem(one) == stem(other)


def test_short_words_stay(inn):
    assert [stem(word) for word in ("bus", "gas", "does", "is")] == ["bus", "gas", "doe", "is"]


def test_no_passages_and_no_words_are_scored_without_an_error(inn):
    query = make_query("when can I check in")
    asked = inn.embedder.embed(query.text, query=True)
    assert len(score(query, asked, (), inn).values) == 0
    nothing = inn.embedder.embed("", query=True)
    hits = inn.search(asked.vector, 3)
    found = score(dataclasses.replace(query, text=""), nothing, hits, inn)
    assert np.isfinite(found.values).all()


def test_of_a_page_without_paragraphs_the_closest_sentences_are_read(embedder, tmp_path):
    many = " ".join(f"Locker {number} is on the left." for number in range(200))
    folder = write_kb(tmp_path, hall=f"{many} The sauna is heated from 5 p.m. on. {many}\n")
    index = build(documents.load(folder), embedder, {})
    found = scores(index, "from when is the sauna heated")
    assert found[0][0] == "The sauna is heated from 5 p.m. on."
    assert len(found) == 32
