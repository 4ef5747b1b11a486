"""The questions kept beside an index."""

from dataclasses import replace

from rag.expand.kept import FILE, Kept
from rag.types import Passage

ONE = Passage("a#1", "a", "Pool", "The pool is open.", 0, 17, "")
TWO = replace(ONE, id="a#2", text="The sauna is closed.")


def test_read_back_by_text_and_model(tmp_path):
    kept = Kept(tmp_path, "m")
    assert kept.of(ONE) is None
    kept.add(ONE, ["can i swim"])
    kept.add(TWO, ["is the sauna open"])
    again = Kept(tmp_path, "m")
    assert again.of(replace(ONE, id="elsewhere#7", start=3)) == ("can i swim",)
    assert again.of(TWO) == ("is the sauna open",)
    for other in ({"text": "It is open."}, {"heading": "Spa"}, {"question": "Open?"}):
        assert again.of(replace(ONE, **other)) is None
    assert Kept(tmp_path, "n").of(ONE) is None


def test_each_text_is_missing_once(tmp_path):
    kept = Kept(tmp_path, "m")
    kept.add(TWO, ["is the sauna open"])
    assert [p.text for p in kept.missing([ONE, replace(ONE, id="b#1"), TWO])] == [ONE.text]


def test_a_line_cut_short_counts_as_none_and_spoils_no_other(tmp_path):
    Kept(tmp_path, "m").add(ONE, ["can i swim"])
    with (tmp_path / FILE).open("a", encoding="utf-8") as file:
        file.write('[]\n{"passage": "x", "model": "m"}\n{"passage": "y", "mod')
    kept = Kept(tmp_path, "m")
    assert kept.of(ONE) == ("can i swim",)
    kept.add(TWO, ["is the sauna open"])
    assert Kept(tmp_path, "m").of(TWO) == ("is the sauna open",)


def test_old_ones_go_once_they_are_the_most(tmp_path):
    kept = Kept(tmp_path, "m")
    Kept(tmp_path, "n").add(ONE, ["of another model"])
    kept = Kept(tmp_path, "m")
    gone = [replace(ONE, text=f"Notice {n}.") for n in range(3)]
    for passage in (ONE, *gone[:2]):
        kept.add(passage, ["what is new"])
    kept.drop_old([ONE])
    assert Kept(tmp_path, "m").of(gone[0]) == ("what is new",)
    kept.add(gone[2], ["what is new"])
    kept.drop_old([ONE])
    left = Kept(tmp_path, "m")
    assert [left.of(passage) for passage in gone] == [None] * 3
    assert left.of(ONE) == ("what is new",)
    assert Kept(tmp_path, "n").of(ONE) == ("of another model",)
    assert [path.name for path in tmp_path.iterdir()] == [FILE]
