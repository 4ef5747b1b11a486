import pytest

from rag import Decision, Policy, answer, documents, make_query
from rag.building import build
from rag.emergency import CHANGE, as_emergency
from tests.rag.shop_kb import floors, write_kb

HELP = "In a medical emergency, hang up and call 911."
BABIES = "Babies younger than 3 months are not seen as walk-ins."


@pytest.fixture(scope="module")
def clinic(embedder, tmp_path_factory):
    folder = write_kb(tmp_path_factory.mktemp("kb") / "kb", help=f"# Help\n\n{HELP}\n\n{BABIES}\n")
    return build(documents.load(folder), embedder, {"en": floors(embedder.hash)})


@pytest.mark.parametrize(
    "heard",
    ["my baby is not breathing", "I think he's having a heart attack", "she swallowed poison"],
)
def test_a_caller_in_danger_hears_whom_to_call(clinic, heard):
    verdict = answer(make_query(heard), clinic)
    assert verdict.say.text == HELP
    assert verdict.query.changes == (CHANGE,)


def test_without_such_a_sentence_nothing_else_is_said(index):
    verdict = answer(make_query("my baby is not breathing"), index, Policy(floor=0.0))
    assert verdict.decision is Decision.REFUSED
    assert "emergency" in [check.name for check in verdict.checks if not check.passed]


@pytest.mark.parametrize(
    "asked",
    [
        "do you treat heart murmurs",
        "is the baby clinic open",
        "can i get a breathing test",
        "how much is a stroke of paint",
        "what's your emergency number",
    ],
)
def test_other_questions_are_left_alone(asked):
    query = make_query(asked)
    assert as_emergency(query) is query
