"""What the answerability score is fitted on: businesses, and questions with the sentences that
are right.

The made-up businesses of ``tools/businesses``, with questions that nothing answers among them; and
of every business of the public knowledge base that the benchmark does not score
(``bench.public.dstc``): each question that its source sets beside an answer, and the same question
as other businesses word it, with and without the questions indexed. Some are asked inside the
small talk of a call, some with words as a recogniser mishears them. Questions and answers that
scored businesses have word for word are left out.
"""

from __future__ import annotations

import json
import random
import re
import tempfile
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bench.public import dstc
from rag import asked as rules
from rag import days, documents, make_query, open_index
from rag.building import build
from rag.embed import Embedder, Vectors
from rag.embedders.minilm import MiniLM
from rag.index import Index
from rag.sentences import sentence_spans
from rag.types import Query

MADE = Path(__file__).with_name("businesses")
CONFUSIONS_FILE = "asr_word_confusions.jsonl"
# Of a line of business, so that none outweighs the rest: without questions, and with.
_AT_MOST, _AT_MOST_TITLED = 150, 60
# Of the public questions whose answers state no number one in so many: they are much alike.
_ONE_IN = 3
# The name of a business stands for nothing; what replaces it varies, so that none is learned.
_MASKS = ("it", "", "the place")
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
_CLOSED = re.compile(r"\b(?:closed|shut|not open|no (?:service|visits|classes|lessons))\b", re.I)
_HOURS = (
    "what time do you open on {}", "what time do you close on {}", "what are your hours on {}",
    "how late are you open on {}", "are you open on {}",
)  # fmt: skip
_TALKED = 5  # one in so many
_MISHEARD = 0.3  # of the questions
_DROPPED, _CONFUSED, _STUMBLED = 0.04, 0.08, 0.03  # of the words of these


@dataclass(frozen=True, slots=True)
class Case:
    """One question: ``right`` are the texts of the passages that answer it, none if nothing does.

    ``sentence`` is the one of them that does, None where each of theirs counts; ``states_number``
    is whether it does.
    """

    query: Query
    right: frozenset[str]
    sentence: str | None = None
    states_number: bool = False

    def right_sentences(self, index: Index, numbers: Iterable[int]) -> list[bool]:
        """Which of these sentences answer the question."""
        found = []
        for number in numbers:
            one = index.sentences[number]
            is_right = index.kb.passages[one.passage].text in self.right
            if is_right and self.sentence:
                is_right = one.text in self.sentence or self.sentence in one.text
            found.append(is_right)
        return found


@dataclass(frozen=True, slots=True, eq=False)
class Business:
    """One business: ``kind`` is "made", "answers" or "questions" (with its questions indexed)."""

    id: str
    kind: str
    index: Index
    cases: tuple[Case, ...]


def number(name: str) -> int:
    """A number that is always the same for a name."""
    return zlib.crc32(name.encode())


def made(data: Path, embedder: Embedder) -> Iterator[Business]:
    """The made-up businesses; ``data`` holds what recognisers confuse."""
    mishear = _Mishearing(data / CONFUSIONS_FILE)
    for file in sorted(MADE.glob("*.jsonl")):
        for line in file.read_text("utf-8").splitlines():
            row = json.loads(line)
            texts = [" ".join(one["text"].split()) for one in row["passages"]]
            with tempfile.TemporaryDirectory() as folder:
                Path(folder, "pages.md").write_text("\n\n".join(texts) + "\n", "utf-8")
                index = build(documents.load(Path(folder)), embedder, {})
            cases = [
                Case(
                    make_query(mishear(ask["q"])),
                    frozenset({text}),
                    " ".join(ask["a"].split()),
                    any(sign.isdigit() for sign in ask["a"]),
                )
                for text, one in zip(texts, row["passages"], strict=True)
                for ask in one["asks"]
            ]
            cases += [case for text in texts for case in _closed_days(text)]
            cases += [Case(make_query(text), frozenset()) for text in row["unanswered"]]
            kept = tuple(one for one in cases if one.query.text)
            yield Business(f"{file.stem}/{row['id']}", "made", index, kept)


def _closed_days(text: str) -> Iterator[Case]:
    """The hours of a day on which a place is closed, as a follow-up asks for them."""
    for start, end in sentence_spans(text):
        sentence = text[start:end]
        named = sorted(days.named_days(sentence))
        if _CLOSED.search(sentence) and 0 < len(named) < 5:
            for form in _HOURS:
                query = make_query(form.format(named[number(form + text) % len(named)]))
                yield Case(query, frozenset({text}), sentence, states_number=True)


