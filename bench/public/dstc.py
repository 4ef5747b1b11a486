"""Near misses over real business FAQs: the wrong-context questions of DSTC10 track 2.

Each question is about one business and has an answer with a number; the same business's other
answers hold other numbers of the same kind. A business's answers are one knowledge base, built as
a user would build it: a folder of documents. The business's name is masked, so that it cannot
tell one passage from another. A passage is right when it is the gold one or states all of its
numbers.

The data is not part of the product (see ``read``): https://github.com/alexa/
alexa-with-dstc10-track2-dataset, Apache-2.0.
"""

from __future__ import annotations

import argparse
import csv
import json
import re
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

from bench.data import lacking
from rag import Index, Policy, make_query, open_index
from rag.answer import best_answer
from rag.embed import Embedder
from rag.entry import Recipe
from rag.floor import auc

KB_FILE, QUESTIONS_FILE = "dstc10_kb.jsonl", "dstc_wrong_context_numbers.jsonl"
OVER_REFUSAL = 0.05
MASK = "it"
# As the data itself reads its ``gold_numbers``, in every row: 7:30 and 11.40 are one number each.
_NUMBER = re.compile(r"\d+(?:[:.]\d+)*")


@dataclass(frozen=True, slots=True)
class Faq:
    """One question with its answer, the business's name masked in both."""

    id: str
    question: str
    answer: str


@dataclass(frozen=True, slots=True)
class Business:
    """One business's questions and answers."""

    id: str
    domain: str
    name: str
    faqs: tuple[Faq, ...]


@dataclass(frozen=True, slots=True)
class Asked:
    """One question about a business, and which answers are right: ``gold`` or its ``numbers``."""

    business: str
    text: str
    gold: str
    numbers: frozenset[str]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came first with everything there, and the score without any right passage.

    A score is 0 where the checks refuse.
    """

    asked: Asked
    right: bool
    other_number: bool
    score: float
    score_without: float


def businesses(data: Path, mask: str = MASK) -> list[Business]:
    """Every business of the knowledge base in folder ``data``, its name replaced by ``mask``.

    Raises:
        OSError: if the file is not there.
    """
    rows: dict[str, list[dict[str, Any]]] = {}
    for row in _rows(data / KB_FILE):
        rows.setdefault(row["id"].rpartition("/")[0], []).append(row)
    found = []
    for name, own in rows.items():
        entity = own[0]["entity"] or ""
        faqs = tuple(
            Faq(row["id"], masked(row["title"], entity, mask), masked(row["body"], entity, mask))
            for row in own
        )
        found.append(Business(name, own[0]["domain"], entity, faqs))
    return found


def questions(data: Path, names: dict[str, str], mask: str = MASK) -> list[Asked]:
    """The wrong-context questions; ``names`` maps the id of a business to its name."""
    return [
        Asked(
            row["entity_id"],
            masked(row["question"], names[row["entity_id"]], mask),
            row["gold_kb"],
            frozenset(row["gold_numbers"]),
        )
        for row in _rows(data / QUESTIONS_FILE)
    ]


def masked(text: str, name: str, mask: str) -> str:
    """``text`` with ``name``, in any capitalisation, replaced; white space folded."""
    if name:
        text = re.sub(re.escape(name), mask, text, flags=re.IGNORECASE)
    return " ".join(text.split())


def write_documents(business: Business, folder: Path, *, titles: bool) -> None:
    """The knowledge base of ``business`` as documents: one table of questions and answers.

    Without ``titles``, the answers alone, each a paragraph of its own.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if titles:
        with (folder / "faq.csv").open("w", encoding="utf-8", newline="") as file:
            table = csv.writer(file)
            table.writerow(["question", "answer"])
            table.writerows([faq.question, faq.answer] for faq in business.faqs)
        return
    paragraphs = "\n\n".join(faq.answer for faq in business.faqs)
    (folder / "faq.md").write_text(paragraphs + "\n", "utf-8")


