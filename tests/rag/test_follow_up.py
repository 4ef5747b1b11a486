"""Follow-ups over chains of questions, as callers go on."""

import random

import pytest

from rag.follow_up import Change, Names, Said, State, foreign_words, only_from_dialogue, resolve
from rag.follow_up.subject import subject_of
from rag.follow_up.terms import content_words


def call(*asked, said=None, **options):
    """Each question resolved after those before it; the state after all."""
    state, found = State(), []
    for question in asked:
        resolution = resolve(question, state, **options)
        found.append(resolution)
        state = state.after(resolution, (said or {}).get(question, ()))
    return found, state


@pytest.mark.parametrize(
    ("heard", "text"),
    [
        ("What time do you open on Saturday? No, wait, Sunday.", "what time do you open on sunday"),
        (
            "What time do you close on Saturday? No, wait. I mean how much is a flu shot?",
            "how much is a flu shot",
        ),
        ("How much is a flu shot? Never mind that. Where do I park?", "where do i park"),
        (
            "how much is a flu shot for an adult sorry i mean a child",
            "how much is a flu shot for a child",
        ),
        (
            "What time do you open on Monday? Actually, no, what about Tuesday?",
            "what time do you open on tuesday",
        ),
    ],
)
def test_a_mind_changed_in_one_breath(heard, text):
    resolution = resolve(heard)
    assert resolution.query.text == text
    assert resolution.query.raw == heard
    assert Change.CORRECTED in resolution.changes


@pytest.mark.parametrize(
    "heard",
    [
        "do you know what I mean by that",
        "do you take no insurance",
        "never mind",
        "sorry to ask but do you take walk-ins",
    ],
)
def test_words_like_those_of_a_changed_mind_change_nothing(heard):
    assert Change.CORRECTED not in resolve(heard).changes


@pytest.mark.parametrize(
    ("before", "heard", "text", "change"),
    [
        (
            "What time do you open on Saturday?",
            "and what about sunday",
            "what time do you open on sunday",
            Change.SLOT,
        ),
        (
            "How much is a covid shot for an adult?",
            "how about the flu one",
            "how much is a flu shot for an adult",
            Change.THING,
        ),
        (
            "How much is a flu shot for an adult?",
            "and for kids",
            "how much is a flu shot for kids",
            Change.SLOT,
        ),
        (
            "How long does a blood test take?",
            "how much is that",
            "how much is blood test",
            Change.POINTED,
        ),
        ("do you have parking", "where is it", "where is parking", Change.POINTED),
        (
            "Are you open on December twenty fifth?",
            "and on the twenty fourth",
            "are you open on december 24th",
            Change.SLOT,
        ),
        (
            "How long does a urine test take?",
            "no, I meant the blood test",
            "how long does a blood test take",
            Change.CORRECTED,
        ),
        (
            "what time do you open on sunday",
            "same question for Monday",
            "what time do you open on monday",
            Change.SAME,
        ),
        (
            "how much is a flu shot",
            "same question for kids",
            "how much is a flu shot for kids",
            Change.SAME,
        ),
        ("is chilli a stew", "how about goulash", "is goulash a stew", Change.THING),
        (
            "tell me about melatonin",
            "what are the side effects",
            "what are the side effects melatonin",
            Change.IMPLIED,
        ),
        (
            "is doctor smith in on monday",
            "does she speak spanish",
            "does doctor smith speak spanish",
            Change.POINTED,
        ),
        (
            "what's the number for the pharmacy line",
            "and what about the number for billing",
            "what's the number for the billing",
            Change.THING,
        ),
        (
            "how much notice do you need to cancel",
            "how about removing a mole",
            "how much notice do you need to cancel removing mole",
            Change.ADDED,
        ),
        (
            "are you open on christmas",
            "what about the first of january",
            "are you open on the first of january",
            Change.SLOT,
        ),
    ],
)
def test_one_way_of_going_on(before, heard, text, change):
    (_, found), _ = call(before, heard)
    assert (found.query.text, found.changes) == (text, (change,))
    assert found.query.raw == heard
    assert repr(text) in found.detail


def test_the_other_one_of_two_that_were_named_together():
    found, _ = call(
        "do i need a blood test or a urine test",
        "how much is the blood test",
        "and the other one",
        "how long does it take",
    )
    assert [one.query.text for one in found[2:]] == [
        "how much is the urine test",
        "how long does urine test take",
    ]
    assert found[2].changes == (Change.OTHER,)


def test_the_other_one_of_two_that_were_asked_about():
    found, _ = call(
        "how much is a flu shot", "how much is a covid shot", "what about the other one"
    )
    assert found[2].query.text == "how much is a flu shot"


def test_what_was_said_is_asked_again_of_the_passage_that_said_it():
    found, state = call(
        "how do i get a refill",
        "where do i park",
        "what did you say the number was",
        said={
            "how do i get a refill": (Said("kb-a#1", "kb-a", "Call the pharmacy at 555-0143."),),
            "where do i park": (Said("kb-b#1", "kb-b", "In the lot on Main Street."),),
        },
    )
    assert found[2].query.text == "how do i get a refill number"
    assert (found[2].changes, found[2].prefer) == ((Change.ASKED_AGAIN,), ("kb-a#1",))
    assert [said.passage for said in state.spoken] == ["kb-b#1", "kb-a#1"]


