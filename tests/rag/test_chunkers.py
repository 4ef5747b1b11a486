"""Each chunker on the same texts: what must hold for all, then what each one is for."""

import itertools

import numpy as np
import pytest

from frontdesk import ConfigError
from rag.chunkers import CHUNKERS, Source, chunk
from rag.embedders import make
from rag.sentences import split_sentences
from tests.rag.table_embedder import TableEmbedder

ENGLISH = (
    "The clinic is on the second floor, next to the pharmacy. Parking is free for 2 hours.\n\n"
    "Dr. Smith sees children on Monday from 8 a.m. to 1 p.m. Bring a card. Payment is by card only."
)
HINDI = "डॉ. शर्मा सोमवार को मिलते हैं। शुल्क रु. 500.50 है। क्या आप आएँगे? कार्ड साथ लाइए।\n\nपार्किंग मुफ़्त है।"
TELUGU = "డా. రావు సోమవారం ఉంటారు. ఫీజు రూ. 500 మాత్రమే. మీరు వస్తారా? కార్డు తీసుకురండి."
TEXTS = {
    "english": ENGLISH,
    "hindi": HINDI,
    "telugu": TELUGU,
    "long": "\n\n".join([ENGLISH, HINDI, TELUGU]),
    "empty": "",
    "white space": " \n\n\t ",
    "one word": "Hello",
    "giant word": "abcdefgh" * 60,
    "giant hyphenated word": "ab-" * 300,
    "giant Hindi word": "क्लिनिक" * 60,
    "no punctuation": "open monday " * 80,
    "dandas without a space": "है।" * 40,
    "emoji": "😀👩\u200d⚕️🎉" * 30,
    "spaced emoji": "😀 🎉 " * 30,
    "stacked accents": "a" + "\u0301" * 90,
    "no-break spaces": "खुला\u00a0है\u3000आज " * 20,
    "control characters": "a\x1cb " * 40,
}


@pytest.fixture(scope="module", params=["minilm", "e5"])
def model(request):
    return make(request.param)


@pytest.mark.parametrize("tokens", [16, 64])
@pytest.mark.parametrize("name", CHUNKERS)
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_every_chunk_is_exact_and_small_enough_and_all_is_covered(text, name, tokens, model):
    source = Source(text, "hi", "row", "Fees")
    chunks = chunk(name, source, model, tokens=tokens)
    for one in chunks:
        assert one.text == text[one.start : one.end]
        assert one.text == one.text.strip()
        assert 0 < len(model.token_spans(one.embed_text)) <= tokens
    covered = {place for one in chunks for place in range(one.start, one.end)}
    assert {n for n, letter in enumerate(text) if not letter.isspace()} <= covered
    assert [c.end for c in chunks] == sorted(c.end for c in chunks)
    assert len(set(chunks)) == len(chunks) or name == "sentence_window"
    assert chunks == chunk(name, source, model, tokens=tokens)


@pytest.mark.parametrize("name", CHUNKERS)
def test_the_model_reads_every_chunk_to_its_end(name, model):
    source = Source("open " * 1000, "en", "paragraph", "")
    longest = chunk(name, source, model, tokens=100_000)[0].embed_text
    assert model.embed(longest).spans[-1][1] == len(longest)
    assert len(model.token_spans(longest)) == model.max_tokens - 8


@pytest.mark.parametrize("name", CHUNKERS)
def test_a_short_text_is_one_chunk(name, embedder):
    (one,) = chunk(name, Source("  We open at 8. ", "en", "paragraph", ""), embedder)
    assert (one.text, one.start, one.end) == ("We open at 8.", 2, 15)
    header = "Language: English. Type: paragraph.\n" if name == "metadata" else ""
    assert one.embed_text == header + "We open at 8."


def test_unknown_names_and_tiny_sizes_are_refused(embedder):
    source = Source("Hello.", "en", "paragraph", "")
    with pytest.raises(ConfigError, match="unknown chunker 'other'; choose one of: fixed, recurs"):
        chunk("other", source, embedder)
    with pytest.raises(ConfigError, match="chunks of 15 tokens are too small; take at least 16"):
        chunk("fixed", source, embedder, tokens=15)


def words_of(chunks):
    return [one.text.split() for one in chunks]


def by_words(text, name, tokens, table=None):
    """Chunks by an embedder whose tokens are words."""
    source = Source(text, "en", "paragraph", "")
    return chunk(name, source, TableEmbedder(table or {}), tokens=tokens)


def test_fixed_windows_are_equal_and_overlap_by_15_percent():
    text = " ".join(f"w{n}" for n in range(100))
    windows = words_of(by_words(text, "fixed", 20))
    assert [len(one) for one in windows] == [20, 20, 20, 20, 20, 15]
    for before, after in itertools.pairwise(windows):
        assert before[-3:] == after[:3]
        assert before[-4] not in after


def test_fixed_never_cuts_a_word(embedder):
    text = (
        "Telehealth appointments: 555-0139, 8:30 a.m.–4:45 p.m. (unbelievably electroencephalic). "
    )
    source = Source(text * 5, "en", "paragraph", "")
    chunks = chunk("fixed", source, embedder, tokens=16)
    assert len(chunks) > 5
    assert {word for words in words_of(chunks) for word in words} == set(text.split())


def test_a_cut_in_a_giant_word_keeps_vowel_signs_with_their_letters():
    chunks = chunk("fixed", Source("क्लिनिक" * 60, "hi", "row", ""), make("e5"), tokens=16)
    assert len(chunks) > 5
    assert {one.text[0] for one in chunks} <= {"क", "ल", "न"}