def judge(asked: Asked, business: Business, index: Index) -> Outcome:
    """Ask one question twice: of all passages, and with every right one left out."""
    gold = next(faq.answer for faq in business.faqs if faq.id == asked.gold)
    right = frozenset(
        passage.id
        for passage in index.kb.passages
        if passage.text == gold or asked.numbers <= numbers_in(passage.text)
    )
    query = make_query(asked.text)
    first = best_answer(query, index)
    without = best_answer(query, index, Policy(leave_out=right))
    passage = first.hits[0].passage
    is_right = passage.id in right
    return Outcome(
        asked=asked,
        right=is_right,
        other_number=not is_right and bool(numbers_in(passage.text)),
        score=first.score if first.passed else 0.0,
        score_without=without.score if without.passed else 0.0,
    )


def numbers_in(text: str) -> frozenset[str]:
    """The numbers that ``text`` states; 7:30 is one, and so is 11.40."""
    return frozenset(_NUMBER.findall(text))


def run(
    data: Path,
    titles: bool,
    *,
    embedder: Embedder | None = None,
    recipe: Recipe | None = None,
    mask: str = MASK,
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, Any]:
    """Ask every question of its own business; see :func:`figures`."""
    outcomes = list(ask_all(data, titles, embedder, recipe, mask, progress))
    return {"titles": titles, **figures(outcomes)}


def ask_all(
    data: Path,
    titles: bool,
    embedder: Embedder | None = None,
    recipe: Recipe | None = None,
    mask: str = MASK,
    progress: Callable[[int, int], None] | None = None,
) -> Iterator[Outcome]:
    """Every question of the set, business by business."""
    every = {business.id: business for business in businesses(data, mask)}
    asked = questions(data, {name: business.name for name, business in every.items()}, mask)
    by_business: dict[str, list[Asked]] = {}
    for one in asked:
        by_business.setdefault(one.business, []).append(one)
    done = 0
    for name, own in by_business.items():
        with tempfile.TemporaryDirectory(prefix="frontdesk-dstc-") as folder:
            write_documents(every[name], Path(folder), titles=titles)
            index = open_index(folder, embedder, recipe)
            yield from (judge(one, every[name], index) for one in own)
        done += len(own)
        if progress:
            progress(done, len(asked))


def figures(outcomes: Sequence[Outcome], over_refusal: float = OVER_REFUSAL) -> dict[str, Any]:
    """``n``; the shares ``right_first`` and ``other_number`` (another fact's number first).

    ``refused_at_5``: the share refused of the questions whose right passages are gone, by the
    floor that refuses at most ``over_refusal`` of the same questions with everything there; what
    it refuses of these is ``over_refusal``. ``auc``: the area under the curve of the two scores.
    """
    score = np.array([one.score for one in outcomes])
    without = np.array([one.score_without for one in outcomes])
    floor = float(np.quantile(score, over_refusal, method="lower"))
    return {
        "n": len(outcomes),
        "businesses": len({one.asked.business for one in outcomes}),
        "right_first": _share(one.right for one in outcomes),
        "other_number": _share(one.other_number for one in outcomes),
        "refused_at_5": _share(without < floor),
        "over_refusal": _share(score < floor),
        "floor": round(floor, 4),
        "auc": round(auc(score, without), 4),
    }


def _share(values: Iterable[bool]) -> float:
    return round(float(np.mean([*values])), 4)


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the figures; exit code 2 where the data is missing."""
    parser = argparse.ArgumentParser(prog="python -m bench.public.dstc", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with the data files")
    parser.add_argument("--titles", action="store_true", help="index the questions too")
    parser.add_argument("--json", action="store_true", help="print JSON")
    chosen = parser.parse_args(arguments)
    if missing := lacking(chosen.data, (KB_FILE, QUESTIONS_FILE)):
        print(missing)
        return 2
    with tqdm(unit="question", disable=not sys.stderr.isatty()) as bar:

        def progress(done: int, total: int) -> None:
            bar.total, bar.n = total, done
            bar.refresh()

        found = run(chosen.data, chosen.titles, progress=progress)
    if chosen.json:
        print(json.dumps(found, indent=2))
    else:
        print("\n".join(f"{name:<14}{value}" for name, value in found.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
