import pytest

from rag.parts import MOST_WORDS, parts, wants_more

SHORT = "The clinic is open."
LONG = " ".join(f"word{n}{',' if n % 10 == 9 else ''}" for n in range(120)) + "."


@pytest.mark.parametrize(
    ("sentences", "expected"),
    [
        ([SHORT], (SHORT,)),
        ([SHORT, SHORT], (f"{SHORT} {SHORT}",)),
        ([SHORT] * 3, (f"{SHORT} {SHORT}", SHORT)),
        ([SHORT] * 5, (f"{SHORT} {SHORT}", f"{SHORT} {SHORT}", SHORT)),
    ],
)
def test_two_sentences_a_part(sentences, expected):
    assert parts(sentences) == expected


def test_a_long_sentence_is_broken_at_a_comma_and_nothing_is_lost():
    found = parts([LONG])
    assert len(found) == 3
    assert all(len(part.split()) <= MOST_WORDS for part in found)
    assert all(part.endswith(",") for part in found[:-1])
    assert " ".join(found) == LONG


def test_a_long_sentence_without_any_stop_is_broken_between_words():
    words = " ".join(["word"] * 120)
    assert " ".join(parts([words])) == words


def test_a_sentence_that_makes_a_part_too_long_begins_the_next():
    half = " ".join(["word"] * 30) + "."
    assert parts([half, half]) == (half, half)


@pytest.mark.parametrize("words", ["yes", "yes please", "go on", "sure go ahead", "the rest"])
def test_yes(words):
    assert wants_more(words)


@pytest.mark.parametrize("words", ["", "no", "no thanks", "yes do you open", "you can " * 40])
def test_anything_else(words):
    assert not wants_more(words)
