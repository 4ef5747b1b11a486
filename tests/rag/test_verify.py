import pytest

from rag import verify
from rag.verify import checks

KB = {"kb-hours": "Open at 9 a.m. to 7:30 p.m. on 12 days.", "kb-fees": "A visit costs $40."}


@pytest.mark.parametrize(
    ("answer", "source", "retrieved", "ok", "reason"),
    [
        ("We open at 9 a.m.", "kb-hours", ["kb-hours"], True, ""),
        ("We close at 7:30.", "kb-hours", ["kb-fees", "kb-hours"], True, ""),
        ("We open. [kb-hours#99]", "kb-hours", ["kb-hours"], True, ""),
        ("", "kb-hours", ["kb-hours"], False, "empty answer"),
        ("  ", "kb-hours", ["kb-hours"], False, "empty answer"),
        ("[kb-hours]", "kb-hours", ["kb-hours"], False, "empty answer"),
        ("We open at 9.", "none", ["kb-hours"], False, "no source"),
        ("We open at 9.", "kb-hours", ["kb-fees"], False, "source kb-hours was not retrieved"),
        ("We open at 8.", "kb-hours", ["kb-hours"], False, "number 8 is not in kb-hours"),
        ("We close at 7.", "kb-hours", ["kb-hours"], False, "number 7 is not in kb-hours"),
        ("We close at 30.", "kb-hours", ["kb-hours"], False, "number 30 is not in kb-hours"),
        ("It costs 40.", "kb-fees#1", ["kb-fees#1"], True, ""),
        ("Hi.", "kb-x", ["kb-x"], False, "source kb-x is not in the knowledge base"),
    ],
)
def test_verify(answer, source, retrieved, ok, reason):
    assert verify(answer, source, retrieved, KB) == (ok, reason)


def test_checks_name_each_step():
    outcome = checks("open on sunday", "On Saturday we open at 9.", "kb-a#1", ["kb-b#1"], "At 8.")
    assert {c.name: (c.passed, c.detail) for c in outcome} == {
        "citation_retrieved": (False, "kb-a#1 was not retrieved"),
        "numbers_in_passage": (False, "9 not in kb-a#1"),
        "asked_day": (False, "asked about sunday, the sentence is about saturday"),
        "asked_kind": (True, ""),
        "not_opposite": (True, ""),
    }
