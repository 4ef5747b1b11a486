"""Write the figures of ``bench/results/`` into the README; ``--check`` fails if they differ.

python -m bench.readme
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from bench import readme_checks, readme_evidence, readme_hearing, readme_retrieval, readme_wires
from bench.figures import load, measured_on, table
from bench.results import RESULTS

README = RESULTS.parent.parent / "README.md"
_BLOCK = re.compile(r"(<!-- figures: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def calls() -> str:
    """Latency, ours beside the baseline, one row a number of callers."""
    files = sorted(RESULTS.glob("call-*.json"), key=lambda path: int(path.stem.split("-")[1]))
    rows = []
    for path in files:
        figures = load(path.stem)
        for side in ("agent", "baseline"):
            if side in figures:
                f = figures[side]
                rows.append(
                    [
                        f["calls"],
                        "**Frontdesk**" if side == "agent" else "stock Pipecat",
                        f"{f['answered']} of {f['turns']}",
                        *(f[key] for key in ("p50_ms", "p95_ms", "p100_ms", "first_turn_ms")),
                        f["cpu_s"],
                        f["rss_mb"]["after"],
                    ]
                )
    head = ["callers", "side", "answered", "p50 ms", "p95 ms", "p100 ms", "first turn ms"]
    machines = dict.fromkeys(measured_on(load(path.stem)) for path in files)
    measured = f"`frontdesk bench call --baseline` on {'; '.join(machines)}."
    return "\n".join([table([*head, "CPU s", "MB"], rows), "", measured, "", _capacity()])


def _capacity() -> str:
    """More callers at once, and what one of them takes."""
    found, memory = load("capacity"), load("memory")
    rows = [
        [step["calls"], f"{step['answered']} of {step['turns']}"]
        + [step[key] for key in ("p50_ms", "p95_ms", "p100_ms", "cpu_s")]
        for step in found["steps"]
    ]
    head = ["callers", "answered", "p50 ms", "p95 ms", "p100 ms", "CPU s"]
    measured = (
        f"`frontdesk bench call --most` on {measured_on(found)}: {found['most']} callers with "
        f"every turn answered and p95 at most {found['p95_at_most_ms']:.0f} ms. One more call "
        f"takes {memory['one_more_call_mb']} MB and leaves {memory['kept_per_call_mb']} MB behind."
    )
    return "\n".join([table(head, rows), "", measured])


def answers() -> str:
    """Right and wrong over the gold questions, of both samples."""
    heard, typed = load("answers"), load("answers-typed")
    parts = (
        ("clinic", "heard from the other voices", heard),
        ("clinic", "heard from the held-out voice", heard["held_out_voice"]),
        ("clinic", "typed", typed),
        ("garage", "heard", load("answers-garage")["all_voices"]),
        ("garage", "typed", load("answers-garage-typed")),
    )
    rows = [
        [sample, f"{part['n']} {name}", *(part[key] for key in _ERRORS)]
        for sample, name, part in parts
    ]
    measured = (
        f"`frontdesk eval answers` on {measured_on(heard)}; the garage, before anything was "
        f"changed for what it gets wrong, on {measured_on(load('answers-garage'))}."
    )
    return "\n".join([table(["sample", "questions", *_ERRORS.values()], rows), "", measured])


_ERRORS = {
    "right": "right",
    "wrong_fact": "wrong fact",
    "over_refused": "over-refused",
    "wrongly_answered": "wrongly answered",
}

BLOCKS = {
    "calls": calls,
    "answers": answers,
    **readme_checks.BLOCKS,
    **readme_hearing.BLOCKS,
    **readme_retrieval.BLOCKS,
    **readme_wires.BLOCKS,
    **readme_evidence.BLOCKS,
}
"""Every figure block by the name that the README gives it."""


def rendered(text: str) -> str:
    """The README with every figure block written anew."""
    return _BLOCK.sub(lambda m: f"{m[1]}{BLOCKS[m[2]]()}\n{m[3]}", text)


def main() -> int:
    """Write, or with ``--check`` compare."""
    before = README.read_text("utf-8")
    after = rendered(before)
    if "--check" in sys.argv:
        if before != after:
            print("README figures differ from bench/results; run: python -m bench.readme")
        return int(before != after)
    Path(README).write_text(after, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
