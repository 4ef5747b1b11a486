"""The check for the wrong right number, over real business FAQs.

Each wrong-context question of DSTC10 track 2 (``bench.public.dstc``) with two answers of the same
business as the only passages: the right one, and one that states another fact's numbers. Both stand
in the passages, so a check of numbers alone accepts both. Measured are how often a check accepts
the right answer, and how often it rejects the other one. Nothing is tuned on these rows.

python -m bench.public.verifier --data DIR             # all checks
python -m bench.public.verifier --data DIR --no-model  # those that need no embedder
python -m bench.public.verifier --made FILE...         # over businesses as tools/businesses has
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter_ns
from typing import Any

import numpy as np
from tqdm import tqdm

from bench.public import dstc
from bench.public.rows import read as read_rows
from bench.public.rows import table
from bench.results import write_result
from rag import Index, make_query, open_index
from rag import answerability as scoring
from rag.calibration import Rate
from rag.embed import Embedder
from rag.facts import Fact, fits, read, slots, stands
from rag.sentences import split_sentences
from rag.types import Hit
from rag.verify import missing_numbers

FILES = (dstc.KB_FILE, dstc.QUESTIONS_FILE)
CHECKS = ("numbers", "rules", "words", "answerability")
"""Numbers alone; the rules, that see one answer; the words of both; and with the embedder too."""
_MADE_OTHERS = 4  # of each question's: those that stand nearest to the right one on the page


@dataclass(frozen=True, slots=True)
class Pair:
    """A question, the text that answers it, and one that answers another question."""

    question: str
    gold: str
    other: str


def pairs(data: Path) -> list[Pair]:
    """The pairs of folder ``data``, the business's name masked.

    Raises:
        OSError: if a file is not there.
    """
    every = {business.id: business for business in dstc.businesses(data)}
    asked = dstc.questions(data, {name: one.name for name, one in every.items()})
    found = []
    for one, row in zip(asked, read_rows(data / dstc.QUESTIONS_FILE), strict=True):
        name = every[one.business].name
        gold, other = (
            dstc.masked(row[key], name, dstc.MASK) for key in ("gold_body", "distractor_body")
        )
        found.append(Pair(one.text, gold, other))
    return found


def made_pairs(files: Iterable[Path]) -> Iterator[Pair]:
    """Pairs of made-up businesses: answers that state a number, with others that do."""
    for row in (row for file in files for row in read_rows(file)):
        texts = [" ".join(one["text"].split()) for one in row["passages"]]
        said = [(n, one) for n, text in enumerate(texts) for one in split_sentences(text)]
        said = [(n, one) for n, one in said if dstc.numbers_in(one)]
        for number, passage in enumerate(row["passages"]):
            for ask in passage["asks"]:
                gold = " ".join(ask["a"].split())
                others = [(abs(n - number), s) for n, s in said if s not in gold and gold not in s]
                others.sort(key=lambda one: one[0])
                if dstc.numbers_in(gold):
                    yield from (Pair(ask["q"], gold, s) for _, s in others[:_MADE_OTHERS])


def facts_of(text: str) -> tuple[Fact, ...]:
    """The facts of every sentence of ``text``."""
    return tuple(fact for sentence in split_sentences(text) for fact in read(sentence))


def accepted(pair: Pair, embedder: Embedder | None) -> dict[str, tuple[bool, bool]]:
    """What each check makes of the right answer and of the other one."""
    asked = slots(pair.question)
    both = [facts_of(pair.gold), facts_of(pair.other)]
    texts = f"{pair.gold} {pair.other}"
    found = {
        "numbers": [not missing_numbers(text, texts) for text in (pair.gold, pair.other)],
        "rules": [fits(asked, facts).ok for facts in both],
        "words": [stands(asked, number, both).ok for number in (0, 1)],
    }
    if embedder:
        close = closeness(pair, embedder)
        found["answerability"] = [stands(asked, n, both, closeness=close).ok for n in (0, 1)]
    return {name: (one[0], one[1]) for name, one in found.items()}


def closeness(pair: Pair, embedder: Embedder) -> list[float]:
    """The answerability of both answers, in log-odds, with nothing else in the index."""
    with tempfile.TemporaryDirectory(prefix="frontdesk-verifier-") as folder:
        Path(folder, "faq.md").write_text(f"{pair.gold}\n\n{pair.other}\n", "utf-8")
        index = open_index(folder, embedder)
        return _closeness(pair, index)


def _closeness(pair: Pair, index: Index) -> list[float]:
    query = make_query(pair.question)
    asked = index.embedder.embed(query.text, query=True)
    passages = index.kb.passages
    hits = [Hit(one, index.cosine(asked.vector, n)) for n, one in enumerate(passages)]
    scores = scoring.score(query, asked, hits, index)
    found = []
    for text in (pair.gold, pair.other):
        own = [v for v, hit in zip(scores.values, scores.hits, strict=True)
               if passages[hit].text in text or text in passages[hit].text]  # fmt: skip
        value = min(max(max(own, default=0.5), 1e-6), 1 - 1e-6)
        found.append(math.log(value / (1 - value)))
    return found


def figures(outcomes: Sequence[dict[str, tuple[bool, bool]]]) -> dict[str, Any]:
    """By check: the shares of right answers accepted and of others rejected, with 95 % bounds."""
    n = len(outcomes)
    return {
        name: {
            "gold_accepted": Rate.of(sum(one[name][0] for one in outcomes), n),
            "other_rejected": Rate.of(sum(not one[name][1] for one in outcomes), n),
        }
        for name in outcomes[0]
    }


def cost(some: Sequence[Pair], candidates: int = 16) -> dict[str, float]:
    """Milliseconds: to read a sentence, and to check one among ``candidates`` that were read.

    Every sentence and question is new; percentiles are observed values.
    """
    texts = list(dict.fromkeys(one for pair in some for one in (pair.gold, pair.other)))
    sentences = list(dict.fromkeys(one for text in texts for one in split_sentences(text)))
    reading, checking, facts = [], [], []
    for number, sentence in enumerate(sentences):
        start = perf_counter_ns()
        # Beside another question than it had, so that nothing is remembered of it.
        facts.append(read(sentence, beside=f"{number}"))
        reading.append((perf_counter_ns() - start) / 1e6)
    for number, question in enumerate(dict.fromkeys(pair.question for pair in some)):
        first = number % max(1, len(facts) - candidates)
        start = perf_counter_ns()
        stands(slots(f"{question} {number}"), 0, facts[first : first + candidates])
        checking.append((perf_counter_ns() - start) / 1e6)
    return {
        f"{name}_p{share}_ms": float(np.percentile(times, share, method="lower"))
        for name, times in (("read", reading), ("check", checking))
        for share in (50, 95)
    }


def run(some: Sequence[Pair], embedder: Embedder | None) -> dict[str, Any]:
    """The figures of all checks, and the cost."""
    shown = tqdm(some, unit="question", disable=not sys.stderr.isatty())
    outcomes = [accepted(pair, embedder) for pair in shown]
    return {"n": len(outcomes), "checks": figures(outcomes), "cost": cost(some)}


def printed(found: dict[str, Any]) -> str:
    """The figures as a table."""
    rows = [[name, *rates.values()] for name, rates in found["checks"].items()]
    costs = ", ".join(f"{name} {value:.3f}" for name, value in found["cost"].items())
    return f"{table(('check', 'gold accepted', 'other rejected'), rows)}\n{costs}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the figures; exit code 2 where the data is missing."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.public.verifier",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--data", type=Path, help="folder with the data files")
    parser.add_argument("--made", type=Path, nargs="+", help="files of made-up businesses")
    parser.add_argument("--no-model", action="store_true", help="leave the embedder out")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--save", action="store_true", help="write bench/results/")
    chosen = parser.parse_args(arguments)
    if not chosen.made and not chosen.data:
        parser.error("give --data or --made")
    if chosen.data and any(not (chosen.data / name).is_file() for name in FILES):
        print(f"{chosen.data} lacks {' or '.join(FILES)}; give their folder with --data DIR")
        return 2
    embedder = None
    if not chosen.no_model:
        from rag.embed import default_embedder

        embedder = default_embedder()
    found = run(list(made_pairs(chosen.made)) if chosen.made else pairs(chosen.data), embedder)
    print(json.dumps(found, indent=2, default=asdict) if chosen.json else printed(found))
    if chosen.save:
        plain = json.loads(json.dumps(found, default=asdict))
        write_result("verifier-made" if chosen.made else "public-verifier", plain)
    return 0


if __name__ == "__main__":
    sys.exit(main())
