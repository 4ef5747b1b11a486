import numpy as np
import pytest

from frontdesk import KnowledgeBaseError
from rag import Decision, Policy, calibrate, questions
from rag.answer import answer
from rag.binomial import upper
from rag.calibration import Rate
from rag.floor import (
    Measured,
    auc,
    choose,
    choose_by_language,
    folds_of,
    lowest_floor,
    measure,
    scorer_of,
    shortage,
)
from rag.overlap import costs, overlapping
from rag.query import make_query
from rag.questions import Asked, Question
from tests.rag.table_embedder import TableEmbedder


def asked(text, decision=Decision.ANSWERED, *, kind="", voice="text", heard=None, language="en",
          relevant=()):  # fmt: skip
    question = Question(text, text, "", None, relevant, decision, (), kind, {})
    return Asked(question, voice, make_query(heard or text, language=language))


def answerable(*scores, **about):
    return [Measured(asked(f"known {n}", **about), s, True, "said") for n, s in enumerate(scores)]


def unanswerable(*scores, **about):
    return [
        Measured(asked(f"unknown {n}", Decision.REFUSED, **about), s, False, "said")
        for n, s in enumerate(scores)
    ]


SPREAD = [n / 100 for n in range(50)]


def chosen(measured, **about):
    return choose(measured, embedder="e", set_name="the set", **about)


def test_the_floor_lets_through_as_many_as_the_bound_allows():
    found = chosen([*answerable(0.6, 0.7), *unanswerable(*SPREAD)])
    # Of 50, one may be answered; the second highest scores 0.48.
    assert found.floor == pytest.approx(0.48, abs=2e-6)
    assert found.floor > 0.48
    assert found.bound == round(upper(1, 50, 0.95), 4) == 0.0914
    assert (found.alpha, found.confidence, found.separable) == (0.1, 0.95, True)
    assert (found.n_answerable, found.n_unanswerable) == (2, 50)
    assert found.over_refusal == Rate.of(0, 2)
    assert found.auc == 1.0
    strict = chosen([*answerable(0.6), *unanswerable(*SPREAD)], alpha=0.06)
    assert strict.floor == pytest.approx(0.49, abs=2e-6)
    assert strict.bound == round(upper(0, 50, 0.95), 4)
    loose = chosen([*answerable(0.6), *unanswerable(*SPREAD)], confidence=0.5)
    assert loose.floor == pytest.approx(0.45, abs=2e-6)


def test_equal_scores_show_no_more_than_what_is_allowed():
    # Of 50, one may be answered; the highest two are equal, so that none is.
    found = chosen([*answerable(0.6), *unanswerable(*SPREAD[:-2], 0.49, 0.49)])
    assert found.floor == pytest.approx(0.49, abs=2e-6)
    assert found.bound == round(upper(1, 50, 0.95), 4)
    # Where the others fail the checks, no floor is needed, and what is seen counts.
    found = chosen([*answerable(0.6), *unanswerable(0.4, *[-1.0] * 98)], alpha=0.2)
    assert (found.floor, found.bound) == (0.0, round(upper(1, 99, 0.95), 4))


def test_a_question_that_scores_1_may_be_the_one_that_is_let_through():
    # Of 46 one may be answered, of 45 none: without one of the others there would be no floor.
    found = chosen([*answerable(0.6), *unanswerable(1.0, *SPREAD[:45])])
    assert found.floor == pytest.approx(0.44, abs=2e-6)
    assert found.wrongly_answered == Rate.of(1, 46)


def test_no_question_is_judged_by_a_floor_that_it_set():
    found = chosen([*answerable(0.6), *unanswerable(*SPREAD)])
    # Each of the two highest is above the floor of the other 49, which the third highest sets.
    assert found.wrongly_answered == Rate.of(2, 50)


@pytest.mark.parametrize("alpha", [0.05, 0.1, 0.3])
def test_the_guarantee_holds(alpha):
    """The rate at the floor exceeds alpha in at most one of twenty samples of any distribution."""
    rng = np.random.default_rng(7)
    broken = 0
    for _ in range(2000):
        floor = lowest_floor(rng.random(80).tolist(), alpha, 0.95)
        broken += 1 - floor > alpha
    # Three standard deviations above a twentieth.
    assert broken / 2000 < 0.05 + 3 * (0.05 * 0.95 / 2000) ** 0.5
    assert broken > 0