def test_a_chain_of_five_and_then_another_subject():
    found, state = call(
        "How much is a covid shot for an adult?",
        "how about the flu one",
        "and for kids",
        "where is that",
        "how long does it take",
        "what time do you open on Saturday",
        "and on sunday",
    )
    assert [one.query.text for one in found[1:]] == [
        "how much is a flu shot for an adult",
        "how much is a flu shot for kids",
        "where is flu shot",
        "how long does flu shot take",
        "what time do you open on saturday",
        "what time do you open on sunday",
    ]
    assert found[5].changes == ()
    assert (state.subject, state.day, state.person) == ("", "sunday", "")
    assert state.service == "flu shot"


@pytest.mark.parametrize(
    "heard",
    [
        "what are your hours",
        "do you take walk-ins",
        "what's your address",
        "what is the phone number",
        "how long does it take to get to the airport by bus",
        "is it possible to pay by card",
        "who is the doctor that sees children",
        "what is the history of Irish stew",
        "when do companies pay their employees",
        "I think that is all",
        "thanks",
        "sorry could you say that louder",
    ],
)
def test_a_question_of_its_own_stays_as_it_is(heard):
    (_, found), _ = call("how much is a flu shot for kids", heard)
    assert found.changes == ()
    assert found.query.text == resolve(heard).query.text
    assert "flu" not in found.query.text


def test_a_topic_of_the_business_leaves_the_question_before():
    (_, parking), _ = call("can i pay by card", "what about parking")
    assert (parking.query.text, parking.changes) == ("parking", (Change.DROPPED,))
    (_, wifi), _ = call("do you have a pool", "what about wifi")
    assert wifi.query.text == "do you have a wifi"


def test_closeness_keeps_the_question_before():
    asked = ("how much is valet service", "what about parking")
    near, _ = call(*asked, cosine=lambda a, b: 0.9 if {a, b} == {"parking", "valet service"} else 0)
    far, _ = call(*asked, cosine=lambda a, b: 0.0)
    assert near[1].query.text == "how much is parking"
    assert far[1].query.text == "parking"


def test_a_correction_may_be_a_whole_question():
    (_, found), _ = call("when do you open", "no, i meant when do you close")
    assert (found.query.text, found.changes) == ("when do you close", (Change.CORRECTED,))


def test_a_long_what_about_says_itself_what_it_asks():
    (_, found), _ = call("how much is a flu shot", "what about lost luggage from last winter trips")
    assert found.changes == (Change.DROPPED,)
    assert "flu" not in found.query.text


NAMES = Names(
    {
        "hotel/1": "Harbour Lights Inn",
        "hotel/2": "Good Hotel",
        "food/1": "Marlowe's Kitchen - Old Town",
        "food/2": "Lucky Star",
    }
)


@pytest.mark.parametrize(
    ("text", "document"),
    [
        ("i found one it's called the harbor lights inn", "hotel/1"),
        ("how about marlowes kitchen", "food/1"),
        ("is it a good hotel for kids", ""),
        ("i'd like two stars", ""),
        ("", ""),
    ],
)
def test_names_are_found_as_they_are_spoken(text, document):
    assert NAMES.find(text) == document


def test_the_place_last_spoken_of_goes_with_the_question():
    said = {"any place to stay": (Said("", "", "There is one called Harbour Lights Inn."),)}
    found, _ = call("any place to stay", "do they allow dogs", said=said, names=NAMES)
    assert found[1].document == "hotel/1"
    assert found[1].query.text.endswith("harbour lights inn")
    assert Change.PLACE in found[1].changes


def test_only_words_of_the_dialogue_pass_the_guard():
    said = {"how do i get a refill": (Said("kb-a#1", "kb-a", "Call the pharmacy at 555-0143."),)}
    _, state = call("how do i get a refill", said=said)
    assert only_from_dialogue("When does the pharmacy refill?", "and when is that", state)
    assert foreign_words("Is the refill free on 24 May?", "and when is that", state) == (
        *content_words("free may"),
        "24",
    )
    assert not only_from_dialogue("", "and when is that", state)
    assert not only_from_dialogue("what is the", "and when is that", state)


def test_no_word_is_gained_that_was_not_said():
    rng = random.Random(7)
    vocabulary = (
        "what about how and sunday adult kids a test pizza that it on for the flu one other is "
        "much no i meant same question did you say number effects side parking".split()
    )
    for _ in range(400):
        asked = [" ".join(rng.choices(vocabulary, k=rng.randint(0, 8))) for _ in range(4)]
        found, _ = call(*asked)
        allowed = {"1", *vocabulary}
        assert all(set(one.query.text.split()) <= allowed for one in found)


@pytest.mark.parametrize(
    ("question", "subject"),
    [
        ("does melatonin help with jet lag", "melatonin"),
        ("what is the advantage of docker", "docker"),
        ("how much is a vitamin d test", "vitamin d test"),
        ("what time do you open", ""),
        ("how long is a follow up visit", "follow up visit"),
        ("when was it reorganized", ""),
    ],
)
def test_the_subject_of_a_question(question, subject):
    assert subject_of(question) == subject


def test_a_state_keeps_the_last_turns_only():
    _, state = call(*(f"how much is thing{n}" for n in range(20)))
    assert [turn.subject for turn in state.turns] == [f"thing{n}" for n in range(14, 20)]