def test_recursive_joins_paragraphs_that_fit():
    text = "One two three.\n\nFour five six.\n \nSeven eight nine ten eleven twelve thirteen."
    text += " Fourteen fifteen sixteen."
    chunks = by_words(text, "recursive", 16)
    assert [one.text for one in chunks] == [
        "One two three.\n\nFour five six.\n \nSeven eight nine ten eleven twelve thirteen. "
        "Fourteen fifteen sixteen."
    ]
    chunks = by_words(text + " Seventeen.", "recursive", 16)
    assert [one.text for one in chunks] == [
        "One two three.\n\nFour five six.",
        text[text.index("Seven") :] + " Seventeen.",
    ]


def test_recursive_cuts_long_paragraphs_between_sentences_which_overlap_whole():
    sentences = [f"Sentence {n} has." for n in range(8)] + ["This one is a longer one."]
    chunks = by_words(" ".join(sentences), "recursive", 16)
    assert [one.text for one in chunks] == [
        " ".join(sentences[0:5]),
        " ".join(sentences[4:8]),
        " ".join(sentences[7:9]),
    ]
    # A sentence of 6 of 16 words is more than a quarter: it is not repeated.
    long = " ".join(f"Sentence {n} has six words here." for n in range(5))
    assert [len(words) for words in words_of(by_words(long, "recursive", 16))] == [12, 12, 6]


def test_recursive_cuts_a_long_sentence_between_words_without_overlap():
    text = "Short one. " + " ".join(f"w{n}" for n in range(40)) + "."
    chunks = by_words(text, "recursive", 16)
    assert [len(words) for words in words_of(chunks)] == [2, 16, 16, 8]
    assert " ".join(one.text for one in chunks) == text


def test_semantic_cuts_where_the_distance_passes_the_texts_own_percentile():
    text = "Ay one. Bee two. Sea three. Dee four. Eel five."
    near = [[1, 0], [1, 0.1], [1, 0.2], [0, 1], [0.1, 1]]
    vectors = dict(zip(split_sentences(text), near, strict=True))
    chunks = by_words(text, "semantic", 16, vectors)
    assert [one.text for one in chunks] == ["Ay one. Bee two. Sea three.", "Dee four. Eel five."]
    # A distance that is a cut there is none among larger ones.
    far = [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, -1], [0, 1, -1]]
    vectors = dict(zip(split_sentences(text), far, strict=True))
    chunks = by_words(text, "semantic", 16, vectors)
    assert [one.text for one in chunks] == ["Ay one. Bee two. Sea three.", "Dee four. Eel five."]
    level = dict(zip(split_sentences(text), [[1, 0], [0, 1], [1, 0], [0, 1], [1, 0]], strict=True))
    assert [one.text for one in by_words(text, "semantic", 16, level)] == [text]


def test_semantic_leaves_an_even_text_whole_and_bounds_it():
    even = {"Same here.": [1, 0]}
    assert len(by_words("Same here. " * 8, "semantic", 16, even)) == 1
    chunks = by_words("Same here. " * 20, "semantic", 16, even)
    assert [len(words) for words in words_of(chunks)] == [16, 16, 16]
    assert all(len(words) <= 16 for words in words_of(chunks))


def test_sentence_window_embeds_one_sentence_and_returns_two_on_each_side():
    sentences = [f"Number {n}." for n in range(7)]
    chunks = by_words(" ".join(sentences), "sentence_window", 200)
    assert [one.embed_text for one in chunks] == sentences
    assert chunks[0].text == "Number 0. Number 1. Number 2."
    assert chunks[3].text == "Number 1. Number 2. Number 3. Number 4. Number 5."
    assert chunks[6].text == "Number 4. Number 5. Number 6."


def test_metadata_puts_its_header_in_the_embedded_text_only(embedder):
    source = Source(HINDI, "hi", "row", "शुल्क")
    for one in chunk("metadata", source, embedder, tokens=64):
        assert one.embed_text == f"Language: Hindi. Type: row. Heading: शुल्क.\n{one.text}"
        assert "Language" not in one.text


def test_metadata_is_recursive_under_a_header_that_counts(embedder):
    source = Source(ENGLISH, "en", "paragraph", "")
    header = len(embedder.token_spans("Language: English. Type: paragraph."))
    with_header = chunk("metadata", source, embedder, tokens=40)
    without = chunk("recursive", source, embedder, tokens=40 - header)
    assert [one.text for one in with_header] == [one.text for one in without]
    assert len(with_header) > 1


def test_metadata_leaves_out_what_would_fill_the_chunk(embedder):
    source = Source("We open at 8.", "xx", "row", "long heading " * 30)
    (one,) = chunk("metadata", source, embedder, tokens=64)
    assert one.embed_text == "Language: xx. Type: row.\nWe open at 8."
    source = Source("We open at 8.", "en", "row " * 30, "")
    (one,) = chunk("metadata", source, embedder, tokens=16)
    assert one.embed_text == "We open at 8."


def test_token_counts_hold_at_cuts_inside_a_word(model):
    """A danda without a space: the two sides are read otherwise alone than together."""
    chunks = chunk("recursive", Source("खुला।" * 50, "hi", "row", ""), model, tokens=32)
    sizes = np.array([len(model.token_spans(one.embed_text)) for one in chunks])
    assert sizes.max() <= 32
    assert sizes[:-1].min() > 16