def test_the_highest_voice_stands_for_an_unanswerable_question():
    one = unanswerable(*[0.1] * 40)
    again = unanswerable(*[0.8] * 2, voice="other")
    found = chosen([*answerable(0.9), *one, *again])
    assert found.n_unanswerable == 40
    assert found.floor == pytest.approx(0.8, abs=2e-6)
    assert found.histogram.unanswerable[32] == 2


def test_an_answerable_question_counts_by_the_share_of_its_voices():
    known = [*answerable(0.9, 0.9), *answerable(0.2, 0.9, voice="other")]
    deaf = Measured(asked("known 0", voice="deaf", heard="nothing alike"), 0.0, False)
    found = chosen([*known, deaf, *unanswerable(*[0.5] * 40)])
    assert found.over_refusal == Rate.of(0.5, 2)
    assert found.histogram.answerable[8] == 0.5


def test_what_fails_a_check_is_refused_at_every_floor():
    found = chosen([*answerable(0.6, -1.0), *unanswerable(*[-1.0] * 40)])
    assert found.floor == 0.0
    assert found.over_refusal == Rate.of(1, 2)
    assert found.wrongly_answered == Rate.of(0, 40)
    assert found.histogram.unscored == (1.0, 40.0)


def test_rates_by_kind():
    measured = [
        *answerable(0.9, kind="core"),
        *unanswerable(*[0.1] * 29, kind="far"),
        Measured(asked("near", Decision.REFUSED, kind="near"), 0.8, False),
    ]
    found = chosen(measured)
    assert found.kinds == {
        "over_refusal": {"core": Rate.of(0, 1)},
        "wrongly_answered": {"far": Rate.of(0, 29), "near": Rate.of(1, 1)},
    }


def test_too_few_questions_say_how_many_more():
    with pytest.raises(KnowledgeBaseError) as raised:
        chosen([*answerable(0.9), *unanswerable(*[0.1] * 20)])
    assert str(raised.value) == (
        "the set has 20 unanswerable questions, too few to show that at most 10% are answered with "
        "95% confidence: add 9; 20 can show 13.9% at the least"
    )
    assert shortage(29, 0.1, 0.95) is None
    assert (shortage(0, 0.1, 0.95) or "").endswith("add 29")
    with pytest.raises(KnowledgeBaseError, match="the set needs answerable questions"):
        chosen(unanswerable(*[0.1] * 40))


def test_no_floor_above_one():
    assert chosen([*answerable(1.0), *unanswerable(*[0.9999999] * 40)]).floor == 1.0
    with pytest.raises(KnowledgeBaseError, match=r"1 unanswerable questions score 1, .* 10%"):
        chosen([*answerable(0.9), *unanswerable(*[1.0] * 40)])


def test_groups_that_overlap_are_named_worst_first():
    known = answerable(0.1, 0.3, 0.5, 0.7, 0.9, -1.0)
    unknown = unanswerable(0.95, 0.6, 0.4, *[0.2] * 43, -1.0)
    found = chosen([*known, *unknown])
    assert found.floor == pytest.approx(0.6, abs=2e-6)
    assert found.over_refusal == Rate.of(4, 6)
    assert not found.separable
    high, low = overlapping([*known, *unknown], found.floor)
    assert [(one.text, one.score) for one in low] == [
        ("known 0", 0.1), ("known 1", 0.3), ("known 2", 0.5),
    ]  # fmt: skip
    # A fifth of six refused is one: the line that a business could bear is at 0.1.
    assert [one.score for one in high] == [0.95, 0.6, 0.4, *[0.2] * 43]
    assert high[0].say == "said"


def test_groups_apart_overlap_in_what_the_bound_allows():
    known, unknown = answerable(*[0.8] * 10), unanswerable(*[0.1] * 49, 0.9)
    found = chosen([*known, *unknown])
    assert found.separable
    high, low = overlapping([*known, *unknown], found.floor)
    assert [one.text for one in high][:1] == ["unknown 49"]
    assert low == []


def test_what_another_alpha_would_cost():
    measured = [*answerable(0.1, 0.455, 0.6, 0.7), *unanswerable(*SPREAD)]
    found = costs(measured, alphas=(0.01, 0.06, 0.15))
    assert [(alpha, round(floor, 4), rate) for alpha, floor, rate in found] == [
        (0.06, 0.49, Rate.of(2, 4)),
        (0.15, 0.46, Rate.of(2, 4)),
    ]


