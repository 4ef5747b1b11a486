"""What recogniser repair is worth, and the rule under which it lifts nothing over the floor.

python -m bench.repair --data DIR

Questions of the sample clinic as seven voices were heard to ask them, and as typed with words
taken for others (:mod:`bench.misheard`). What must not be answered: the clinic's unanswerable
questions, heard and misheard in the same way; its answerable ones while the passages that answer
them count as absent; and sentences out of scope (``clinc_oos.jsonl``), as they are and misheard.
Every one is judged by a floor and a rule that were set without its fold; the held-out voice by
those set on all others.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from tqdm import tqdm

from bench.data import lacking
from bench.misheard import FILES, FOLDS, Case, cases_of, fold_of
from bench.public.rows import table
from bench.results import percentiles, write_result
from rag import Index, Policy, questions
from rag.answer import best_answer
from rag.calibration import SAMPLE_KB
from rag.choose import spoken_text
from rag.floor import ALPHA, CONFIDENCE, choose_by_language, measure
from rag.repair import RULE, Lexicon, Repaired, Rule, has_unknown, second_query, wins
from rag.repair.nearness import Phrases
from rag.search import sample_index
from rag.types import Passage, Query

# The largest distances of a word that is none of English and of one that is; the least first
# score; the margin in log-odds.
RULES = tuple(
    Rule(*values)
    for values in itertools.product(
        (0.3, 0.35), (0.15, 0.2, 0.25), (0.0, 0.1, 0.2, 0.3), (1.0, 1.5, 2.0, 2.5, 3.0, 3.5)
    )
)
NEVER = Rule(margin=100.0)
STEP = 0.5
COUNTS = ("n", "second_query", "gained", "gained_wrong", "lifted", "lifted_as_heard_right")


@dataclass(frozen=True, slots=True)
class Found:
    """What would be said to one query."""

    score: float
    passed: bool
    say: str
    passage: Passage | None

    def is_answer(self, floor: float) -> bool:
        """Whether it would be spoken."""
        return self.passed and self.score >= floor


@dataclass(frozen=True, slots=True)
class Asked:
    """A case asked twice, ``second`` by the distances of a rule; empty where no rule has it so."""

    case: Case
    first: Found | None = None
    said: Found | None = None
    second: Mapping[tuple[float, float], tuple[Repaired, Found]] = field(default_factory=dict)

    def is_right(self, found: Found) -> bool:
        """Whether it states the facts."""
        question, passage = self.case.question, found.passage
        if self.case.must_refuse or question is None or passage is None:
            return False
        return question.is_answered(found.say, [passage])

    def change(self, rule: Rule, floor: float) -> tuple[Found, Found] | None:
        """The first and the second answer, if ``rule`` and ``floor`` let the second be spoken."""
        repaired, found = self.second.get(_distances(rule), (None, None))
        if self.first is None or repaired is None or found is None or not found.is_answer(floor):
            return None
        is_taken = wins(repaired, self.first.score, found.score, found.passage, rule)
        return (self.first, found) if is_taken else None


def run(
    data: Path, index: Index | None = None, progress: Callable[[int, int], None] | None = None
) -> dict[str, Any]:
    """The counts by group under the rules of the folds, and under each rule for all cases."""
    index = index or sample_index()
    lexicon = _remembering(Lexicon.of(index.kb))
    cases = list(cases_of(data, index.kb.fillers))
    find = _finder(index)
    asked: list[Asked] = []
    for done, case in enumerate(cases, 1):
        asked.append(ask(case, lexicon, find))
        if progress:
            progress(done, len(cases))
    floors = floors_of(index)
    tuned = [one for one in asked if not one.case.is_held_out]
    rules = {
        fold: choose([one for one in tuned if one.case.fold != fold], floors[fold])
        for fold in range(FOLDS)
    }
    whole = choose(tuned, floors[None])
    by_fold = [(one, rules[one.case.fold], floors[one.case.fold]) for one in tuned]
    held_out = [(one, whole, floors[None]) for one in asked if one.case.is_held_out]
    return {
        "rule": asdict(whole),
        "rules": [asdict(rules[fold]) for fold in range(FOLDS)],
        "floors": [round(floors[fold], 4) for fold in range(FOLDS)],
        "floor": round(floors[None], 4),
        "groups": counts(by_fold),
        "held_out_voice": counts(held_out),
        "when_answered": when_answered(by_fold),
        "by_rule": [
            {**asdict(rule), **total((one, rule, floors[None]) for one in tuned)} for rule in RULES
        ],
        "ms": timings(cases, Lexicon.of(index.kb), index),
    }


def _remembering(lexicon: Lexicon) -> Lexicon:
    """One that looks for the phrases nearest to the same words once."""
    phrases = lexicon.phrases

    class Remembering(Phrases):
        def __init__(self) -> None:
            self._nearest = cache(lambda heard, farthest: phrases.nearest(heard, farthest))

        def nearest(
            self, heard: Sequence[Sequence[str]], farthest: float
        ) -> list[tuple[str, float] | None]:
            found: list[tuple[str, float] | None]
            found = self._nearest(tuple(map(tuple, heard)), farthest)
            return found

    return replace(lexicon, phrases=Remembering())


def _finder(index: Index) -> Callable[[Query, Policy], Found]:
    known: dict[tuple[object, ...], Found] = {}

    def find(query: Query, policy: Policy) -> Found:
        key = (query.text, query.focus, policy.leave_out)
        if key not in known:
            best = best_answer(query, index, policy)
            chosen = best.candidate
            known[key] = Found(
                best.score, best.passed,
                spoken_text(index, chosen.number) if chosen else "",
                chosen.hit.passage if chosen else None,
            )  # fmt: skip
        return known[key]

    return find


def ask(case: Case, lexicon: Lexicon, find: Callable[[Query, Policy], Found]) -> Asked:
    """Ask it first, and second in each way that a rule may have it asked."""
    second = {}
    for far, english in dict.fromkeys(map(_distances, RULES)):
        repaired = second_query(case.query, lexicon, rule=Rule(far, english))
        if repaired:
            second[far, english] = (repaired, find(repaired.query, case.policy))
    if not second:
        return Asked(case)
    said = find(case.said, case.policy) if case.said else None
    return Asked(case, find(case.query, case.policy), said, second)


def _distances(rule: Rule) -> tuple[float, float]:
    return rule.farthest, rule.farthest_english


def floors_of(index: Index) -> dict[int | None, float]:
    """The floor that the clinic's questions set without those of a fold, and with all."""
    rows = questions.read(SAMPLE_KB / questions.QUESTIONS_FILE)
    held_out = questions.held_out_voice(rows)
    asked = [
        one for one in questions.asked(rows, fillers=index.kb.fillers) if one.voice != held_out
    ]
    measured = measure(index, asked)
    own = index.calibrations.get("en")
    alpha, confidence = (own.alpha, own.confidence) if own else (ALPHA, CONFIDENCE)

    def floor(fold: int | None) -> float:
        kept = [m for m in measured if fold_of(m.asked.question.id) != fold]
        found, reasons = choose_by_language(
            kept,
            embedder=index.embedder.hash,
            set_name="the clinic's questions",
            alpha=alpha,
            confidence=confidence,
        )
        if "en" not in found:
            raise ValueError(f"no floor without fold {fold}: {reasons}")
        return found["en"].floor

    return {fold: floor(fold) for fold in (None, *range(FOLDS))}


