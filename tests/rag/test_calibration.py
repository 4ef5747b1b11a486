import json

import pytest

from frontdesk import KnowledgeBaseError
from rag.binomial import at_most, least_alpha, most_allowed, needed, upper
from rag.calibration import Calibration, Rate, dump, for_folder, read
from tests.rag.shop_kb import floors


def test_rates_have_wilson_intervals():
    assert Rate.of(0, 0) == Rate(0.0, 0, 0.0, 1.0)
    # Newcombe, Statistics in Medicine 17 (1998), table I, method 3: 81 of 263.
    assert Rate.of(81, 263) == Rate(0.308, 263, 0.2553, 0.3662)
    assert Rate.of(0, 20).low == 0.0


def test_at_most():
    assert at_most(0, 3, 0.5) == pytest.approx(0.125)
    assert at_most(1, 3, 0.5) == pytest.approx(0.5)
    assert at_most(3, 3, 0.5) == 1.0
    assert (at_most(-1, 3, 0.5), at_most(0, 3, 0.0), at_most(2, 3, 1.0)) == (0.0, 1.0, 0.0)
    assert at_most(4000, 10000, 0.4) == pytest.approx(0.5, abs=0.01)


def test_the_exact_bound():
    # Newcombe, table I, method 5 (Clopper-Pearson, two-sided 95 %): 81 of 263, 15 of 148, 1 of 29.
    assert upper(81, 263, 0.975) == pytest.approx(0.3676, abs=5e-5)
    assert upper(15, 148, 0.975) == pytest.approx(0.1617, abs=5e-5)
    assert upper(1, 29, 0.975) == pytest.approx(0.1776, abs=5e-5)
    assert upper(0, 29, 0.95) == pytest.approx(1 - 0.05 ** (1 / 29))
    assert (upper(5, 5, 0.95), upper(0, 0, 0.95)) == (1.0, 1.0)


@pytest.mark.parametrize(
    ("n", "allowed"), [(28, -1), (29, 0), (45, 0), (46, 1), (60, 1), (61, 2), (71, 2), (100, 4)]
)
def test_how_many_may_be_let_through(n, allowed):
    """Wilks' sample sizes for a tenth at 95 %: 29, 46, 61, …"""
    assert most_allowed(n, 0.1, 0.95) == allowed
    assert upper(allowed + 1, n, 0.95) > 0.1
    assert allowed < 0 or upper(allowed, n, 0.95) <= 0.1


@pytest.mark.parametrize(
    ("alpha", "confidence", "n"),
    [(0.1, 0.95, 29), (0.05, 0.95, 59), (0.01, 0.99, 459), (0.5, 0.5, 1)],
)
def test_how_many_it_takes(alpha, confidence, n):
    assert needed(alpha, confidence) == n
    assert least_alpha(n, confidence) <= alpha + 1e-12
    assert n == 1 or least_alpha(n - 1, confidence) > alpha
    assert least_alpha(0, confidence) == 1.0


def test_floors_survive_a_file(tmp_path):
    kinds = {"over_refusal": {"core": Rate.of(1, 10)}, "wrongly_answered": {"": Rate.of(0, 3)}}
    made = floors("e", kinds=kinds)
    (tmp_path / "floors.json").write_text(dump({"en": made, "hi": floors("f")}), "utf-8")
    assert read(tmp_path / "floors.json") == {"en": made, "hi": floors("f")}
    assert isinstance(made, Calibration)


@pytest.mark.parametrize("value", [-0.1, 1.5, float("nan"), "0.4", None])
def test_floors_that_are_none_are_refused(tmp_path, value):
    table = json.loads(dump({"en": floors("e")}))
    table["en"]["floor"] = value
    (tmp_path / "floors.json").write_text(json.dumps(table), "utf-8")
    with pytest.raises(KnowledgeBaseError, match=r"hold floors \(floor is .* run: frontdesk kb"):
        read(tmp_path / "floors.json")


@pytest.mark.parametrize("text", ["", "[]", '{"en": {}}', '{"en": 3}'])
def test_a_file_that_holds_none(tmp_path, text):
    (tmp_path / "floors.json").write_text(text, "utf-8")
    with pytest.raises(KnowledgeBaseError, match=r"does not hold floors .* kb calibrate$"):
        read(tmp_path / "floors.json")


def test_the_two_floors_of_an_earlier_version_are_refused(tmp_path):
    table = json.loads(dump({"en": floors("e")}))
    table["en"]["support_floor"] = 0.5
    (tmp_path / "floors.json").write_text(json.dumps(table), "utf-8")
    with pytest.raises(KnowledgeBaseError, match=r"two floors .* earlier version.*kb calibrate"):
        read(tmp_path / "floors.json")


def test_a_folder_has_its_own_floors_or_none(tmp_path):
    assert for_folder(tmp_path) == {}
    (tmp_path / "floors.json").write_text(dump({"en": floors("e", 0.2)}), "utf-8")
    assert for_folder(tmp_path) == {"en": floors("e", 0.2)}
