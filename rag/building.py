"""Documents to an index: what has not changed since the last one is taken over from it."""

from __future__ import annotations

import os
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import TypeVar

import numpy as np

from rag import artefact
from rag.calibration import Calibration
from rag.documents import KnowledgeBase, Progress
from rag.embed import Embedder
from rag.entry import KINDS, Entry, Plan, Recipe, digest, entry, plan, questions_of
from rag.expand.kept import Ask, Kept
from rag.index import Index
from rag.types import Passage

HOME = ".frontdesk"
"""The folder beneath a knowledge base that holds its indexes, and the questions kept."""

# Passages planned, and texts embedded, at a time; the memory that a build takes follows them.
_BATCH = 256
_SLICE = 32

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Counts:
    """How many passages were taken over from the index before, and how many embedded.

    ``made`` says how many of its questions were made by what.
    """

    reused: int
    embedded: int
    made: Mapping[str, int]


def build(
    kb: KnowledgeBase,
    embedder: Embedder,
    calibrations: Mapping[str, Calibration],
    recipe: Recipe | None = None,
) -> Index:
    """An index of ``kb`` that is in no folder: its files are gone when this process ends."""
    return build_and_count(kb, embedder, calibrations, recipe or Recipe())[0]


def build_and_count(
    kb: KnowledgeBase,
    embedder: Embedder,
    calibrations: Mapping[str, Calibration],
    recipe: Recipe,
) -> tuple[Index, Counts]:
    """The same, and what it is made of."""
    with tempfile.TemporaryDirectory(prefix="frontdesk-index-") as name:
        counts = write(Path(name), kb, embedder, calibrations, recipe)
        meta = artefact.read_meta(Path(name))
        # What is mapped stays readable after its files are removed.
        return artefact.read(Path(name), meta, kb, embedder), counts


def write(
    folder: Path,
    kb: KnowledgeBase,
    embedder: Embedder,
    calibrations: Mapping[str, Calibration],
    recipe: Recipe,
    *,
    before: Index | None = None,
    ask: Ask | None = None,
    progress: Progress | None = None,
) -> Counts:
    """Write the artefact of ``kb`` into ``folder``: about 30 ms a passage of three sentences.

    Passages that ``before`` holds, made from the same text in the same way, are not embedded
    again. With a model in the recipe, the questions it made are taken where some are kept; those
    that are not are first asked for if there is something to ``ask``.

    Raises:
        OSError: if the folder cannot be written to, or the disk is full.
    """
    kept = Kept(kb.folder / HOME, recipe.maker) if recipe.expand and recipe.maker else None
    if kept and ask:
        ask(kb.passages, kept, progress)
    writer = artefact.Writer(folder, embedder.dim)
    reused = 0
    made: Counter[str] = Counter()
    for done, one in enumerate(_entries(kb.passages, embedder, recipe, kept, before)):
        writer.add(one.entry)
        reused += not one.is_new
        made[one.made_by] += int((one.entry.kinds == KINDS.index("made")).sum())
        if progress:
            progress("embed", done + 1, len(kb.passages))
    writer.finish(kb, embedder, recipe, calibrations, progress)
    return Counts(reused, len(kb.passages) - reused, dict(+made))


@dataclass(frozen=True, slots=True)
class _Done:
    """The entry of a passage, whether it had to be made, and by what its questions were."""

    entry: Entry
    is_new: bool
    made_by: str


def _entries(
    passages: Sequence[Passage],
    embedder: Embedder,
    recipe: Recipe,
    kept: Kept | None,
    before: Index | None,
) -> Iterator[_Done]:
    known = {d.tobytes(): n for n, d in enumerate(before.digests)} if before else {}
    waiting = iter(passages)
    # Local models run outside Python's lock, each on one thread; a remote one is waited for.
    with ThreadPoolExecutor(max_workers=min(4, os.cpu_count() or 1)) as pool:
        while batch := list(islice(waiting, _BATCH)):
            taken: dict[int, int] = {}
            plans: dict[int, Plan] = {}
            made = [questions_of(passage, recipe, kept) for passage in batch]
            for place, passage in enumerate(batch):
                questions = made[place].questions
                number = known.get(digest(passage, questions, recipe, embedder))
                if number is None:
                    plans[place] = plan(passage, questions, recipe, embedder)
                else:
                    taken[place] = number
            new = dict(zip(plans, _embedded(list(plans.values()), embedder, pool), strict=True))
            for place in range(len(batch)):
                by = made[place].by
                if before is not None and place in taken:
                    yield _Done(artefact.entry_of(before, taken[place]), False, by)
                else:
                    yield _Done(new[place], True, by)


def _embedded(
    plans: Sequence[Plan], embedder: Embedder, pool: ThreadPoolExecutor
) -> Iterator[Entry]:
    """The entries of some plans, their texts embedded together."""
    texts = list(dict.fromkeys(text for one in plans for text in one.texts))
    asked = list(dict.fromkeys(text for one in plans for text in one.questions))
    passages = _in_slices(embedder.embed_all, texts, pool)
    questions = _in_slices(lambda some: embedder.encode(some, query=True), asked, pool)
    for one in plans:
        rows = [questions[text] for text in one.questions]
        vectors = np.stack(rows) if rows else np.empty((0, embedder.dim), np.float32)
        yield entry(one, [passages[text] for text in one.texts], vectors)


def _in_slices(
    embed: Callable[[list[str]], Iterable[T]], texts: list[str], pool: ThreadPoolExecutor
) -> dict[str, T]:
    slices = [texts[at : at + _SLICE] for at in range(0, len(texts), _SLICE)]
    found = chain.from_iterable(pool.map(embed, slices))
    return dict(zip(texts, found, strict=True))