def choose(asked: Sequence[Asked], floor: float) -> Rule:
    """The rule that gains most of those that would lift nothing over the floor a step nearer to it.

    A step is ``STEP`` of margin: the next question that must not be answered may score a little
    more than all that were seen. Of several the strictest; ``NEVER`` if none gains anything.
    """
    best, most = NEVER, 0
    for rule in sorted(RULES, key=_strictness, reverse=True):
        found = total((one, rule, floor) for one in asked)
        gained = found["gained"] - found["gained_wrong"]
        if gained > most:
            nearer = replace(rule, margin=max(rule.margin - STEP, 0.0))
            if not total((one, nearer, floor) for one in asked)["lifted"]:
                best, most = rule, gained
    return best


def _strictness(rule: Rule) -> tuple[float, ...]:
    return rule.margin, rule.least, -rule.farthest_english, -rule.farthest


def outcome(one: Asked, rule: Rule, floor: float) -> str | None:
    """What the second query changes, asked only where the first is refused; None for nothing.

    ``lifted`` is what must not be answered and is. Where words were put in the place of others and
    the question heard right would be answered as well, that is the floor's doing and not the
    repair's: ``lifted_as_heard_right``.
    """
    change = one.change(rule, floor)
    if change is None or change[0].is_answer(floor):
        return None
    if not one.case.must_refuse:
        return "gained" if one.is_right(change[1]) else "gained_wrong"
    return "lifted_as_heard_right" if one.said and one.said.is_answer(floor) else "lifted"


