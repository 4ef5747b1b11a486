"""The search on step functions made by hand, and against every possible answer."""

import itertools
from collections.abc import Callable, Sequence

import numpy as np
import pytest

from speech.beam import Hypothesis, search
from speech.bias import Vocabulary

START, END = 0, 1
NO_WORDS = Vocabulary([], [])
LOW = -30.0

History = tuple[int, ...]


class Steps:
    """A model whose next logits are a function of all tokens so far, which it keeps by beam."""

    def __init__(self, logits: Callable[[History], Sequence[float]]) -> None:
        self._logits, self._beams, self.calls = logits, [()], []

    def __call__(self, tokens: Sequence[int], parents: Sequence[int]) -> np.ndarray:
        self.calls.append(list(tokens))
        self._beams = [
            (*self._beams[parent], token) for token, parent in zip(tokens, parents, strict=True)
        ]
        return np.array([self._logits(beam[1:]) for beam in self._beams], np.float32)


def table(rows: dict[History, dict[int, float]], size: int = 8) -> Steps:
    """Probabilities after each history; END is certain after any other."""

    def logits(history: History) -> list[float]:
        row = rows.get(history, {END: 1.0})
        return [float(np.log(row[token])) if token in row else LOW for token in range(size)]

    return Steps(logits)


def find(
    step: Steps, *, limit: int = 10, width: int = 4, words: Vocabulary = NO_WORDS
) -> Hypothesis:
    return search(step, words, start=START, end=END, limit=limit, width=width)


# Greedy takes 2 (0.6), whose best ending is worth 0.6 * 0.3; 3 then 5 is worth 0.4 * 0.9.
GARDEN_PATH = {
    (): {2: 0.6, 3: 0.4},
    (2,): {4: 0.3, 5: 0.28, 6: 0.22, 7: 0.2},
    (3,): {5: 0.9, 6: 0.1},
}


def test_a_beam_of_one_takes_the_garden_path():
    assert find(table(GARDEN_PATH), width=1).tokens == (2, 4)


def test_a_beam_of_four_finds_the_better_path_that_begins_worse():
    found = find(table(GARDEN_PATH), width=4)
    assert found.tokens == (3, 5)
    assert np.exp(found.log_probabilities) == pytest.approx([0.4, 0.9], abs=1e-6)
    assert np.exp(found.log_probability) == pytest.approx(0.36, abs=1e-6)
    assert (found.bonus, found.listed) == (0.0, None)


def test_a_step_is_asked_only_of_hypotheses_there_are():
    step = table(GARDEN_PATH)
    find(step)
    assert step.calls == [[START], [2, 3], [5, 4, 5, 6]]


def test_stops_at_the_limit_without_another_step():
    step = table({(2,) * n: {2: 1.0} for n in range(20)})
    assert find(step, limit=5).tokens == (2,) * 5
    assert len(step.calls) == 5


def test_what_ended_before_the_limit_counts_before_what_did_not():
    rows = {(): {2: 0.9, END: 0.1}, (2,): {2: 1.0}, (2, 2): {2: 1.0}}
    assert find(table(rows), limit=2).tokens == ()
    assert find(table(rows), limit=3).tokens == ()
    assert find(table(rows), limit=4).tokens == (2, 2, 2)  # here the better one has ended too


def test_no_limit_no_step():
    step = table({})
    assert find(step, limit=0) == Hypothesis()
    assert step.calls == []


def test_an_end_at_once_is_nothing_heard():
    step = table({(): {END: 0.7, 2: 0.3}})
    assert find(step) == Hypothesis()
    assert len(step.calls) == 1


@pytest.mark.parametrize("width", [1, 2, 4, 40])
def test_ties_go_to_the_lower_token(width):
    even = Steps(lambda history: [0.0] * 40 if len(history) < 3 else [LOW, 0.0] + [LOW] * 38)
    assert find(even, width=width).tokens == ()  # END, 1, is the lowest there is
    later = Steps(
        lambda history: [LOW, LOW] + [0.0] * 38 if len(history) < 3 else [LOW, 0.0] + [LOW] * 38
    )
    assert find(later, width=width).tokens == (2, 2, 2)


def test_ties_go_to_the_earlier_beam():
    step = table({(): {2: 0.5, 3: 0.5}, (2,): {5: 0.5, 6: 0.5}, (3,): {4: 0.5, 5: 0.5}})
    assert find(step).tokens == (2, 5)


@pytest.mark.parametrize("bad", [np.nan, -np.inf])
def test_logits_that_are_none_are_nothing_heard(bad):
    with np.errstate(invalid="ignore"):
        assert find(Steps(lambda _: [bad] * 8)) == Hypothesis()


def random_logits(seed: int, size: int) -> Callable[[History], np.ndarray]:
    """The same random row for the same history, whoever asks; an end gets likelier and likelier."""

    def logits(history: History) -> np.ndarray:
        row = np.random.default_rng([seed, len(history), *history]).normal(0, 1.5, size)
        row[END] += 2 * len(history) - 6
        return row

    return logits


def log_p(row: np.ndarray) -> np.ndarray:
    return row - np.logaddexp.reduce(row)


