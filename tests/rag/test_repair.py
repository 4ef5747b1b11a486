"""Recogniser repair: what is read otherwise, and when its answer may be spoken."""

import json
from dataclasses import replace

import pytest

from frontdesk import KnowledgeBaseError
from rag import documents, make_query
from rag.answer import best_answer
from rag.repair import Lexicon, Mishearing, read, second_query, wins
from rag.repair.nearness import between
from rag.repair.propose import Turn, propose
from rag.repair.sounds import SOUNDS, sounds_of
from tests.rag.shop_kb import write_kb

REFILLS = """# Refills

A refill takes 3 business days. To ask for a refill, call the pharmacy line.
"""
VISITS = """# Visits

Walk-ins are seen on Saturday. Visitor parking costs 2 dollars an hour.

A school form takes 5 business days, a disability form 10.

Blood test results take 10 business days.
"""


@pytest.fixture(scope="module")
def kb(tmp_path_factory):
    return documents.load(
        write_kb(tmp_path_factory.mktemp("repair"), refills=REFILLS, visits=VISITS)
    )


@pytest.fixture(scope="module")
def lexicon(kb):
    return Lexicon.of(kb)


def repaired(text, lexicon, dictionary=()):
    found = second_query(make_query(text), lexicon, dictionary)
    return found and found.query.text


def spelled(text):
    return " ".join(SOUNDS[number] for number in sounds_of(text.split()))


@pytest.mark.parametrize(
    ("words", "sounds"),
    [
        ("parking", "P AA R K IH NG"),
        ("school", "S K UW L"),
        ("this ability", "DH IH Z AH B IH L IH T IY"),
        ("Saturday's", "S AE T ER D EY Z"),
        ("दुकान 24", ""),
    ],
)
def test_letters_are_read_as_they_sound(words, sounds):
    assert spelled(words) == sounds


def test_what_sounds_alike_is_near_whatever_its_letters():
    alike = between(["this", "ability"], ["disability"])
    assert alike == pytest.approx(0.122, abs=0.001)
    assert between(["this", "ability"], ["visibility"]) > alike
    assert between(["forum"], ["form"]) < between(["forum"], ["forty"])
    assert between(["forum"], []) == 1


@pytest.mark.parametrize(
    ("heard", "meant"),
    [
        ("how long does orifyl take", "how long does a refill take"),
        ("do you see weckens", "do you see walk ins"),
        ("how much is parting for visitors", "how much is parking for visitors"),
        ("how long does a school forum take", "how long does a school form take"),
        ("how long does this ability form take", "how long does disability form take"),
        # nothing that is near, nothing that is unknown, nothing that is English but in no document
        ("where can i buy a giraffe", None),
        ("how long does a refill take", None),
        ("how much is a haircut", None),
    ],
)
def test_unknown_words_are_read_as_what_they_sound_like(lexicon, heard, meant):
    assert repaired(heard, lexicon) == meant


def test_no_word_is_dropped(lexicon):
    """ "Biopsy results take" is not a mishearing of "results take"."""
    assert repaired("how long do biopsy results take", lexicon) is None


def test_numbers_are_never_touched(lexicon):
    assert repaired("is it 4 parkin", lexicon) == "is it 4 parking"
    assert repaired("is lot 2b fine", lexicon) is None


def test_it_says_what_it_changed_and_keeps_the_rest(lexicon):
    query = make_query("and the scool form", "how long does a refill take")
    query = replace(query, text="how long does a scool form take", focus=("scool", "form"))
    found = second_query(query, lexicon)
    assert found.query == replace(
        query, text="how long does a school form take", focus=("form", "school")
    )
    (change,) = found.changes
    assert (change.heard, change.meant) == ("a scool form", "a school form") or (
        change.heard,
        change.meant,
    ) == ("scool form", "school form")
    assert change.why == "scool is no word of English"


def test_the_dictionary_comes_before_sounds_and_serves_every_language(lexicon):
    dictionary = (Mishearing("parting", "partying"), Mishearing("do you take weapons", "walk ins"))
    assert repaired("parting for visitors", lexicon, dictionary) == "partying for visitors"
    assert repaired("do you take weapons today", lexicon, dictionary) == "walk ins today"
    spanish = replace(make_query("hay parting"), language="es")
    assert second_query(spanish, lexicon) is None
    assert second_query(spanish, lexicon, dictionary).query.text == "hay partying"


