"""Listed words earn their bonus piece by piece, keep it when whole and give it back when not."""

import pytest

from speech.bias import WORD_BONUS, Vocabulary

# As in a real vocabulary "s" stands twice: as a spare byte and, later, as itself.
PIECES = [
    b"<unk>", b"s", "▁walk".encode(), b"-", b"in", b"s", "▁Walk".encode(), b"ing",
    "▁the".encode(), b"'", b".", "▁in".encode(), "▁".encode(),
]  # fmt: skip
WALK, HYPHEN, IN, S, CAPITAL, ING, THE, APOSTROPHE, STOP, ALONE = 2, 3, 4, 5, 6, 7, 8, 9, 10, 11


def bonuses(vocabulary: Vocabulary, *tokens: int) -> list[float]:
    """The bonus held after each token."""
    node, held, found = None, 0.0, []
    for token in tokens:
        node, change = vocabulary.follow(node, token)
        held += change
        found.append(round(held, 6))
    return found


def test_each_piece_earns_its_share():
    vocabulary = Vocabulary(["walk-ins"], PIECES, bonus=4.0)
    assert bonuses(vocabulary, WALK, HYPHEN, IN, S) == [1.0, 2.0, 3.0, 4.0]


def test_the_bonus_of_the_module_is_the_default():
    assert bonuses(Vocabulary(["walk"], PIECES), WALK) == [WORD_BONUS] == [2.0]


@pytest.mark.parametrize("after", [THE, STOP, ING, ALONE])
def test_a_word_left_half_way_gives_back_what_it_earned(after):
    vocabulary = Vocabulary(["walk-ins"], PIECES, bonus=4.0)
    assert bonuses(vocabulary, WALK, HYPHEN, after)[-1] == 0.0


@pytest.mark.parametrize("after", [THE, STOP, APOSTROPHE, HYPHEN])
def test_a_whole_word_keeps_its_bonus(after):
    vocabulary = Vocabulary(["walk"], PIECES, bonus=4.0)
    assert bonuses(vocabulary, WALK, after, THE) == [4.0, 4.0, 4.0]


def test_a_whole_word_that_goes_on_was_another_word():
    assert bonuses(Vocabulary(["walk"], PIECES, bonus=4.0), WALK, ING) == [4.0, 0.0]


def test_every_whole_word_counts():
    vocabulary = Vocabulary(["walk", "in"], PIECES, bonus=4.0)
    assert bonuses(vocabulary, WALK, ALONE, WALK) == [4.0, 8.0, 12.0]


def test_a_word_begun_instead_of_finishing_another():
    vocabulary = Vocabulary(["walk-ins"], PIECES, bonus=4.0)
    assert bonuses(vocabulary, WALK, HYPHEN, WALK) == [1.0, 2.0, 1.0]


def test_a_word_within_a_longer_one_earns_once():
    vocabulary = Vocabulary(["walk-in", "walk-ins"], PIECES, bonus=12.0)
    assert bonuses(vocabulary, WALK, HYPHEN, IN, S) == [4.0, 8.0, 12.0, 12.0]
    assert bonuses(vocabulary, WALK, HYPHEN, IN, THE) == [4.0, 8.0, 12.0, 12.0]
    assert bonuses(vocabulary, WALK, HYPHEN, ING, THE) == [4.0, 8.0, 0.0, 0.0]


def test_capitalised_too():
    vocabulary = Vocabulary(["walk-in"], PIECES, bonus=3.0)
    assert bonuses(vocabulary, CAPITAL, HYPHEN, IN, STOP) == [1.0, 2.0, 3.0, 3.0]
    assert vocabulary.starts.tolist() == [WALK, CAPITAL]


def test_a_capital_is_not_listed_in_lower_case():
    assert Vocabulary(["Walk"], PIECES).starts.tolist() == [CAPITAL]


def test_a_piece_that_stands_twice_is_not_the_spare_byte():
    vocabulary = Vocabulary(["walks"], PIECES, bonus=4.0)
    assert bonuses(vocabulary, WALK, S, STOP) == [2.0, 4.0, 4.0]
    assert bonuses(vocabulary, WALK, 1, STOP)[-1] == 0.0


@pytest.mark.parametrize("word", ["zebra", "walk!", "walks?", "walk the", ""])
def test_what_cannot_be_spelled_is_ignored(word):
    vocabulary = Vocabulary([word, "walk"], PIECES, bonus=4.0)
    assert vocabulary.starts.tolist() == [WALK, CAPITAL]
    assert bonuses(vocabulary, WALK, S) == [4.0, 0.0]


def test_no_words_no_bonus():
    vocabulary = Vocabulary([], PIECES)
    assert vocabulary.starts.size == 0
    assert bonuses(vocabulary, WALK, HYPHEN, IN, S, STOP) == [0.0] * 5


def test_order_does_not_matter():
    words = ["walk", "walk-in", "in", "walk-ins", "the"]
    paths = [(WALK, HYPHEN, IN, S), (WALK, ING), (THE, ALONE), (CAPITAL, HYPHEN, IN, ING)]
    one, other = Vocabulary(words, PIECES), Vocabulary(reversed(words), PIECES)
    for path in paths:
        assert bonuses(one, *path) == bonuses(other, *path)


def test_a_word_may_earn_less():
    pieces = ["▁new".encode(), "▁copay".encode()]
    vocabulary = Vocabulary({"new": 0.5, "copay": 1.0}, pieces)
    assert vocabulary.follow(None, 0)[1] == WORD_BONUS / 2
    assert vocabulary.follow(None, 1)[1] == WORD_BONUS
