"""All public sets whose files are in a folder, one after the other.

python -m bench.public DIR            # those that are there
python -m bench.public DIR xquad covid
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tqdm import tqdm

from bench.public import (
    claims,
    clinc,
    covid,
    dstc,
    follow_ups,
    speech,
    spoken_forms,
    stackfaq,
    verifier,
    xquad,
)
from bench.public.rows import table
from bench.results import write_result
from rag.embed import default_embedder

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class DataSet:
    """What a set needs, how it is run, and how its figures are printed."""

    files: tuple[str, ...]
    run: Callable[..., dict[str, Any]]
    printed: Callable[[dict[str, Any]], str]


def main(argv: Sequence[str] | None = None) -> int:
    """Run them, print a table each, and write ``bench/results/public-NAME.json``."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.public",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("data", type=Path, help="folder with the data sets, each a .jsonl file")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(SETS)}")
    parser.add_argument("--no-save", action="store_true", help="do not write bench/results/")
    args = parser.parse_args(argv)
    unknown = [name for name in args.names if name not in SETS]
    if unknown:
        parser.error(f"unknown set {unknown[0]!r}; choose of: {', '.join(SETS)}")
    for name in args.names or SETS:
        one = SETS[name]
        missing = [file for file in one.files if not (args.data / file).is_file()]
        if missing:
            print(f"{name}: left out, {args.data} has no {missing[0]}", file=sys.stderr)
            continue
        with tqdm(desc=name, unit="question", disable=not sys.stderr.isatty()) as bar:

            def report(done: int, total: int, bar: tqdm[None] = bar) -> None:
                bar.total = total
                bar.update(done - bar.n)

            figures = one.run(args.data, progress=report)
        print(one.printed(figures))
        if not args.no_save:
            write_result(f"public-{name}", json.loads(json.dumps(figures, default=asdict)))
    return 0


def _near_misses(data: Path, *, progress: Progress) -> dict[str, Any]:
    """DSTC10 with the answers alone, and with their questions too."""
    return {
        "bodies": dstc.run(data, False, progress=lambda n, all_: progress(n, 2 * all_)),
        "titles": dstc.run(data, True, progress=lambda n, all_: progress(n + all_, 2 * all_)),
    }


def _near_misses_printed(figures: dict[str, Any]) -> str:
    names = [name for name in figures["bodies"] if name != "titles"]
    rows = [[title, *(found[name] for name in names)] for title, found in figures.items()]
    return table(("DSTC10 near misses", *names), rows)


def _wrong_right_numbers(data: Path, *, progress: Progress) -> dict[str, Any]:
    """The check for the wrong right number, which shows its own progress."""
    return verifier.run(verifier.pairs(data), default_embedder())


SETS = {
    "xquad": DataSet(xquad.FILES, xquad.run, xquad.printed),
    "stackfaq": DataSet(stackfaq.FILES, stackfaq.run, stackfaq.printed),
    "covid": DataSet(covid.FILES, covid.run, covid.printed),
    "clinc": DataSet(clinc.FILES, clinc.run, clinc.printed),
    "dstc": DataSet(
        (dstc.KB_FILE, dstc.QUESTIONS_FILE),
        _near_misses,
        _near_misses_printed,
    ),
    "follow_ups": DataSet(follow_ups.FILES, follow_ups.run, follow_ups.printed),
    "verifier": DataSet(verifier.FILES, _wrong_right_numbers, verifier.printed),
    "claims": DataSet(claims.FILES, claims.run, claims.printed),
    "speech": DataSet(speech.FILES, speech.run, speech.printed),
    "spoken_forms": DataSet(spoken_forms.FILES, spoken_forms.run, spoken_forms.printed),
}


if __name__ == "__main__":
    sys.exit(main())
