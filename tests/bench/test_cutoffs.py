"""Callers who pause, made and judged: on hand-made evidence, no model runs."""

from dataclasses import replace

import numpy as np
import pytest

from agent.turns import TurnPolicy
from bench import pauses
from bench.cutoffs import Judge, areas, figures, fitted, run
from bench.listening import Ears, Pause, Watched, keep, kept
from bench.recordings import AUDIO
from telephony.recording import load_audio

POLICY = TurnPolicy(settle_ms=200, unsure_ms=850, dangling_ms=1200, complete_probability=0.65)
WHOLE = "is there parking nearby"
seeded = np.random.default_rng


def paused(finished: float, text: str = WHOLE, probability: float = 0.001) -> Watched:
    """A caller who begins at 1 s, pauses from 2 to 2.7 s, and ends at 4 s.

    ``finished`` is what the recognition makes of the pause, ``probability`` the turn model.
    """
    return Watched(
        kind="paused",
        name="a",
        kb="clinic",
        voice="joe",
        said=text,
        gaps_ms=((2000.0, 2700.0),),
        end_ms=4000.0,
        starts_ms=(1100.0, 2740.0),
        pauses=(
            Pause(2100.0, 2036.0, 1500.0, text, finished, probability),
            Pause(4100.0, 4036.0, 3500.0, f"{text} for bicycles", 0.95, 0.95),
        ),
    )


def test_a_turn_that_ends_inside_the_pause_is_cut_and_taken_back():
    outcome = run(paused(0.95), POLICY)
    assert outcome is not None
    assert outcome.cut
    assert outcome.ended_ms == 2100 - 96 + 200
    assert outcome.heard
    assert outcome.taken_back  # the caller goes on 486 ms after the voice can begin
    late = replace(paused(0.95), starts_ms=(1100.0, 2900.0))
    assert run(late, POLICY).taken_back is False


def test_patience_outlasts_the_pause():
    outcome = run(paused(0.3), POLICY)
    assert outcome is not None
    assert not outcome.cut
    assert outcome.wait_ms == pytest.approx(204, abs=60)


def test_a_judgement_that_comes_after_the_caller_goes_on_is_never_told():
    hasty = replace(paused(0.95), starts_ms=(1100.0, 2140.0), gaps_ms=((2000.0, 2100.0),))
    outcome = run(hasty, POLICY)
    assert outcome is not None
    assert not outcome.cut


def test_the_recogniser_judges_unless_the_turn_model_is_asked_for():
    ends, goes_on = 0.95, 0.001
    assert run(paused(ends, probability=goes_on), POLICY).cut
    assert not run(paused(ends, probability=goes_on), POLICY, Judge.TURN_MODEL).cut
    assert run(paused(goes_on, probability=ends), POLICY, Judge.TURN_MODEL).cut


def test_the_recogniser_hears_up_to_the_first_silent_window(tmp_path):
    speech = load_audio(AUDIO / "joe" / "q051.flac")
    trial = pauses._trial("whole", "a", "clinic", "joe", [speech], speech[:720], seeded(2))
    watched = Ears().watch(trial)
    end = watched.pauses[-1]
    assert end.text == "What's the number for the pharmacy line?"
    assert 40 <= end.at_ms - end.begun_ms <= 80
    assert end.finished > 0.5
    keep([watched], tmp_path / "evidence.jsonl")
    assert kept(tmp_path / "evidence.jsonl") == [watched]


def test_shares_and_waits():
    whole = replace(
        paused(0.95),
        kind="whole",
        gaps_ms=(),
        starts_ms=(1100.0,),
        pauses=(Pause(4100.0, 4036.0, 3500.0, WHOLE, 0.95, 0.95),),
    )
    found = figures([paused(0.95), paused(0.3), whole], POLICY)
    assert found["total"]["n"] == 2
    assert found["clinic"]["paused"]["cut"] == 0.5
    assert found["clinic"]["wait_ms"]["p50_ms"] == 204.0
    assert found["garage"]["paused"]["n"] == 0


def test_the_fit_trusts_what_tells_ends_from_pauses():
    ends = [replace(paused(p), kb="garage") for p in (0.1, 0.2, 0.3, 0.4)]
    weights = fitted(ends)
    assert weights["sound"] > 0.5
    assert fitted([replace(one, kb="clinic") for one in ends], "clinic") == weights


def test_a_pause_is_put_where_it_says():
    speech = np.full(8000, 8000, np.int16)
    line = seeded(1).normal(0, 20, 720).astype(np.int16)
    rng = seeded(2)
    trial = pauses._trial("paused", "a", "", "x", [speech, speech], line, rng)
    assert trial.gaps_ms == ((2000.0, 2700.0),)
    assert trial.end_ms == 3700.0
    inside = trial.audio[2010 * 8 : 2690 * 8].astype(float)
    assert 10 < np.sqrt(np.mean(inside**2)) < 40
    assert trial.audio[1900 * 8] == trial.audio[2800 * 8] == 8000


def test_areas_compare_the_judges():
    told = [replace(paused(p, probability=0.99), kb="garage") for p in (0.1, 0.2, 0.3, 0.4)]
    found = areas(told, "garage")
    assert found["ends"] == found["pauses"] == 4
    assert found["recogniser"] == 1.0
    assert found["turn model"] == 0.0
