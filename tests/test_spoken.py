import pytest

from frontdesk import CitationInSpeechError, Spoken


@pytest.mark.parametrize(
    "text",
    ["Open at 9. [kb-hours]", "[kb-hours#2]", "9 【kb-hours】", "9 ［kb-hours］", "a [1] b", "[]"],
)
def test_a_citation_cannot_be_spoken(text):
    with pytest.raises(CitationInSpeechError):
        Spoken(text)


@pytest.mark.parametrize(
    ("draft", "said"),
    [
        ("Open at 9 a.m. [kb-hours#2]", "Open at 9 a.m."),
        ("Open at 9 [kb-hours], closed at 1 [kb-hours].", "Open at 9, closed at 1."),
        ("【kb-hours】 Open.", "Open."),
        ("Nothing to strip (at all).", "Nothing to strip (at all)."),
        ("", ""),
    ],
)
def test_strip_leaves_the_words(draft, said):
    assert Spoken.strip(draft) == Spoken(said)
    assert bool(Spoken.strip(draft)) is bool(said)