def public(data: Path, cache: Path, embedder: Embedder) -> Iterator[Business]:
    """The businesses of the public knowledge base; their indexes are kept below ``cache``."""
    chosen = businesses(data)
    cases = _cases(chosen, _Scored.of(data))
    own_cases = dict(zip((one.id for one in chosen), cases, strict=True))
    seen: Counter[str] = Counter()
    for one in sorted(chosen, key=lambda one: number(one.id)):
        seen[one.domain] += 1
        own = [
            (case, is_reworded)
            for case, is_reworded in own_cases[one.id]
            if case.states_number or number(case.query.text) % _ONE_IN == 0
        ]
        if seen[one.domain] <= _AT_MOST:
            index = _index_of(one, cache, embedder, titles=False)
            yield Business(one.id, "answers", index, tuple(case for case, _ in own))
        if seen[one.domain] <= _AT_MOST_TITLED:
            index = _index_of(one, cache, embedder, titles=True)
            reworded = tuple(case for case, is_reworded in own if is_reworded)
            yield Business(one.id, "questions", index, reworded)


def businesses(data: Path) -> list[dstc.Business]:
    """Those of the public knowledge base that the benchmark does not score."""
    masked = {mask: {one.id: one for one in dstc.businesses(data, mask)} for mask in _MASKS}
    names = {one.id: one.name for one in masked[_MASKS[0]].values()}
    scored = {one.business for one in dstc.questions(data, names)}
    return [masked[_MASKS[number(name) % 3]][name] for name in names if name not in scored]


class _Mishearing:
    """A question as a recogniser may write it; most stay as they are."""

    def __init__(self, file: Path) -> None:
        self._rng = random.Random(0)
        self._near: dict[str, list[str]] = {}
        for line in file.read_text("utf-8").splitlines():
            row = json.loads(line)
            self._near.setdefault(row["a"], []).append(row["b"])

    def __call__(self, text: str) -> str:
        if self._rng.random() > _MISHEARD:
            return text
        words, heard = text.split(), []
        for word in words:
            if len(words) > 4 and self._rng.random() < _DROPPED:
                continue
            near = self._near.get(word.lower().strip(".,?!"))
            if near and self._rng.random() < _CONFUSED:
                word = self._rng.choice(near)
            heard.append(word)
            if self._rng.random() < _STUMBLED:
                heard.append(self._rng.choice(["um", "uh", word]))
        return " ".join(heard)


def _index_of(one: dstc.Business, cache: Path, embedder: Embedder, *, titles: bool) -> Index:
    folder = cache / ("titled" if titles else "plain") / one.id.replace("/", "-")
    if not folder.is_dir():
        dstc.write_documents(one, folder, titles=titles)
    return open_index(folder, embedder)


@dataclass(frozen=True, slots=True)
class _Scored:
    """What the benchmark asks, and the answers that are right there, in plain words."""

    questions: frozenset[str]
    answers: frozenset[str]

    @classmethod
    def of(cls, data: Path) -> _Scored:
        every = {one.id: one for one in dstc.businesses(data)}
        asked = list(dstc.questions(data, {name: one.name for name, one in every.items()}))
        gold = {(one.business, one.gold) for one in asked}
        answers = (f.answer for one in every.values() for f in one.faqs if (one.id, f.id) in gold)
        return cls(
            frozenset(make_query(one.text).text for one in asked),
            frozenset(make_query(answer).text for answer in answers),
        )

    def has(self, question: str, answer: str) -> bool:
        """Whether either is scored."""
        return question in self.questions or make_query(answer).text in self.answers


def _cases(all_of: Sequence[dstc.Business], scored: _Scored) -> Iterator[list[tuple[Case, bool]]]:
    """The cases of each business, in order, and whether each is in another business's words.

    Which questions are the same is told by MiniLM as it was published, whatever is fitted.
    """
    embedder = MiniLM(tuned=False)
    titles = [(one.id, faq.question) for one in all_of for faq in one.faqs]
    owners = np.array([owner for owner, _ in titles])
    texts = [make_query(title).text for _, title in titles]
    vectors = embedder.encode(texts, query=True)
    rng = np.random.default_rng(0)
    for one in all_of:
        own = np.flatnonzero(owners == one.id)
        wordings = _wordings(vectors, own, owners != one.id)
        found: list[tuple[Case, bool]] = []
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
                if scored.has(text, faq.answer):
                    continue
                query = make_query(_in_a_call(text, one.id))
                case = Case(query, frozenset(right), states_number=bool(numbers))
                found.append((case, text is not title))
        yield found


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
