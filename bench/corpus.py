"""Indexes of synthetic businesses, built by the product's own build and kept for the next run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from agent.progress import stages
from bench import synthetic
from bench.made_vectors import MadeVectors
from rag import floor, questions, store
from rag.calibration import Calibration
from rag.embedders import make
from rag.entry import Recipe
from rag.index import Index

# Up to here every passage is embedded by the model; above, its vectors are made without.
MODEL_LIMIT = 100_000
# Documents are added and built this many passages at a time, so that a build that is stopped
# goes on where it was.
_STEP = 10_000
_FLOOR_QUESTIONS = 400  # for each language


@dataclass(frozen=True, slots=True)
class Corpus:
    """``passages`` passages in ``languages``, drawn by ``seed``."""

    passages: int
    languages: tuple[str, ...]
    seed: int = 0

    @property
    def is_embedded(self) -> bool:
        """Whether the model embeds its passages."""
        return self.passages <= MODEL_LIMIT

    @property
    def recipe(self) -> Recipe:
        """The product's own."""
        return Recipe()

    def questions(self, count: int, draw: int = 0) -> list[questions.Question]:
        """``count`` questions about it; another ``draw`` gives others."""
        return synthetic.questions(self.passages, count, self.languages, self.seed, draw)


def folder_of(corpus: Corpus, embedder: str, cache: Path) -> Path:
    """Where the documents of ``corpus`` and their index are kept, below the folder ``cache``."""
    return cache / f"{embedder}-{corpus.passages}-{corpus.seed}"


def build_corpus(corpus: Corpus, embedder: str, cache: Path) -> None:
    """Write the documents and the index of ``corpus``, or what is missing of them."""
    folder = folder_of(corpus, embedder, cache)
    complete = folder / ".complete"
    if complete.exists():
        return
    builder = make(embedder)
    steps: Sequence[int] = (corpus.passages,)
    if corpus.is_embedded:
        steps = [*range(_STEP, corpus.passages, _STEP), corpus.passages]
    else:
        (language,) = corpus.languages
        builder = MadeVectors(builder, language, corpus.seed)
    for passages in steps:
        synthetic.write_documents(
            folder, synthetic.businesses(passages, corpus.languages, corpus.seed)
        )
        with stages() as progress:
            store.rebuild(folder, builder, corpus.recipe, progress=progress)
    complete.touch()


def open_corpus(corpus: Corpus, embedder: str, cache: Path) -> Index:
    """The index that :func:`build_corpus` left, its files read once, as on a running server.

    Its floors are measured on 400 questions a language that are asked for nothing else.
    """
    folder = folder_of(corpus, embedder, cache)
    index = store.open_index(folder, make(embedder), corpus.recipe)
    for path in index_files(folder):
        with path.open("rb") as file:
            while file.read(1 << 24):
                pass
    return replace(index, calibrations=_floors(corpus, index))


def index_files(folder: Path) -> list[Path]:
    """The files of the index in service of a knowledge base folder."""
    name = store.artefact_path(folder).read_text("utf-8").strip()
    home = store.artefact_path(folder).parent / name
    return [path for path in home.rglob("*") if path.is_file()]


def _floors(corpus: Corpus, index: Index) -> dict[str, Calibration]:
    asked = questions.asked(
        corpus.questions(_FLOOR_QUESTIONS * len(corpus.languages), draw=1), fillers=index.kb.fillers
    )
    return {
        language: floor.calibrate(
            index, [one for one in asked if one.query.language == language], set_name="synthetic"
        )
        for language in corpus.languages
    }
