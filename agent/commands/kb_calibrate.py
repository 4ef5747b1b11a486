"""Measure the floors of a knowledge base, and write down what they rest on.

The questions are those of its questions.jsonl. A language in which these are too few gets
questions made from the documents beside them, and its floor is called rough. Exit 1 if a language
of the documents is left without a floor, or if answerable and unanswerable questions cannot be
told apart at alpha.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from agent.calibration_page import Report, lines, page
from agent.progress import Progress, stages
from agent.retrieval import embedder_of, policy_of, recipe_of
from agent.settings import Settings, load_settings
from frontdesk import ConfigError, KnowledgeBaseError
from rag import building, calibration, documents, questions, self_made, store
from rag.answerability import default_floor
from rag.calibration import Calibration
from rag.floor import (
    ALPHA,
    CONFIDENCE,
    Measured,
    choose_by_language,
    measure,
    scorer_of,
)
from rag.histogram import png
from rag.index import Index
from rag.overlap import costs, overlapping
from rag.query import closeness

PAGE = "calibration.html"


@dataclass(frozen=True, slots=True)
class _Found:
    """What was measured, the floors of it, and why some languages have none."""

    measured: Sequence[Measured]
    floors: dict[str, Calibration]
    without: dict[str, str]
    rough: frozenset[str]


def calibrate(
    folder: Path,
    *,
    held_out: str | None = None,
    alpha: float = ALPHA,
    confidence: float = CONFIDENCE,
    as_json: bool = False,
) -> int:
    """Measure, write ``floors.json``, rebuild the index with it, draw and print.

    ``held_out`` is the voice that takes no part (default: the one that the questions name). With
    ``confidence``, at most ``alpha`` of unanswerable questions are to be answered. The floors there
    were stay where no floor was found.

    Raises:
        ConfigError: if ``alpha`` or ``confidence`` is not between 0 and 1.
        KnowledgeBaseError: if the documents or questions cannot be used, or the disk is full.
    """
    for name, value in (("--alpha", alpha), ("--confidence", confidence)):
        if not 0 < value < 1:
            raise ConfigError(f"{name} is {value}; give a number between 0 and 1, such as 0.1")
    settings = load_settings(kb=folder)
    with stages() as progress:
        index = _index(settings, progress)
        found = _measured(index, settings, held_out, alpha, confidence, progress)
        reports = _reports(found, confidence)
        if found.floors:
            _put_in_service(settings, found.floors, progress)
    without = {
        code: f"{_instead(code, index, found)}: {why}" for code, why in found.without.items()
    }
    where = _draw(index, reports, without)
    if as_json:
        table = {
            **{report.language: {**report.as_json(), "page": where} for report in reports},
            **{code: {"floor": None, "reason": why} for code, why in found.without.items()},
        }
        print(json.dumps(table, ensure_ascii=False, indent=2))
    else:
        for report in reports:
            print("\n".join(lines(report)))
        for code, why in without.items():
            print(f"{code}: {why}")
        if where:
            print(f"drawn in {where}")
    return int(bool(found.without) or not all(r.calibration.separable for r in reports))


def _index(settings: Settings, progress: Progress) -> Index:
    """The index in service; one of its own where the floors there are keep it from being read."""
    embedder, recipe = embedder_of(settings), recipe_of(settings)
    try:
        return store.open_index(settings.kb, embedder, recipe)
    except KnowledgeBaseError:
        read = documents.read_listing(documents.listing(settings.kb), progress=progress)
        return building.build(read, embedder, {}, recipe)


def _measured(
    index: Index,
    settings: Settings,
    held_out: str | None,
    alpha: float,
    confidence: float,
    progress: Progress,
) -> _Found:
    policy = policy_of(settings)
    path = settings.kb / questions.QUESTIONS_FILE
    measured: list[Measured] = []
    if path.is_file():
        rows = questions.read(path)
        voice = held_out or questions.held_out_voice(rows)
        asked = questions.asked(rows, fillers=index.kb.fillers, cosine=closeness(index))
        measured = measure(
            index,
            [one for one in asked if one.voice != voice],
            policy,
            progress=lambda done, total: progress("measure", done, total),
        )

    def chosen(
        some: Sequence[Measured], set_name: str
    ) -> tuple[dict[str, Calibration], dict[str, str]]:
        return choose_by_language(
            some,
            embedder=index.embedder.hash,
            scorer=scorer_of(index.embedder),
            set_name=set_name,
            alpha=alpha,
            confidence=confidence,
        )

    floors, _ = chosen(measured, questions.QUESTIONS_FILE)
    short = frozenset(index.languages) - frozenset(floors)
    made = [m for m in self_made.make(index) if m.asked.query.language in short] if short else []
    extra = self_made.measure_made(
        index, made, policy, progress=lambda done, total: progress("measure made", done, total)
    )
    own = [one for one in measured if one.asked.query.language in short]
    set_name = f"{questions.QUESTIONS_FILE} and made ones" if own else "made questions"
    more, without = chosen([*own, *extra], set_name)
    for language in short - set(more):
        without.setdefault(language, "no question could be made from the documents")
    return _Found([*measured, *extra], {**floors, **more}, without, frozenset(more))


def _reports(found: _Found, confidence: float) -> list[Report]:
    reports = []
    for language, floor in sorted(found.floors.items()):
        own = [one for one in found.measured if one.asked.query.language == language]
        high, low = overlapping(own, floor.floor)
        note = self_made.ROUGH if language in found.rough else ""
        reports.append(Report(language, floor, high, low, costs(own, confidence), note))
    return reports


def _instead(code: str, index: Index, found: _Found) -> str:
    """What holds in a language of which no floor was found."""
    before = None if found.floors else index.calibrations.get(code)
    if before:
        return f"no floor; the one before, {before.floor:.3f}, stays in force"
    default = default_floor(index.embedder, code)
    if default is not None:
        return f"no floor; the default, {default:.3f}, not measured on these documents, is in force"
    return "no floor, so nothing is answered"


def _put_in_service(settings: Settings, floors: dict[str, Calibration], progress: Progress) -> None:
    """Write the floors, and the index anew with them; if that fails, what was there comes back."""
    path = settings.kb / calibration.FLOORS_FILE
    before = path.with_name(f".{path.name}.before.{os.getpid()}")
    try:
        if path.exists():
            _write(before, path.read_bytes())
        _write(path, calibration.dump(floors).encode())
        try:
            store.rebuild(
                settings.kb, embedder_of(settings), recipe_of(settings), progress=progress
            )
        except BaseException:
            # By a rename, for which there is room on a full disk too.
            if before.exists():
                os.replace(before, path)
            else:
                path.unlink()
            raise
    except OSError as error:
        raise KnowledgeBaseError(
            f"cannot write {path} ({error.strerror or error}); the floors before are still in force"
        ) from error
    finally:
        before.unlink(missing_ok=True)


def _write(path: Path, data: bytes) -> None:
    """Replace a file whole, so that no reader finds half of it."""
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        unfinished.write_bytes(data)
        os.replace(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)


def _draw(index: Index, reports: Sequence[Report], without: dict[str, str]) -> str | None:
    """Write the page and a PNG a language beside the index; None where that is not possible."""
    home = store.artefact_path(index.kb.folder).parent
    title = f"Floors of {index.kb.folder.name}"
    try:
        home.mkdir(exist_ok=True)
        for report in reports:
            _write(home / f"calibration-{report.language}.png", png(report.picture()))
        _write(home / PAGE, page(title, reports, without).encode())
    except OSError:
        return None
    return str(home / PAGE)
