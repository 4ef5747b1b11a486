"""Other ways to say a value: easier to understand, and the same value."""

import pytest

from speech.phrased import Phrase
from speech.respelling import respellings
from speech.spoken_values import agree, values_of


def ways(words, value):
    start = words.index(value)
    return list(respellings(Phrase(words), start, start + len(value)))


@pytest.mark.parametrize(
    ("words", "value", "way"),
    [
        ("Call five five five, oh one four two.", "five five five, oh one four two",
         "Call five five five, zero one four two."),
        ("Call five five five, oh one four two.", "five five five, oh one four two",
         "Call five five five, zero one, four two."),
        ("It is open from nine AM to one PM.", "nine AM", "It is open from nine A M to one PM."),
        ("It is open from nine AM to one PM.", "one PM",
         "It is open from nine AM to one in the afternoon."),
        ("It closes at seven PM.", "seven PM", "It closes at seven in the evening."),
        ("It takes fourteen business days.", "fourteen", "It takes, fourteen business days."),
        ("Children under eighteen are free.", "eighteen",
         "Children under eighteen, one eight, are free."),
        ("It is in Room one twelve.", "one twelve", "It is in Room one one two."),
        ("The gate of Lot A closes.", "Lot A", "The gate of Lot eigh closes."),
        ("We take Aetna, and no other.", "Aetna",
         "We take Aetna, spelled A-E-T-N-A, and no other."),
    ],
)  # fmt: skip
def test_a_way_to_say_it(words, value, way):
    assert way in [one.words for one in ways(words, value)]


def test_the_least_change_comes_first_and_slower_is_one_of_them():
    found = ways("It takes fourteen business days.", "fourteen")
    assert found[0].slowness == 1
    assert Phrase("It takes fourteen business days.", 1.2) in found
    assert len(set(found)) == len(found)
    assert Phrase("It takes fourteen business days.") not in found


@pytest.mark.parametrize(
    "words",
    [
        "Call five five five, oh one four two, or eight hundred, five five five, oh one one one.",
        "It costs one hundred twenty dollars, or twelve dollars and fifty cents.",
        "It is open from seven thirty AM to twelve thirty PM, Monday to Friday.",
        "Take the bus fourteen to Room one oh one on March third, twenty twenty-six.",
        "Seniors of sixty-five get twenty-five percent off within thirty days.",
    ],
)
def test_no_way_changes_a_value(words):
    values = values_of(words)
    assert len(values) > 1
    for value in values:
        for way in respellings(Phrase(words), value.start, value.end):
            said = list(values_of(way.words))
            at = 0
            for one in said:
                if at < len(values) and agree(values[at], one):
                    at += 1
                else:
                    assert agree(values[at - 1], one), way  # said twice
            assert at == len(values), way


def test_a_slow_sentence_stays_slow():
    words = "It takes fourteen business days."
    found = list(respellings(Phrase(words, 1.45), words.index("four"), words.index(" business")))
    assert {one.slowness for one in found} == {1.45}


def test_no_pause_stands_after_an_article():
    assert not [one for one in ways("A COVID test is free.", "COVID") if "A," in one.words]
