import time

import pytest

from rag.sentences import sentence_spans, split_sentences

CASES = {
    "en": [
        "Dr. Smith is in until 5 p.m. on Monday.",
        "It costs $3.50 (cash only).",
        'A sign says "We close at 5."',
        "(Ring twice.)",
        "Are you coming?!",
        "Yes!",
        "Room No. 5 is up.",
    ],
    "hi": [
        "डॉ. शर्मा सोमवार को मिलते हैं।",
        "शुल्क रु. 500.50 है।",
        "श्री के. राजू से मिलें।",
        "क्या आप आएँगे?",
        "हाँ!",
        "“हम बंद हैं।”",
        "दूरी 3 कि.मी. है॥",
    ],
    "gu": [
        "ડૉ. પટેલ સવારે 9.30 વાગ્યે આવે છે.",
        "ફી રૂ. 500 છે.",
        "શું તમે આવશો?",
        "હા!",
    ],
    "te": [
        "డా. రావు సోమవారం ఉంటారు.",
        "ఫీజు రూ. 500.50 మాత్రమే.",
        "మీరు వస్తారా?",
        "(రెండు సార్లు నొక్కండి.)",
    ],
    "bn": [
        "ডা. রায় সোমবার আসেন।",
        "ফি ৫০০.৫০ টাকা।",
        "আপনি আসবেন?",
        "মো. রহিম আছেন।",
    ],
    "ta": [
        "டாக்டர். குமார் திங்கள் வருவார்.",
        "கட்டணம் ரூ. 500.50 மட்டும்.",
        "இது எங்கள் எண்.",
        "வருவீர்களா?",
        "எம்.ஜி.ஆர். நகர் கிளினிக் திறந்துள்ளது.",
    ],
}


@pytest.mark.parametrize("language", CASES)
def test_sentences_of_a_language(language):
    assert split_sentences(" ".join(CASES[language])) == CASES[language]


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("वह आया।वह गया।", ["वह आया।", "वह गया।"]),
        ("वह आया ।वह गया ।", ["वह आया ।", "वह गया ।"]),
        ("वह आया।”वह गया", ["वह आया।”", "वह गया"]),
        ('"Are you open?" he asked. Yes.', ['"Are you open?" he asked.', "Yes."]),
        ("Wait… what is it? Well... Now go.", ["Wait… what is it?", "Well...", "Now go."]),
        ("It was ... open. Good.", ["It was ... open.", "Good."]),
        ("1. Open the door. 2. Walk in.", ["1. Open the door.", "2. Walk in."]),
        ("Opening hours\n\nWe open at 8.", ["Opening hours", "We open at 8."]),
        ("Bring ID, e.g.\n \nParking", ["Bring ID, e.g.", "Parking"]),
        ("One\nline. Two", ["One\nline.", "Two"]),
        ("No stop at all", ["No stop at all"]),
        ("...", ["..."]),
        ("  One.  \tTwo.  ", ["One.", "Two."]),
        ("😀! 😀", ["😀!", "😀"]),
        (" \n\n ", []),
        ("", []),
    ],
)
def test_where_sentences_end(text, sentences):
    assert split_sentences(text) == sentences


@pytest.mark.parametrize(
    "text",
    [
        "  Same. Same. Same.\n\n Same! ",
        "वह आया।।वह आया।। \u00a0“ठीक?” (हाँ!)",
        *(" \t ".join(sentences) for sentences in CASES.values()),
    ],
)
def test_spans_are_exact_and_leave_out_white_space_alone(text):
    spans = sentence_spans(text)
    assert [text[start:end] for start, end in spans] == split_sentences(text)
    places = [place for span in spans for place in range(*span)]
    assert places == sorted(set(places))
    assert all(text[place].isspace() for place in set(range(len(text))) - set(places))


@pytest.mark.parametrize(
    "text", ["." * 50_000, " " * 50_000 + "x", "a. " * 20_000, "e.g. " * 10_000, '."' * 50_000]
)
def test_odd_texts_take_no_longer(text):
    start = time.perf_counter()
    assert split_sentences(text)
    assert time.perf_counter() - start < 1
