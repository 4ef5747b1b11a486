"""How well two answers that contradict each other are told from one in other words.

On DSTC9 (https://github.com/alexa/alexa-with-dstc9-track1-dataset), where a person has put the
answer of an FAQ in other words: that agrees with it. With one number of it altered, where the FAQ
has that number too, it contradicts.

python -m bench.contradicting --data FOLDER
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from agent.insight.contradicting import Said, contradiction
from bench.data import lacking
from bench.results import write_result

DATA = "dstc9_faq_answers.jsonl"
_NUMBER = re.compile(r"(?<![\w:.,])\d{1,4}(?:\.\d\d)?(?![\d,]|\.\d)")
_KEPT = 8
"""Pairs of either kind that are told wrongly, and printed."""

Pair = tuple[str, str, str]
"""Question, answer of the FAQ, answer in other words."""


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, print and write bench/results/contradicting.json."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of the public data")
    args = parser.parse_args(argv)
    problem = lacking(args.data, (DATA,))
    if problem:
        print(problem, file=sys.stderr)
        return 2
    rows = [json.loads(line) for line in (args.data / DATA).read_text("utf-8").splitlines()]
    figures = {"data": DATA, **scored([*_agreeing(rows)], [*_altered(rows)])}
    print(json.dumps(figures, indent=2, ensure_ascii=False))
    write_result("contradicting", {k: v for k, v in figures.items() if not isinstance(v, list)})
    return 0


def scored(agreeing: Sequence[Pair], altered: Sequence[Pair]) -> dict[str, Any]:
    """How many of either are said to contradict, and some that are told wrongly."""
    accused = [(pair, why) for pair in agreeing if (why := _contradicts(pair))]
    missed = [pair for pair in altered if not _contradicts(pair)]
    return {
        "agreeing": len(agreeing),
        "accused": len(accused),
        "altered": len(altered),
        "found": len(altered) - len(missed),
        "recall": round(1 - len(missed) / max(1, len(altered)), 3),
        "accused_share": round(len(accused) / max(1, len(agreeing)), 4),
        "some_accused": [[*pair, why] for pair, why in accused[:_KEPT]],
        "some_missed": [list(pair) for pair in missed[:_KEPT]],
    }


def _contradicts(pair: Pair) -> str:
    question, old, new = pair
    return contradiction(question, Said(old, question), Said(new, question))


def _agreeing(rows: Sequence[Mapping[str, Any]]) -> Iterator[Pair]:
    """Without the agent's question that many add ("Shall I book it?")."""
    for row in rows:
        said = " ".join(
            one for one in re.split(r"(?<=[.!?])\s+", row["human_answer"]) if one[-1:] != "?"
        )
        if said:
            yield row["title"], row["body"], said


def _altered(rows: Sequence[Mapping[str, Any]]) -> Iterator[Pair]:
    """The first number that both have, some more; of a clock the hour stays one."""
    for question, body, said in _agreeing(rows):
        known = set(_NUMBER.findall(body))
        number = next((one for one in _NUMBER.findall(said) if one in known), "")
        if number and number != "24":  # "24 hours"
            other = str(int(number) % 11 + 1) if "." not in number else f"9{number}"
            alone = re.compile(rf"(?<![\w:.,]){re.escape(number)}(?![\d,]|\.\d)")
            yield question, body, alone.sub(other, said)


if __name__ == "__main__":
    sys.exit(main())