def best_of_all(logits, size: int, limit: int) -> tuple[float, History]:
    """The likeliest of all sequences that end within ``limit`` steps, END included."""
    scored = []
    for length in range(limit):
        for tokens in itertools.product(range(2, size), repeat=length):
            score = sum(log_p(logits(tokens[:n]))[tokens[n]] for n in range(length))
            scored.append((score + log_p(logits(tokens))[END], tokens))
    return max(scored)


def greedy(logits, limit: int) -> History:
    """The likeliest token each time; the likeliest place to end on that path."""
    tokens, score, ends = (), 0.0, []
    for _ in range(limit):
        row = log_p(logits(tokens))
        ends.append((score + row[END], tokens))
        token = 2 + int(row[2:].argmax())
        score += row[token]
        tokens = (*tokens, token)
        if max(ends)[0] >= score:
            break
    return max(ends)[1]


@pytest.mark.parametrize("seed", range(25))
def test_a_beam_wide_enough_finds_the_best_of_all(seed):
    size, limit = 5, 5
    logits = random_logits(seed, size)
    score, tokens = best_of_all(logits, size, limit)
    assert tokens
    found = find(Steps(logits), limit=limit, width=3**limit)
    assert found.tokens == tokens
    ending = log_p(logits(tokens))[END]
    assert found.log_probability + ending == pytest.approx(score, abs=1e-5)


@pytest.mark.parametrize("seed", range(25))
def test_a_beam_of_one_is_greedy_on_any_table(seed):
    logits = random_logits(seed, size=4)
    assert find(Steps(logits), limit=6, width=1).tokens == greedy(logits, limit=6)


def test_a_beam_of_four_finds_the_best_more_often_than_greedy():
    size, limit, seeds = 5, 5, range(60)
    best = [best_of_all(random_logits(seed, size), size, limit)[1] for seed in seeds]
    hits = [
        sum(
            find(Steps(random_logits(seed, size)), limit=limit, width=width).tokens == tokens
            for seed, tokens in zip(seeds, best, strict=True)
        )
        for width in (1, 4)
    ]
    assert hits[1] > hits[0]
    assert hits[1] >= 50


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("width", [1, 4])
def test_never_start_nor_end(seed, width):
    def logits(history: History) -> np.ndarray:
        row = np.random.default_rng([seed, *history]).normal(0, 1.5, 30)
        row[START] += 20  # the model would say it again and again
        return row

    found = find(Steps(logits), limit=8, width=width)
    assert not {START, END} & set(found.tokens)


PIECES = [b"<s>", b"</s>", "▁the".encode(), "▁flu".encode(), "▁fool".encode(), b"ish", b"s", b"."]
THE, FLU, FOOL, ISH, S, STOP = range(2, 8)
MISHEARD = {
    (): {THE: 1.0},
    (THE,): {FOOL: 0.8, FLU: 0.2},
    (THE, FOOL): {ISH: 0.9, STOP: 0.1},
    (THE, FLU): {STOP: 0.9, S: 0.1},
}


def test_a_listed_word_wins_if_its_bonus_makes_up_for_it():
    assert find(table(MISHEARD)).tokens == (THE, FOOL, ISH)
    found = find(table(MISHEARD), words=Vocabulary(["flu"], PIECES, bonus=2.0))
    assert found.tokens == (THE, FLU, STOP)
    assert found.bonus == 2.0
    weak = find(table(MISHEARD), words=Vocabulary(["flu"], PIECES, bonus=1.0))
    assert weak.tokens == (THE, FOOL, ISH)
    assert weak.bonus == 0.0


def test_a_word_that_stays_half_said_has_no_bonus():
    rows = {(): {FOOL: 0.6, FLU: 0.4}}
    found = find(table(rows), words=Vocabulary(["fools"], PIECES, bonus=8.0))
    assert (found.tokens, found.bonus) == ((FOOL,), 0.0)


@pytest.mark.parametrize(("probability", "tried"), [(4e-3, True), (2e-3, False)])
def test_a_listed_word_may_begin_below_the_likeliest_but_not_hopelessly(probability, tried):
    size = 40
    rest = (1 - probability) / 30
    rows = {(): {**dict.fromkeys(range(10, 40), rest), FLU: probability}}
    found = find(table(rows, size), words=Vocabulary(["flu"], PIECES + [b""] * 32, bonus=12.0))
    assert (found.tokens == (FLU,)) == tried


def test_a_begun_word_may_go_on_below_the_likeliest():
    rest = dict.fromkeys(range(10, 40), 0.95 / 30)
    rows = {(): {FOOL: 1.0}, (FOOL,): {**rest, ISH: 0.02}}
    pieces = PIECES + [b""] * 32
    assert find(table(rows, 40)).tokens != (FOOL, ISH)
    found = find(table(rows, 40), words=Vocabulary(["foolish"], pieces, bonus=6.0))
    assert (found.tokens, found.bonus) == ((FOOL, ISH), 6.0)


def test_no_listed_word_changes_nothing():
    for seed in range(10):
        logits = random_logits(seed, 8)
        assert find(Steps(logits), words=Vocabulary([], PIECES)) == find(Steps(logits))