def test_an_answer_wins_only_by_a_margin_and_by_the_words_it_was_repaired_by(kb, lexicon):
    found = second_query(make_query("how much is parting for visitors"), lexicon)
    parking, refill = kb.passages[1], kb.passages[0]
    assert "parking" in parking.text
    assert wins(found, 0.4, 0.97, parking)
    assert not wins(found, 0.4, 0.97, refill), "nothing of the repair stands there"
    assert not wins(found, 0.4, 0.75, parking), "not enough better"
    assert not wins(found, 0.05, 0.97, parking), "the rest of the question asks nothing here"
    assert not wins(found, 0.4, 0.97, None)


def test_what_a_person_reviewed_needs_no_margin_and_no_least_score(kb, lexicon):
    dictionary = (Mishearing("parting", "parking"),)
    query = make_query("how much is parting for visitors")
    found = second_query(query, lexicon, dictionary)
    assert [change.is_reviewed for change in found.changes] == [True]
    assert wins(found, 0.4, 0.75, kb.passages[1])
    assert not wins(found, 0.4, 0.4, kb.passages[1])
    assert wins(found, 0.05, 0.75, kb.passages[1])


@pytest.mark.parametrize(
    ("heard", "is_won"),
    [
        ("how long does a fool service take", True),
        # it may sound like "the bike"
        ("how long does the bake service take", False),
        ("what is on television tonight", False),
    ],
)
def test_on_real_scores_only_what_was_misheard_wins(index, heard, is_won):
    query = make_query(heard)
    found = second_query(query, Lexicon.of(index.kb))
    first, second = best_answer(query, index), found and best_answer(found.query, index)
    won = second is not None and wins(
        found, first.score, second.score, second.candidate.hit.passage
    )
    assert won is is_won


def test_a_dictionary_is_read(tmp_path):
    path = tmp_path / "mishearings.jsonl"
    assert read(path) == ()
    row = {"heard": "Weapons", "meant": "walk-ins", "turns": 3}
    path.write_text(json.dumps(row) + "\n\n", "utf-8")
    assert read(path) == (Mishearing("weapons", "walk ins"),)


@pytest.mark.parametrize(
    ("rows", "why"),
    [
        ("{", "row 1"),
        ('{"heard": "a"}', 'row 1: needs "heard" and "meant"'),
        ('{"heard": "a", "meant": "..."}', "need a word each"),
        ('{"heard": "a b c d e", "meant": "f"}', "5 words, at most 4"),
        ('{"heard": "for 5", "meant": "form"}', "a number is never repaired"),
        ('{"heard": "Form", "meant": "form"}', "the same words"),
        ('{"heard": "a", "meant": "b"}\n{"heard": "a", "meant": "c"}', "row 2: 'a' is there"),
    ],
)
def test_a_broken_dictionary_is_refused_by_row(tmp_path, rows, why):
    path = tmp_path / "mishearings.jsonl"
    path.write_text(rows, "utf-8")
    with pytest.raises(KnowledgeBaseError, match="mend the row") as error:
        read(path)
    assert why in str(error.value)


def turns(*said):
    return [Turn(text, state == "+", state == "-", f"call#{n}") for n, (state, text) in said_(said)]


def said_(said):
    return enumerate(((text[0], text[1:]) for text in said), 1)


def test_what_was_asked_again_is_the_best_evidence(lexicon):
    found = propose(
        [
            turns("-how much is parting for visitors"),
            turns("-do you see weapons on saturday", "+do you see walk-ins on saturday"),
        ],
        lexicon,
    )
    assert [(p.mishearing.heard, p.mishearing.meant, p.turns, p.asked_again) for p in found] == [
        ("weapons", "walk ins", 1, 1),
        ("parting", "parking", 1, 0),
    ]
    assert found[0].examples == (("call#1", "… you see weapons on saturday"),)


def test_nothing_is_proposed_that_was_answered_known_or_personal(lexicon):
    calls = [
        turns("+how much is parting for visitors"),
        turns("-i am giraffe smith 555 0199", "+how much is parking"),
        turns("-the forum 12b"),
    ]
    found = propose(calls, lexicon, [Mishearing("forum", "form")])
    assert found == []
