"""The grounding check over public claims: is what the evidence does not support caught?

Four sets (see ``SETS``). The *positive class is "not supported"*: recall is the share of
unsupported claims that a check catches, precision the share of those caught that are unsupported,
and ``accepted`` the share of supported claims that it lets pass. Beside the grounding check stand
the check of numbers alone (:func:`rag.verify.missing_numbers`) and that of overlap alone.

Each set is halved by what its claims share (evidence, document, business), so that no group is in
both halves: weights and limits come from the *development* half (``tools/fit_grounding.py``), and
the figures are of the other one, *report*. Rates have 95 % intervals by claim (Wilson), the area
under the curve one by group (bootstrap), which is the wider: claims of a group are alike.

python -m bench.public.claims --data DIR [--save]
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter_ns
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from bench.data import lacking
from bench.public.rows import read, table
from bench.results import write_result
from rag.calibration import Rate
from rag.embed import Embedding, default_embedder
from rag.floor import auc
from rag.grounding import grounded
from rag.grounding.closeness import Reads
from rag.grounding.evidence import evidence_of, sentence_of, stated
from rag.grounding.features import seen
from rag.grounding.weights import weights
from rag.sentences import split_sentences
from rag.verify import missing_numbers

FEVER, SUMMEDITS, BEGIN, FAQ = FILES = (
    "fever_symmetric.jsonl",
    "summedits_claims.jsonl",
    "begin_attribution.jsonl",
    "dstc9_faq_answers.jsonl",
)
SETS = {
    "fever_symmetric": "claims and evidence made so that each occurs with both labels",
    "summedits_claims": "summaries with small changes, those with all their numbers in the text",
    "begin_attribution": "replies of models to people, labelled by people; generic ones left out",
    "faq_answers": "people's answers out of one FAQ entry (every third); the same beside another "
    "entry of the business, and with their not taken out or put in",
}
CHECKS = ("numbers", "overlap", "words", "grounding")
HALVES = ("development", "report")
_EVERY = 3  # of the answers out of FAQs
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Claim:
    """What was said on the word of some evidence, and whether people say it is supported."""

    set: str
    group: str
    text: str
    evidence: tuple[str, ...]
    is_supported: bool
    kind: str = ""

    @property
    def half(self) -> str:
        """Which half it is in, by its group."""
        return HALVES[zlib.crc32(self.group.encode()) % 2]


def claims(data: Path) -> list[Claim]:
    """The claims of folder ``data``.

    Raises:
        OSError: if a file is not there.
    """
    return [*_fever(data), *_summedits(data), *_begin(data), *_faq(data)]


def _fever(data: Path) -> Iterator[Claim]:
    """Groups are what is connected by a claim or its evidence."""
    rows = read(data / FEVER)
    joined: dict[str, str] = {}

    def root(of: str) -> str:
        while joined.setdefault(of, of) != of:
            of = joined[of]
        return of

    for row in rows:
        joined[root(f"c{row['claim']}")] = root(f"e{row['evidence']}")
    for row in rows:
        group, is_supported = root(f"c{row['claim']}"), row["label"] == "SUPPORTS"
        yield Claim("fever_symmetric", group, row["claim"], (row["evidence"],), is_supported)


def _summedits(data: Path) -> Iterator[Claim]:
    for row in read(data / SUMMEDITS):
        if row["numbers_all_in_passage"]:
            passage, is_supported = row["passage"], row["label"] == "consistent"
            yield Claim("summedits_claims", passage, row["claim"], (passage,), is_supported)


def _begin(data: Path) -> Iterator[Claim]:
    for row in read(data / BEGIN):
        if row["label"] != "Generic":
            known, is_supported = row["knowledge"], row["label"] == "Fully attributable"
            yield Claim("begin_attribution", known, row["response"], (known,), is_supported)


def _faq(data: Path) -> Iterator[Claim]:
    rows = read(data / FAQ)
    bodies: dict[str, dict[str, str]] = {}
    for row in rows:
        bodies.setdefault(_business(row), {})[row["kb"]] = row["body"]
    for number, row in enumerate(rows[::_EVERY]):
        group, said = _business(row), row["human_answer"]
        others = [b for kb, b in bodies[group].items() if kb != row["kb"] and b != row["body"]]
        yield Claim("faq_answers", group, said, (row["body"],), True, "answer")
        if others:
            own = sentence_of(said).stems
            other = max(others, key=lambda body: len(own & sentence_of(body).stems))
            yield Claim("faq_answers", group, said, (other,), False, "other entry")
        turned = _not_turned(said) if number % 2 == 0 else ""
        if turned:
            yield Claim("faq_answers", group, turned, (row["body"],), False, "not turned")


def _business(row: dict[str, Any]) -> str:
    business: str = row["kb"].rsplit("/", 1)[0]
    return business


_OFF = re.compile(
    r"\b(do|does|did|is|are|was|were|will|can|could|would|should)(?:n['’]t| not)\b|\b(can)not\b",
    re.I,
)
_NO = re.compile(r"\bno\b (?=\w)")
_ON = re.compile(r"\b(?:is|are|was|were|will|can|could|would|should|does|do)\b")
_HAS = re.compile(r"\b(offer|have|provide|accept|allow|serve|require|need|has)s?\b")


def _not_turned(said: str) -> str:
    """The first statement of ``said`` with its "not" taken out, or with one; '' where neither."""
    text = next((one for one in split_sentences(said) if not one.endswith("?")), "")
    if _OFF.search(text):
        text = _OFF.sub(lambda found: found[1] or found[2], text)
        return re.sub(r"^No\b", "Yes", text)
    if re.match(r"(?:I'm sorry|Sorry|No\b|Unfortunately)", text):
        return ""
    if found := _NO.search(text):
        return text[: found.start()] + text[found.end() :]
    if found := _ON.search(text):
        text = f"{text[: found.end()]} not{text[found.end() :]}"
    elif found := _HAS.search(text):
        verb = "have" if found[1] == "has" else found[1]
        text = f"{text[: found.start()]}does not {verb}{text[found.end() :]}"
    else:
        return ""
    return re.sub(r"^Yes\b", "No", text)


class Remembering:
    """An embedder that reads a text once: claims share their evidence."""

    def __init__(self, embedder: Reads) -> None:
        self._embedder, self.hash = embedder, embedder.hash
        self._known: dict[str, Embedding] = {}

    def embed(self, text: str) -> Embedding:
        """The embedding of ``text``."""
        if text not in self._known:
            self._known[text] = self._embedder.embed(text)
        return self._known[text]


def overlap_of(claim: Claim) -> float:
    """The share of its words that the evidence has, of its worst sentence."""
    known = evidence_of(claim.evidence)
    return min((seen(sentence_of(one), known).values["overlap"] for one in stated(claim.text)),
               default=0.0)  # fmt: skip


def doubts(claim: Claim, embedder: Reads) -> dict[str, float]:
    """What each check makes of a claim: the more, the less it is supported."""
    return {
        "numbers": float(bool(missing_numbers(claim.text, " ".join(claim.evidence)))),
        "overlap": 1 - overlap_of(claim),
        "words": grounded(claim.text, claim.evidence).doubt,
        "grounding": grounded(claim.text, claim.evidence, embedder).doubt,
    }


def best_limit(values: Sequence[float], is_supported: Sequence[bool]) -> float:
    """From where on to reject, so that the mean of recall and of what is accepted is highest."""
    found, right = np.asarray(values), np.asarray(is_supported)
    limits = np.unique(found)
    means = [((found[~right] >= one).mean() + (found[right] < one).mean()) for one in limits]
    return float(limits[int(np.argmax(means))])


def figures(some: Sequence[Claim], values: NDArray[np.float64], limit: float) -> dict[str, Any]:
    """Precision and recall of "not supported", what of the supported is accepted, and the AUC."""
    right = np.array([one.is_supported for one in some])
    flagged = values >= limit
    caught = int((flagged & ~right).sum())
    found: dict[str, Any] = {
        "precision": Rate.of(caught, int(flagged.sum())),
        "recall": Rate.of(caught, int((~right).sum())),
        "accepted": Rate.of(int((~flagged & right).sum()), int(right.sum())),
        "auc": _auc_by_group(values, right, [one.group for one in some]),
    }
    kinds = sorted({one.kind for one in some if one.kind and not one.is_supported})
    for kind in kinds:
        own = np.array([one.kind == kind for one in some])
        found[f"recall, {kind}"] = Rate.of(int((flagged & own).sum()), int(own.sum()))
    return found


def _auc_by_group(
    values: NDArray[np.float64], right: NDArray[np.bool_], groups: Sequence[str], draws: int = 300
) -> dict[str, float]:
    numbers = {group: n for n, group in enumerate(dict.fromkeys(groups))}
    rows_of: list[list[int]] = [[] for _ in numbers]
    for row, group in enumerate(groups):
        rows_of[numbers[group]].append(row)
    drawn = []
    random = np.random.default_rng(0)
    for _ in range(draws):
        rows = [r for n in random.integers(len(rows_of), size=len(rows_of)) for r in rows_of[n]]
        if 0 < right[rows].sum() < len(rows):
            drawn.append(auc(values[rows][~right[rows]], values[rows][right[rows]]))
    low, high = np.percentile(drawn, (2.5, 97.5)) if drawn else (0.0, 1.0)
    own = auc(values[~right], values[right]) if 0 < right.sum() < len(right) else 0.5
    return {"auc": round(own, 4), "low": round(float(low), 4), "high": round(float(high), 4)}


def cost(some: Sequence[Claim], embedder: Reads) -> dict[str, float]:
    """Milliseconds a check: with the embeddings and beside them; percentiles are observed.

    The evidence is new to the check each time. ``quoted`` is of a sentence of the evidence.
    """
    kept = Remembering(embedder)
    times: dict[str, list[float]] = {"quoted": [], "with_embeddings": [], "beside_embeddings": []}
    for claim in some:
        whole = next(iter(split_sentences(claim.evidence[0])), "")
        _timed(times["quoted"], whole, claim.evidence, kept)
        _timed(times["with_embeddings"], claim.text, claim.evidence, kept)
        _timed(times["beside_embeddings"], claim.text, claim.evidence, kept)
    return {
        f"{name}_p{share}_ms": float(np.percentile(found, share, method="lower"))
        for name, found in times.items()
        for share in (50, 95)
    }


def _timed(times: list[float], said: str, evidence: Sequence[str], embedder: Remembering) -> None:
    evidence_of.cache_clear()
    sentence_of.cache_clear()
    start = perf_counter_ns()
    grounded(said, evidence, embedder)
    times.append((perf_counter_ns() - start) / 1e6)


def run(
    data: Path, *, embedder: Reads | None = None, progress: Progress | None = None
) -> dict[str, Any]:
    """The figures of every check on the report half of every set, and the cost."""
    every = claims(data)
    model = embedder or default_embedder()
    kept = Remembering(model)
    report = [one for one in every if one.half == "report"]
    rows = []
    for done, claim in enumerate(report, 1):
        rows.append(doubts(claim, kept))
        if progress:
            progress(done, len(report))
    return {
        "positive": "not supported",
        "sets": _by_set(report, rows, _limits(every)),
        "cost": cost([one for one in report if one.set == "faq_answers"][:400], model),
    }


def _limits(every: Sequence[Claim]) -> dict[str, float]:
    """Where each check rejects: nowhere is a limit chosen on the half that is reported."""
    known = [one for one in every if one.half == "development"]
    overlaps = [1 - overlap_of(one) for one in known]
    return {
        "numbers": 0.5,
        "overlap": best_limit(overlaps, [one.is_supported for one in known]) if known else 0.5,
        "words": weights("words").limit,
        "grounding": weights("embedding").limit,
    }


def _by_set(
    report: Sequence[Claim], rows: Sequence[dict[str, float]], limits: dict[str, float]
) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name in dict.fromkeys(one.set for one in report):
        own = [n for n, one in enumerate(report) if one.set == name]
        some = [report[n] for n in own]
        found[name] = {
            "n": len(some),
            "groups": len({one.group for one in some}),
            "not_supported": sum(not one.is_supported for one in some),
            "checks": {
                check: {
                    "limit": round(limits[check], 4),
                    **figures(some, np.array([rows[n][check] for n in own]), limits[check]),
                }
                for check in CHECKS
            },
        }
    return found


def printed(found: dict[str, Any]) -> str:
    """The figures as a table."""
    head = ("set", "check", "precision", "recall", "accepted", "AUC")
    rows = [
        [name, check, *(one[key] for key in head[2:5]), _between(one["auc"])]
        for name, own in found["sets"].items()
        for check, one in own["checks"].items()
    ]
    costs = ", ".join(f"{name} {value:.3f}" for name, value in found["cost"].items())
    return f'"Not supported" is what is caught.\n{table(head, rows)}\n{costs}'


def _between(found: dict[str, float]) -> str:
    return f"{found['auc']:.3f} ({found['low']:.3f} to {found['high']:.3f})"


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the figures; exit code 2 where the data is missing."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.public.claims",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--data", type=Path, required=True, help="folder with the data files")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--save", action="store_true", help="write bench/results/")
    chosen = parser.parse_args(arguments)
    if missing := lacking(chosen.data, FILES):
        print(missing)
        return 2
    with tqdm(unit="claim", disable=not sys.stderr.isatty()) as bar:

        def report(done: int, total: int) -> None:
            bar.total = total
            bar.update(done - bar.n)

        found = run(chosen.data, progress=report)
    text = json.dumps(found, indent=2, default=asdict)
    print(text if chosen.json else printed(found))
    if chosen.save:
        write_result("public-claims", json.loads(text))
    return 0


if __name__ == "__main__":
    sys.exit(main())