def test_a_language_without_evidence_gets_no_floor():
    hindi = [*answerable(0.9, language="hi"), *unanswerable(*[0.3] * 10, language="hi")]
    measured = [*answerable(0.9), *unanswerable(*[0.5] * 30), *hindi]
    floors, without = choose_by_language(measured, embedder="e", set_name="the set")
    assert [(name, round(c.floor, 4)) for name, c in floors.items()] == [("en", 0.5)]
    assert list(without) == ["hi"]
    assert "add 19" in without["hi"]


def test_folds_share_out_each_kind_and_keep_voices_together():
    rows = [asked(f"q{n}", kind="a" if n % 2 else "b", voice=v) for n in range(20) for v in "xy"]
    folds = folds_of(rows, 5)
    assert len(folds) == 20
    for kind in range(2):
        own = [folds[f"q{n}"] for n in range(20) if n % 2 == kind]
        assert own == [0, 1, 2, 3, 4, 0, 1, 2, 3, 4]


def test_auc():
    assert auc(np.array([2.0, 3.0]), np.array([1.0])) == 1.0
    assert auc(np.array([1.0]), np.array([1.0])) == 0.5


def test_the_scorer_is_that_of_the_embedder(embedder):
    assert scorer_of(TableEmbedder({})) == "closeness"
    assert scorer_of(embedder).startswith("answerability-")


SATURDAY = asked("What time do you open on Saturday?", relevant=("kb-hours#2",))


def test_measuring_takes_the_path_of_a_call(index):
    [found] = measure(index, [SATURDAY])
    verdict = answer(SATURDAY.query, index, Policy(floor=0.0))
    assert found.score == verdict.score
    assert found.say == verdict.say.text
    assert found.right
    seen = []
    without = Policy(leave_out=frozenset({"kb-hours#2"}))
    [absent] = measure(
        index, [SATURDAY], without, progress=lambda done, total: seen.append((done, total))
    )
    assert absent.score < found.score
    assert not absent.right
    assert seen == [(1, 1)]


def test_what_is_said_to_the_call_sets_no_floor(index):
    goodbye = asked("Goodbye.", Decision.CONVERSATION)
    assert measure(index, [goodbye, asked("...", Decision.REFUSED)]) == []


def test_an_answer_with_facts_must_state_them(index):
    def right(*facts):
        question = Question("t", SATURDAY.question.text, "", None, (), Decision.ANSWERED, facts, "",
                            {})  # fmt: skip
        return measure(index, [Asked(question, "text", SATURDAY.query)])[0].right

    assert right(("9 a.m.", "9:00"))
    assert not right(("10 a.m.",))


def test_calibration_records_what_it_rests_on(index):
    unknown = [
        asked(f"Who was the president of France in {year}?", Decision.REFUSED)
        for year in range(1990, 2020)
    ]
    found = calibrate(index, [SATURDAY, *unknown], set_name="mine")
    assert (found.set, found.embedder, found.scorer) == (
        "mine", index.embedder.hash, scorer_of(index.embedder),
    )  # fmt: skip
    assert (found.n_answerable, found.n_unanswerable) == (1, 30)
    assert found.over_refusal == Rate.of(0, 1)
    goodbye = asked("Goodbye.", Decision.CONVERSATION)
    again = calibrate(index, [*unknown, goodbye, SATURDAY], set_name="mine")
    assert again.set_sha256 == found.set_sha256, "neither their order nor a goodbye matters"
    fewer = calibrate(index, [SATURDAY, *unknown[1:]], set_name="mine")
    assert fewer.set_sha256 != found.set_sha256


def test_the_sample_has_floors_of_its_own_scores():
    from rag.calibration import FLOORS_FILE, SAMPLE_KB, read
    from rag.search import sample_index

    index = sample_index()
    [floor] = read(SAMPLE_KB / FLOORS_FILE).values()
    assert floor.scorer == scorer_of(index.embedder), "run: frontdesk kb calibrate kb/clinic"
    assert floor.bound <= floor.alpha
    rows = questions.read(SAMPLE_KB / questions.QUESTIONS_FILE)
    assert floor.n_unanswerable == sum(row.decision is Decision.REFUSED for row in rows)
