import numpy as np
import pytest

from rag import documents
from rag.answer import best_answer
from rag.building import build
from rag.entry import Recipe
from rag.questions import TYPED, Question, asked
from rag.retrieval_eval import LEGS, Rankings, evaluate_retrieval
from rag.types import Decision, Query
from tests.rag.shop_kb import write_kb
from tests.rag.table_embedder import TableEmbedder

PARKING, BIKES, KIOSK = "Parking is free.", "Bikes are sold here.", "The kiosk sells umbrellas."
TABLE = {
    PARKING: (1.0, 0.0),
    BIKES: (0.8, 0.6),
    KIOSK: (0.1, 0.0, 1.0),
    "can I park": (1.0, 0.0),
    "can i park": (0.8, 0.6),
    "umbrellas at the kiosk": (0.9, 0.4),
}


@pytest.fixture(scope="module", params=[False, True], ids=["own words", "words made here"])
def index(request, tmp_path_factory):
    folder = write_kb(tmp_path_factory.mktemp("kb"), a="\n\n".join([PARKING, BIKES, KIOSK]))
    recipe = Recipe(expand=False, sparse=request.param)
    return build(documents.load(folder), TableEmbedder(TABLE), {}, recipe)


def question(number, text, *relevant, kind=""):
    decision = Decision.ANSWERED if relevant else Decision.REFUSED
    return Question(f"q{number}", text, "", None, relevant, decision, (), kind, {})


ROWS = [
    question(1, "can I park", "kb-a#1", kind="core"),
    question(2, "umbrellas at the kiosk", "kb-a#3", kind="core"),
    question(3, "who is the president"),
]


def test_each_leg_ranks_in_its_own_order(index):
    rankings = Rankings.of(index)
    found = rankings.ids(Query("-", "umbrellas at the kiosk"))
    assert found["dense"] == ["kb-a#2", "kb-a#1", "kb-a#3"]
    assert found["words"][0] == "kb-a#3"
    # Ranks 3 and 1 make more than ranks 1 and none, or 2 and none.
    assert found["hybrid"][0] == "kb-a#3"
    # That of the sentence which would be said comes first, the others by theirs.
    best = best_answer(Query("-", "umbrellas at the kiosk"), index)
    assert found["quoted"] == [hit.passage.id for hit in best.hits]
    assert found["quoted"][0] == best.candidate.hit.passage.id


def test_figures_of_raw_and_rewritten_questions(index):
    seen = []
    found = evaluate_retrieval(
        index, asked(ROWS, [TYPED]), progress=lambda done, total: seen.append((done, total))
    )
    assert set(found["raw"]) == set(found["rewritten"]) == set(LEGS)
    # In lower case the first question means bikes rather than parking.
    assert found["raw"]["dense"]["recall_at_1"] == 0.5
    assert found["rewritten"]["dense"]["recall_at_1"] == 0.0
    assert found["raw"]["dense"]["mrr"] == pytest.approx(np.mean([1, 1 / 3]), abs=1e-4)
    assert found["raw"]["hybrid"]["n"] == 2
    assert found["core"]["typed"]["n"] == 2
    assert found["core"]["typed"]["raw"]["dense"] == 1
    assert found["core"]["typed"]["rewritten"]["dense"] == 0
    assert found["core"]["typed"]["raw"]["words"] == 2  # "park" is a part of "parking"
    assert seen[-1][0] == seen[-1][1] == 6


def test_without_questions(index):
    found = evaluate_retrieval(index, [])
    assert found["raw"]["dense"]["n"] == 0
    assert found["core"]["heard"]["n"] == 0
