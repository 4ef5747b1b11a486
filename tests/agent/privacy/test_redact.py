"""What is personal in a text is found, said or written; what callers ask stays as it is."""

import itertools
import random
from pathlib import Path

import pytest

from agent.luhn import passes_luhn
from agent.privacy import Kind, find, kept_values, redact
from bench.personal.labelled import HALVES, examples
from bench.personal.scored import Share, score

CLINIC = Path(__file__).parents[3] / "kb" / "clinic"
DOCUMENTS = [path.read_text("utf-8") for path in sorted(CLINIC.glob("*.md"))]
KEEP = kept_values(DOCUMENTS)


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("my card is 4111 1111 1111 1111", "my card is [card number]"),
        (
            "it's four one one one, one one one one, one one one one, triple one one please",
            "it's [card number] please",
        ),
        ("the code on the back is three two one", "the code on the back is [card number]"),
        ("call five five five double oh one two", "call [phone number]"),
        ("call +44 7700 900461 at 8", "call [phone number] at 8"),
        (
            "it's one eight hundred five five five oh one four two",
            "it's [phone number]",  # and not the desk's 555-0142
        ),
        ("jane dot doe at example dot com please", "[e-mail address] please"),
        ("jane.doe@example.com", "[e-mail address]"),
        ("the fourth of july nineteen eighty two", "[date of birth]"),
        ("born 3/17/90", "born [date of birth]"),
        ("my date of birth is independence day 1982", "my date of birth is [date of birth]"),
        ("member id W 2 2 oh 9 1 8", "member id [account number]"),
        ("my pin is four four nine one", "my pin is [account number]"),
        ("my name is zoltan", "my name is [name]"),
        ("my name is guadalupe de la cruz", "my name is [name]"),
        ("My last name is Smith, S M I T H. Hello", "My last name is [name], [name]. Hello"),
        ("card 4 thousand 111 1 thousand 111 1 thousand 111 1 thousand 111", "card [card number]"),
        ("4111\u20131111\u20131111\u20131111", "[card number]"),
        ("Hi, this is Jane Doe speaking.", "Hi, this is [name] speaking."),
        ("it's for my daughter emma", "it's for my daughter [name]"),
        (
            "i'm tanya reed my number is 555-0166 and yours is 555-0142",
            "i'm [name] my number is [phone number] and yours is 555-0142",
        ),
    ],
)
def test_a_placeholder_stands_where_it_was(said, kept):
    assert redact(said, KEEP).text == kept
    assert redact(kept, KEEP).text == kept, "redacting twice changes nothing"


@pytest.mark.parametrize(
    "asked",
    [
        "do you open at 8 on the 4th of july",
        "do I need to call twenty four hours before",
        "is doctor patel in on monday",
        "are you open on Martin Luther King Day",
        "do you take Oscar",
        "are you open on independence day or christmas 2026",
        "do you have an office in Jackson",
        "the name on it is misspelled, and my name is misspelled",
        "is the deductible 2 thousand 500 dollars",
        "So the nurse line is five five five, oh one four two?",
        "do you have my records from 1998",
        "is it 2025, 2026 or 2027",
        "my daughter is two, can she do telehealth",
        "look at clinic dot com",
        "is the discount for people born before 1960",
    ],
)
def test_a_question_keeps_its_sense(asked):
    assert redact(asked, KEEP).text == asked


def test_documents_are_nobodys():
    lines = [line for text in DOCUMENTS for line in text.splitlines()]
    assert [line for line in lines if redact(line, KEEP).found] == []
    assert redact("call 555-0142").found, "without the documents it is anybody's"


def test_a_name_of_the_documents_is_kept_unless_it_is_the_callers():
    keep = kept_values(["On Monday Doctor Patel sees patients, and Maria at the desk."])
    assert redact("is maria in today", keep).text == "is maria in today"
    assert redact("my name is maria patel", keep).text == "my name is [name]"


def test_the_places_are_those_of_the_text():
    text = "write to jane@example.com, card 4111111111111111"
    email, card = find(text)
    assert (email.kind, text[email.start : email.end]) == (Kind.EMAIL, "jane@example.com")
    assert (card.kind, text[card.start : card.end]) == (Kind.CARD, "4111111111111111")


@pytest.mark.parametrize("half", HALVES)
def test_the_labelled_sets_hold(half):
    figures, _ = score(examples(half), lambda text: find(text, KEEP))
    assert len(examples("development")) + len(examples("held_out")) >= 300
    assert figures["recall"]["share"] >= 0.9
    assert figures["precision"]["share"] >= 0.95
    assert figures["untouched"]["share"] >= 0.95


def test_a_wilson_interval_is_the_published_one():
    low, high = Share(81, 263).interval  # R. G. Newcombe, 1998, table I
    assert (round(low, 4), round(high, 4)) == (0.2553, 0.3662)


def test_luhn_is_that_of_the_standard():
    assert passes_luhn("79927398713")
    assert not any(passes_luhn(f"7992739871{last}") for last in "012456789")


def test_any_text_is_read_to_its_end():
    words = "at dot a 1 one oh double twenty born may my name is jane @ . - , ' [ ] \u2028 é 九 +"
    drawn = random.Random(7)
    for _ in range(300):
        text = drawn.choice(["", " "]).join(drawn.choices(words.split(" "), k=40))
        found = find(text)
        assert all(0 <= one.start < one.end <= len(text) for one in found)
        assert all(a.end <= b.start for a, b in itertools.pairwise(found))
    assert len(redact("twenty " * 5000).text) < 5000, "what no caller says is cut"
