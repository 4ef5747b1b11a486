"""The figure block about hearing: words, digits, pauses, values read aloud and understood back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bench.figures import load, measured_on, table


def hearing() -> str:
    """What the recogniser, the turn logic and the reading of values are measured at."""
    speech, heard, cut = load("public-speech"), load("speech-second"), load("cutoffs")
    streaming, *_ = load("streaming")["measured"]
    forms = load("public-spoken_forms")
    digits = speech["digits"]["wrong_percent"]
    paused = cut["total"]
    rows: list[list[object]] = [
        ["word errors, real prompts", f"{speech['bias']['none']['prompts_wer']} %",
         f"{speech['bias']['clinic']['prompts_wer']} % leaning towards the clinic's words"],
        ["single digits heard wrong", f"{digits['digits']} %",
         f"{digits['none']} % where none was asked for"],
        *_voices(heard),
        ["first interim transcript after the first sound, p50",
         f"{streaming['first_interim']['p50_ms']:.0f} ms", ""],
        [f"turns with a pause of 0.7 s inside, cut ({paused['n']})",
         f"{100 * paused['cut']:.1f} %", f"{100 * paused['not_taken_back']:.1f} % not taken back"],
        *_forms(forms),
    ]  # fmt: skip
    measured = (
        f"`python -m bench.public DIR speech spoken_forms`, `frontdesk eval speech --second`, "
        f"`python -m bench.streaming`, `python -m bench.cutoffs` on {measured_on(heard)}."
    )
    return "\n".join([table(["", "", "beside it"], rows), "", measured])


def _voices(heard: dict[str, Any]) -> list[list[object]]:
    rows: list[list[object]] = []
    for key, title in (("others", "six voices"), ("held_out_voice", "the held-out voice")):
        part = heard[key]
        first, found = part["answers"]["heard"], part["found_first"]
        second = part["answers"]["with_second_opinion"]
        rows += [
            [f"right passage first, {title}", f"{found['second_percent']} %",
             f"{found['heard_percent']} % without a second opinion, "
             f"{found['written_percent']} % as written"],
            [f"right answers of {part['n']}, {title}", second["right"],
             f"{first['right']} without; wrong facts {second['wrong_fact']}, "
             f"without {first['wrong_fact']}"],
        ]  # fmt: skip
    return rows


def _forms(forms: dict[str, Any]) -> list[list[object]]:
    """What is said on telephones, in English, of the half not worked on: ours beside wetext's."""
    rows: list[list[object]] = []
    for task, title in (("tn", "values read aloud right"), ("itn", "spoken values understood")):
        every = [
            one["held_out"]
            for one in forms["classes"]
            if (one["language"], one["task"]) == ("en", task) and one["class"] in _SAID
        ]
        n = sum(one["n"] for one in every)
        ours, theirs = (sum(one.get(way, 0) for one in every) for way in ("ours", "wetext"))
        rows.append([f"{title} ({n})", f"{100 * ours / max(n, 1):.0f} %",
                     f"{100 * theirs / max(n, 1):.0f} % by wetext"])  # fmt: skip
    return rows


_SAID = frozenset("money time date telephone cardinal ordinal measure".split())

BLOCKS: dict[str, Callable[[], str]] = {"hearing": hearing}
