"""What the streaming figures count."""

from bench.streaming import _Turn, figures
from speech.types import Utterance


def heard(text, stable=""):
    return Utterance(text, 1000.0, 40.0, -0.1, stable=stable, provisional=True)


def turn(final, *interims, **kwargs):
    made = _Turn(600.0, texts=list(interims), final=heard(final), **kwargs)
    made.ages_ms = [50.0] * len(interims)
    return made


def test_stable_words_that_the_final_does_not_begin_with_are_contradicted():
    found = figures(
        [
            turn("Do you take walk-ins?", heard("Do"), heard("Do you?", "Do"), first_ms=300.0),
            turn("Can I come?", heard("Can I go?", "CAN I go"), first_ms=500.0, dropped=2),
            turn(""),
        ]
    )
    assert (found["turns"], found["heard"], found["dropped"]) == (3, 2, 2)
    assert (found["stable_texts"], found["stable_texts_contradicted"]) == (2, 1)
    assert (found["stable_words"], found["stable_words_contradicted"]) == (4, 1)
    assert (found["first_interim"]["p50_ms"], found["first_interim"]["p100_ms"]) == (300.0, 500.0)
    assert found["interims_per_s"] == 1.5


def test_a_turn_without_interims_is_counted():
    assert figures([turn("Hello.")])["without_interim"] == 1
