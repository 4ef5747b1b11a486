"""Answers that were asked for: the search on step functions made by hand, then on speech."""

import numpy as np
import pytest

from speech.audio import resample, to_float32
from speech.grammar import Grammar, is_answer, search_only
from speech.types import Hint
from tests.speech.test_beam import END, START, table

PIECES = [b"", b"", "▁two".encode(), "▁to".encode(), "▁t".encode(), b"wo", b".", "▁oh".encode()]
TWO, TO, T, WO, STOP, OH = range(2, 8)


def find(rows, words=("two",), **options):
    grammar = Grammar(words, PIECES, **options)
    return search_only(table(rows), grammar, start=START, end=END, limit=6)


def test_what_is_likelier_but_no_answer_is_not_heard():
    found = find({(): {TO: 0.9, TWO: 0.1}})
    assert found.tokens == (TWO,)
    assert found.log_probability == pytest.approx(np.log(0.1))


def test_a_word_may_be_spelled_by_any_pieces():
    assert find({(): {T: 0.6, TWO: 0.4}, (T,): {WO: 1.0}}).tokens == (T, WO)


def test_words_follow_each_other_and_marks_follow_words():
    rows = {(): {TWO: 1.0}, (TWO,): {STOP: 0.7, END: 0.3}, (TWO, STOP): {TWO: 0.9, END: 0.1}}
    assert find(rows, marks=".").tokens == (TWO, STOP, TWO)
    assert find(rows).tokens == (TWO,)


def test_a_word_beside_the_answer_is_none_by_itself():
    rows = {(): {OH: 0.9, TWO: 0.1}, (OH,): {END: 0.95, TWO: 0.05}}
    assert find(rows, beside=["oh"]).tokens == (TWO,)
    rows[OH,] = {END: 0.5, TWO: 0.5}
    assert find(rows, beside=["oh"]).tokens == (OH, TWO)


def test_without_words_there_is_no_answer():
    assert find({}, words=()) is None


@pytest.mark.parametrize(
    ("answer", "margin", "free", "given"),
    [
        ("Four.", -3.0, "Or?", True),
        ("Five.", -9.0, "Goodbye.", False),
        ("Two", -5.5, "To exit the menu.", False),
        ("Five, five, five, oh, one, four, three.", -4.0, "555-0143", True),
        ("", 0.0, "Um.", False),
        ("2.", 1.0, "", False),
    ],
)
def test_an_answer_that_is_far_fetched_is_none(answer, margin, free, given):
    assert is_answer(answer, margin, free) is given


@pytest.mark.parametrize(
    ("said", "hint", "heard"),
    [
        ("four", Hint.DIGITS, {"4", "four"}),
        ("What time do you open on Saturday?", Hint.DIGITS, None),
        ("Can I speak to a person please?", Hint.YES_NO, None),
        ("yes", Hint.YES_NO, {"yes"}),
        ("next Tuesday", Hint.DATE, {"next tuesday"}),
    ],
)
def test_a_hint_is_heard_only_where_it_was_followed(engines, over_telephone, said, hint, heard):
    audio = resample(to_float32(over_telephone(said)), 8000, 16000)
    text = engines.recogniser.transcribe(audio, hint=hint).text
    if heard is None:
        assert text == engines.recogniser.transcribe(audio).text
    else:
        assert text.lower().strip(" .,!?") in heard


@pytest.mark.parametrize("hint", Hint)
def test_noise_is_no_answer(engines, hint):
    seconds = np.arange(16000) / 16000
    for noise in (np.full(16000, 0.3), 0.1 * np.sin(2 * np.pi * 440 * seconds)):
        assert engines.recogniser.transcribe(noise.astype(np.float32), hint=hint).text == ""
