"""What the answerability score is fitted on: questions, each with the passages that are right.

Of every business that the benchmark does not score (``bench.public.dstc``): each question that
its source sets beside an answer; the same question as other businesses word it; and some of them
inside the small talk of a call. Of the sample clinic: its questions as typed and as heard from
every voice but the held-out one.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from bench.public import dstc
from rag import asked as rules
from rag import make_query, open_index, questions
from rag.answer import spoken_text
from rag.embed import Embedder, Vectors
from rag.index import Index
from rag.types import Decision, Query

# The name of a business stands for nothing; what replaces it varies, so that none is learned.
MASKS = ("it", "", "the place")
# Cosines of two questions: the same one in other words; clear of the next; another answer to it.
_SAME, _TOO_SAME, _CLEAR, _ALSO_RIGHT = 0.78, 0.97, 0.12, 0.88
_WORDINGS = 2
_SMALL_TALK = (
    "that sounds good. {}", "great, thanks. {}", "okay, and {}", "perfect. can you tell me, {}",
    "I have one more question. {}", "before I decide, {}", "i was wondering, {}",
    "{} I would like to know before I book.", "could you find out for me, {}",
    "thank you so much. also, {}", "I am coming with my family. {}", "that works for me. {} thanks",
    "alright. just checking, {}", "we will be there next week. {}",
    "my friend asked me to check. {}", "sorry, one last thing. {}",
)  # fmt: skip
_TALKED = 5  # one in so many


@dataclass(frozen=True, slots=True)
class Case:
    """One question of ``group`` (whose cases stay together) in a line of business ``domain``.

    ``right`` are the texts of the passages that answer it, none for an unanswerable question.
    ``states_number`` is whether the answer does; ``facts`` (clinic only) decide which sentences.
    """

    group: str
    domain: str
    query: Query
    right: frozenset[str]
    states_number: bool = False
    is_reworded: bool = False
    asked: questions.Asked | None = None

    def right_sentences(self, index: Index, numbers: Iterable[int]) -> list[bool]:
        """Which of these sentences answer the question."""
        found = []
        for number in numbers:
            passage = index.kb.passages[index.sentences[number].passage]
            is_right = passage.text in self.right
            if self.asked and is_right:
                said = spoken_text(index, number)
                is_right = self.asked.question.is_answered(said, [passage])
            found.append(is_right)
        return found


def businesses(data: Path) -> list[dstc.Business]:
    """Those of the public knowledge base that the benchmark does not score."""
    masked = {mask: {one.id: one for one in dstc.businesses(data, mask)} for mask in MASKS}
    names = {one.id: one.name for one in masked[MASKS[0]].values()}
    scored = {one.business for one in dstc.questions(data, names)}
    return [masked[MASKS[number(name) % 3]][name] for name in names if name not in scored]


def number(name: str) -> int:
    """A number that is always the same for a name."""
    return zlib.crc32(name.encode())


def index_of(one: dstc.Business, cache: Path, embedder: Embedder, *, titles: bool) -> Index:
    """The index of a business, built below ``cache`` if it is not there yet."""
    folder = cache / ("titled" if titles else "plain") / one.id.replace("/", "-")
    dstc.write_documents(one, folder, titles=titles)
    return open_index(folder, embedder)


def cases(all_of: Sequence[dstc.Business], embedder: Embedder) -> Iterator[list[Case]]:
    """The cases of each business, in order."""
    titles = [(one.id, faq.question) for one in all_of for faq in one.faqs]
    owners = np.array([owner for owner, _ in titles])
    texts = [make_query(title).text for _, title in titles]
    vectors = embedder.encode(texts, query=True)
    rng = np.random.default_rng(0)
    for one in all_of:
        own = np.flatnonzero(owners == one.id)
        wordings = _wordings(vectors, own, owners != one.id)
        found: list[Case] = []
        for row, faq in enumerate(one.faqs):
            title = texts[own[row]]
            alike = np.flatnonzero(vectors[own] @ vectors[own[row]] > _ALSO_RIGHT)
            right = {faq.answer} | {
                one.faqs[n].answer
                for n in alike
                if not _clash(title, texts[own[n]], one.faqs[n].answer)
            }
            numbers = dstc.numbers_in(faq.answer)
            if numbers:
                right |= {f.answer for f in one.faqs if numbers <= dstc.numbers_in(f.answer)}
            others = [texts[n] for n in rng.permutation(wordings.get(row, []))]
            kept = [t for t in dict.fromkeys(others) if not _clash(t, title, faq.answer)]
            for text in [title, *kept[:_WORDINGS]]:
                query = make_query(_in_a_call(text, one.id))
                case = Case(one.id, one.domain, query, frozenset(right), bool(numbers))
                found.append(replace(case, is_reworded=text is not title))
        yield found


def clinic_cases(folder: Path, index: Index) -> list[Case]:
    """The questions of the sample clinic, without those of conversation."""
    rows = questions.read(folder / questions.QUESTIONS_FILE)
    held_out = questions.held_out_voice(rows)
    found = []
    for one in questions.asked(rows) + questions.asked(rows, [questions.TYPED]):
        decision = one.question.decision
        if one.voice == held_out or decision is Decision.CONVERSATION or not one.query.text:
            continue
        right = frozenset(
            passage.text
            for passage in index.kb.passages
            if decision is Decision.ANSWERED and one.question.is_answered(passage.text, [passage])
        )
        found.append(Case(f"clinic/{one.question.id}", "clinic", one.query, right, asked=one))
    return found


def _wordings(vectors: Vectors, own: np.ndarray, elsewhere: np.ndarray) -> dict[int, np.ndarray]:
    """For each question of a business, the questions elsewhere that are it in other words."""
    near = vectors @ vectors[own].T
    first, top = near.argmax(axis=1), near.max(axis=1)
    near[np.arange(len(near)), first] = -1
    fits = elsewhere & (top > _SAME) & (top < _TOO_SAME) & (top - near.max(axis=1) > _CLEAR)
    return {row: np.flatnonzero(fits & (first == row)) for row in range(len(own))}


def _clash(question: str, other: str, answer: str) -> bool:
    """Whether the rules tell two questions apart that are close in meaning."""
    return bool(
        rules.opposite(question, other)
        or rules.opposite(other, question)
        or rules.opposite(question, answer)
        or rules.kind_asked(question) != rules.kind_asked(other)
    )


def _in_a_call(text: str, name: str) -> str:
    pick = number(text + name)
    if pick % _TALKED:
        return text
    return _SMALL_TALK[pick // _TALKED % len(_SMALL_TALK)].format(text)
