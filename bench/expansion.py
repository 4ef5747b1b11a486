"""What questions made from the passages are worth: ranking by the closest key, with and without.

python -m bench.expansion --data DIR

Over the businesses of DSTC10 track 2 in which nobody asks a wrong-context question, each one's
answers as a knowledge base, its own questions asked. The rules were chosen by the figures of every
second business; those of the others are held out. The sample clinic's questions, as typed, are the
third set; the rules were written with it in view. The embedder is MiniLM as it was published: it
was tuned on some of these businesses.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

from bench.data import lacking
from bench.public.dstc import KB_FILE, QUESTIONS_FILE, Business, businesses
from bench.public.rows import read, table
from bench.results import write_result
from rag import documents, questions
from rag.calibration import SAMPLE_KB
from rag.embed import Embedder, Vectors
from rag.embedders.minilm import MiniLM
from rag.expand import made_questions
from rag.floor import auc
from rag.rewrite import rewrite
from rag.sentences import split_sentences
from rag.types import Passage

FILES = (KB_FILE, QUESTIONS_FILE)
Case = tuple[Sequence[Passage], Sequence[tuple[str, frozenset[int]]]]
"""The passages of one business; and its questions, each with the numbers of the right passages."""
Make = Callable[[Passage], Sequence[str]]


def run(
    data: Path,
    kb: Path = SAMPLE_KB,
    every: int = 1,
    *,
    embedder: Embedder | None = None,
    make: Make = made_questions,
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, Any]:
    """Figures of each set; of the businesses, of one in ``every``."""
    scored = {row["entity_id"] for row in read(data / QUESTIONS_FILE)}
    others = [one for one in businesses(data) if one.id not in scored]
    sets = {
        "chosen on": [_of_business(one) for one in others[::2][::every]],
        "held out": [_of_business(one) for one in others[1::2][::every]],
        "sample clinic": [_of_folder(kb)],
    }
    vectors, total, done = _Known(embedder or MiniLM(tuned=False)), sum(map(len, sets.values())), 0
    found: dict[str, Any] = {}
    for name, cases in sets.items():
        counted = _Counts()
        for case in cases:
            counted.add(case, make, vectors)
            done += 1
            if progress:
                progress(done, total)
        found[name] = counted.figures()
    return found


def printed(found: Mapping[str, Mapping[str, Any]]) -> str:
    """The figures as a table, without the keys and with them."""
    head = ("questions made", "businesses", "asked", "made a passage")
    rows = [
        [name, one["businesses"], one["questions"], one["made_a_passage"]]
        + [one[keys][figure] for figure in ("right_first", "auc") for keys in ("without", "with")]
        for name, one in found.items()
    ]
    return table((*head, "right first", "with", "auc", "with"), rows)


class _Known:
    """Vectors of texts, each embedded once: businesses say and are asked the same."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._vectors: dict[tuple[str, bool], Vectors] = {}

    def of(self, texts: Sequence[str], *, query: bool) -> Vectors:
        """One row (dim,) a text."""
        new = [text for text in dict.fromkeys(texts) if (text, query) not in self._vectors]
        keys = [(text, query) for text in new]
        self._vectors.update(zip(keys, self._embedder.encode(new, query=query), strict=True))
        rows = [self._vectors[text, query] for text in texts]
        return np.array(rows, np.float32).reshape(-1, self._embedder.dim)


class _Counts:
    """What came of the questions of some businesses."""

    def __init__(self) -> None:
        self._businesses = self._passages = self._made = self._asked = 0
        self._first = {"without": 0, "with": 0}
        self._scores: dict[str, list[tuple[float, float]]] = {"without": [], "with": []}

    def add(self, case: Case, make: Make, vectors: _Known) -> None:
        """Ask a business everything, of its statements alone, and with their made questions."""
        passages, asked = case
        made = [list(make(passage)) for passage in passages]
        queries = vectors.of([text for text, _ in asked], query=True)
        plain = _closest(queries, vectors, [_statements(one) for one in passages], query=False)
        both = np.maximum(plain, _closest(queries, vectors, made, query=True))
        self._businesses += 1
        self._passages += len(passages)
        self._made += sum(map(len, made))
        self._asked += len(asked)
        for name, close in (("without", plain), ("with", both)):
            for row, (_, right) in zip(close, asked, strict=True):
                self._first[name] += int(row.argmax()) in right
                rest = np.delete(row, sorted(right))
                self._scores[name].append((float(row.max()), float(rest.max(initial=-1.0))))

    def figures(self) -> dict[str, Any]:
        """``right_first``: the share of questions whose right passage is the closest.

        ``auc``: the area under the curve of the best score with everything there, against that
        without any right passage.
        """
        return {
            "businesses": self._businesses,
            "questions": self._asked,
            "passages": self._passages,
            "made_a_passage": round(self._made / self._passages, 2),
            **{
                name: {
                    "right_first": round(self._first[name] / self._asked, 4),
                    "auc": round(auc(*np.array(self._scores[name]).T), 4),
                }
                for name in self._first
            },
        }


def _closest(
    queries: Vectors, vectors: _Known, keys: Sequence[Sequence[str]], *, query: bool
) -> Vectors:
    """The cosine of each passage's closest key to each query, -1 without one: (queries, keys)."""
    found = np.full((len(queries), len(keys)), -1.0, np.float32)
    for number, texts in enumerate(keys):
        if texts:
            found[:, number] = (queries @ vectors.of(texts, query=query).T).max(axis=1)
    return found


def _of_business(one: Business) -> Case:
    passages = [
        Passage(f"faq#{n}", "faq", "", faq.answer, 0, 0, "") for n, faq in enumerate(one.faqs)
    ]
    asked = []
    for faq in one.faqs:
        right = frozenset(n for n, other in enumerate(one.faqs) if other.answer == faq.answer)
        asked.append((rewrite(faq.question), right))
    return passages, asked


def _of_folder(folder: Path) -> Case:
    kb = documents.load(folder)
    numbers = {passage.id: n for n, passage in enumerate(kb.passages)}
    rows = questions.read(folder / questions.QUESTIONS_FILE)
    typed = questions.asked(rows, [questions.TYPED], fillers=kb.fillers)
    return kb.passages, [
        (one.query.text, frozenset(numbers[name] for name in one.question.relevant))
        for one in typed
        if one.question.relevant
    ]


def _statements(passage: Passage) -> list[str]:
    sentences = split_sentences(passage.text)
    return [passage.text, *(sentences if len(sentences) > 1 else ())]


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print and write bench/results/expansion.json; 2 where the data is missing."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.expansion",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--data", type=Path, required=True, help="folder with the data files")
    parser.add_argument("--kb", type=Path, default=SAMPLE_KB, help="the third set")
    parser.add_argument("--every", type=int, default=1, help="one in so many businesses")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--no-save", action="store_true", help="do not write bench/results/")
    args = parser.parse_args(arguments)
    if missing := lacking(args.data, FILES):
        print(missing)
        return 2
    with tqdm(unit="business", disable=not sys.stderr.isatty()) as bar:

        def progress(done: int, total: int) -> None:
            bar.total, bar.n = total, done
            bar.refresh()

        found = run(args.data, args.kb, args.every, progress=progress)
    if not args.no_save:
        write_result("expansion", found)
    print(json.dumps(found, indent=2) if args.json else printed(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