def total(judged: Iterable[tuple[Asked, Rule, float]]) -> dict[str, int]:
    """``COUNTS`` over some cases."""
    tally = Counter(dict.fromkeys(COUNTS, 0))
    for one, rule, floor in judged:
        tally["n"] += 1
        tally["second_query"] += _distances(rule) in one.second
        if what := outcome(one, rule, floor):
            tally[what] += 1
    return dict(tally)


def counts(judged: Sequence[tuple[Asked, Rule, float]]) -> dict[str, dict[str, int]]:
    """The same by group."""
    groups = dict.fromkeys(one.case.group for one, _, _ in judged)
    return {name: total(j for j in judged if j[0].case.group == name) for name in groups}


def when_answered(judged: Sequence[tuple[Asked, Rule, float]]) -> dict[str, int]:
    """What a second query would change where the first is answered already."""
    tally = Counter(asked=0, wrong_to_right=0, right_to_wrong=0)
    for one, rule, floor in judged:
        if one.case.must_refuse or one.first is None or not one.first.is_answer(floor):
            continue
        tally["asked"] += _distances(rule) in one.second
        if change := one.change(rule, floor):
            before, after = map(one.is_right, change)
            tally["wrong_to_right"] += after and not before
            tally["right_to_wrong"] += before and not after
    return dict(tally)


def timings(cases: Sequence[Case], lexicon: Lexicon, index: Index) -> dict[str, Any]:
    """Milliseconds of making a second query where there is an unknown word, and of asking it."""
    make, asking = [], []
    for case in [c for c in cases if c.group.startswith("heard") and has_unknown(c.query, lexicon)]:
        start = time.perf_counter_ns()
        repaired = second_query(case.query, lexicon)
        make.append((time.perf_counter_ns() - start) / 1e6)
        if repaired:
            start = time.perf_counter_ns()
            best_answer(repaired.query, index)
            asking.append((time.perf_counter_ns() - start) / 1e6)
    return {"second_query": percentiles(make), "answer": percentiles(asking)}


def printed(found: Mapping[str, Any]) -> str:
    """The figures as tables."""
    rows = [[name, *(one[c] for c in COUNTS)] for name, one in found["groups"].items()]
    rows += [
        [f"{name}, held-out voice", *(one[c] for c in COUNTS)]
        for name, one in found["held_out_voice"].items()
    ]
    by_rule = [
        [
            one["farthest"],
            one["farthest_english"],
            one["least"],
            one["margin"],
            *(one[c] for c in COUNTS[1:]),
        ]
        for one in found["by_rule"]
    ]
    return "\n\n".join(
        (
            table(("rules and floors set without the fold", *COUNTS), rows),
            table((*asdict(RULE), *COUNTS[1:]), by_rule),
            json.dumps({k: found[k] for k in ("rule", "rules", "floor", "when_answered", "ms")}),
        )
    )


@cache
def _bar() -> Any:
    return tqdm(unit="question", disable=not sys.stderr.isatty())


def _progress(done: int, count: int) -> None:
    _bar().total, _bar().n = count, done
    _bar().refresh()


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print and write bench/results/repair.json; 2 where the data is missing."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.repair",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--data", type=Path, required=True, help="folder with the data files")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--no-save", action="store_true", help="do not write bench/results/")
    args = parser.parse_args(arguments)
    if missing := lacking(args.data, FILES):
        print(missing)
        return 2
    found = run(args.data, progress=_progress)
    if not args.no_save:
        write_result("repair", found)
    print(json.dumps(found, indent=2) if args.json else printed(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
