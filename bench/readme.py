"""Write the figures of ``bench/results/`` into the README; ``--check`` fails if they differ.

python -m bench.readme
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

from bench.results import RESULTS

README = RESULTS.parent.parent / "README.md"
_BLOCK = re.compile(r"(<!-- figures: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def _load(name: str) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((RESULTS / f"{name}.json").read_text("utf-8"))
    return loaded


def _machine(figures: dict[str, Any]) -> str:
    m = figures["machine"]
    return f"{m['cpu']}, {m['cores']} cores, {m['date']}, commit {m['commit']}"


def calls() -> str:
    """Latency, ours beside the baseline, one row a number of callers."""
    files = sorted(RESULTS.glob("call-*.json"), key=lambda path: int(path.stem.split("-")[1]))
    lines = [
        "| callers | side | answered | p50 ms | p95 ms | p100 ms | first turn ms | CPU s | MB |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for path in files:
        figures = _load(path.stem)
        for side in ("agent", "baseline"):
            if side in figures:
                f = figures[side]
                name = "**Frontdesk**" if side == "agent" else "stock Pipecat"
                lines.append(
                    f"| {f['calls']} | {name} | {f['answered']} of {f['turns']} | {f['p50_ms']} | "
                    f"{f['p95_ms']} | {f['p100_ms']} | {f['first_turn_ms']} | {f['cpu_s']} | "
                    f"{f['rss_mb']['after']} |"
                )
    machines = {_machine(_load(path.stem)) for path in files}
    return "\n".join([*lines, "", f"`frontdesk bench call --baseline` on {'; '.join(machines)}."])


def answers() -> str:
    """Right and wrong over the gold questions."""
    f = _load("answers")
    lines = [
        "| questions | right | wrong fact | over-refused | wrongly answered |",
        "|---|---|---|---|---|",
    ]
    for name, part in (
        ("heard from the other voices", f),
        ("heard from the held-out voice", f["held_out_voice"]),
    ):
        cells = " | ".join(
            str(part[key]) for key in ("right", "wrong_fact", "over_refused", "wrongly_answered")
        )
        lines.append(f"| {part['n']} {name} | {cells} |")
    return "\n".join([*lines, "", f"`frontdesk eval answers` on {_machine(f)}."])


def rendered(text: str) -> str:
    """The README with every figure block written anew."""
    blocks = {"calls": calls, "answers": answers}
    return _BLOCK.sub(lambda m: f"{m[1]}{blocks[m[2]]()}\n{m[3]}", text)


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
