"""Questions for setting a floor where nobody has written any down.

Answerable ones are made from the passages: the question that the source sets beside it, else one
made by rules, else its longest sentence. Since the same words are indexed, they are asked with
words left out; even so callers ask less like the documents than these do, so the over-refusal they
show is a lower bound. It is the unanswerable ones that set the floor: the same questions while
every passage that they were made from counts as absent, and questions of other businesses.

Several passages with one question, or that say nearly the same, are one; so is all that was made
from one passage, because the guarantee counts independent questions.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from rag import questions
from rag.calibration import SAMPLE_KB
from rag.duplicates import near_duplicates
from rag.expand import made_questions
from rag.floor import Measured, measure
from rag.index import Index
from rag.pieces import stopwords
from rag.query import make_query
from rag.questions import TYPED, Asked, Question
from rag.rewrite import words
from rag.sentences import split_sentences
from rag.types import Decision, Passage, Policy

LIMIT = 200
"""The most questions of a kind: with 200, a rate of a tenth is known to within a twentieth."""

LEFT_OUT, OTHER_BUSINESS = "left out", "other business"
ROUGH = (
    "made from the documents, since there are too few labelled questions: a rough floor. Real "
    "callers word their questions less like the documents, so more of them will be refused"
)

_FEWEST_OTHERS = 30
_FEWEST_WORDS = 3
_MARKS = 2
_LEAD = 3
_DATA = Path(__file__).with_name("data") / "other_businesses.txt"


@dataclass(frozen=True, slots=True)
class Made:
    """A question as typed, to be asked while the passages ``leave_out`` count as absent."""

    asked: Asked
    leave_out: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class _Source:
    """A question, how it came about, and every passage that it was made from."""

    text: str
    kind: str
    passages: frozenset[str]
    language: str


def make(index: Index, limit: int = LIMIT) -> list[Made]:
    """Answerable and unanswerable questions for the documents of ``index``.

    At most ``limit`` of each kind in each language, always the same ones. Each question's
    ``kind`` says how it was made. The other businesses' are as many as those left out, or 30 where
    those are fewer: easy ones shall not outvote the hard.
    """
    made: list[Made] = []
    by_language: defaultdict[str, list[_Source]] = defaultdict(list)
    for source in sorted(_sources(index), key=lambda s: _order(s.text)):
        by_language[source.language].append(source)
    for language in sorted(by_language):
        sources = by_language[language][:limit]
        for source in sources:
            made.append(_made(index, source, Decision.ANSWERED))
            made.append(_made(index, source, Decision.REFUSED))
        if language == "en":
            made += _others(index, min(limit, max(len(sources), _FEWEST_OTHERS)))
    return made


def measure_made(
    index: Index,
    made: Sequence[Made],
    policy: Policy | None = None,
    *,
    progress: Callable[[int, int], None] | None = None,
) -> list[Measured]:
    """The scores of ``made``, each while the passages it leaves out are absent."""
    policy = policy or Policy()
    result: list[Measured] = []
    for done, one in enumerate(made, 1):
        result += measure(index, [one.asked], replace(policy, leave_out=one.leave_out))
        if progress:
            progress(done, len(made))
    return result


def shortened(text: str, common: Mapping[str, int] | None = None) -> str:
    """``text`` with words left out, so that it is not the words that were indexed.

    The first three words say what kind of answer is asked for, and stay. Of the rest those
    without a subject go, numbers too, which a question does not know, and of three or more that
    are left the most ``common`` one.
    """
    found = words(text)
    lead, rest = found[:_LEAD], found[_LEAD:]
    rest = [w for w in rest if w not in stopwords() and not any(map(str.isdigit, w))]
    if len(rest) >= _FEWEST_WORDS:
        counts = common or {}
        rest.remove(max(rest, key=lambda w: counts.get(w, 0)))
    return " ".join([*lead, *rest])


def other_businesses(documents: Sequence[str]) -> list[str]:
    """Questions of trades that ``documents`` do not use two marking words of."""
    text = " ".join(" ".join(words(document)) for document in documents)
    found: list[str] = []
    for marks, own in _trades():
        if sum(bool(re.search(rf"\b{re.escape(mark)}s?\b", text)) for mark in marks) < _MARKS:
            found += own
            if marks[0] == "clinic":
                found += _of_the_sample(marks[1:])
    return found


def _sources(index: Index) -> Iterator[_Source]:
    """One question a passage; passages with the same question, or nearly the same text, are one.

    So are those whose questions are the same when words are left out.
    """
    passages = index.kb.passages
    bags = [frozenset(words(passage.text)) for passage in passages]
    common = Counter(word for bag in bags for word in bag)
    questions_of = [_question(passage) for passage in passages]
    asked = [shortened(text, common) for text, _ in questions_of]
    same = list(near_duplicates(bags))
    firsts: dict[tuple[str, str], int] = {}
    for number, (text, _) in enumerate(questions_of):
        for form in filter(None, (" ".join(words(text)), asked[number])):
            key = (passages[number].language, form)
            same.append((firsts.setdefault(key, number), number))
    for own in _joined(len(passages), same):
        if len(asked[own[0]].split()) >= _FEWEST_WORDS:
            ids = frozenset(passages[number].id for number in own)
            yield _Source(asked[own[0]], questions_of[own[0]][1], ids, passages[own[0]].language)


def _joined(count: int, pairs: Sequence[tuple[int, int]]) -> list[list[int]]:
    """The numbers below ``count`` in groups: those of a pair are in one, and so is its every pair.

    In order, within a group and by the first of each.
    """
    parent = list(range(count))

    def root(number: int) -> int:
        while parent[number] != number:
            parent[number] = parent[parent[number]]
            number = parent[number]
        return number

    for one, two in pairs:
        low, high = sorted((root(one), root(two)))
        parent[high] = low
    groups: defaultdict[int, list[int]] = defaultdict(list)
    for number in range(count):
        groups[root(number)].append(number)
    return list(groups.values())


def _question(passage: Passage) -> tuple[str, str]:
    """A question that the passage answers, and how it was come by; ('', '') for none."""
    if passage.question:
        return passage.question, "from its question"
    if made := made_questions(passage):
        return made[0], "from rules"
    sentences = sorted(split_sentences(passage.text), key=len)
    return (sentences[-1], "from a sentence") if sentences else ("", "")


def _made(index: Index, source: _Source, decision: Decision) -> Made:
    is_answered = decision is Decision.ANSWERED
    kind = source.kind if is_answered else LEFT_OUT
    relevant = tuple(sorted(source.passages)) if is_answered else ()
    asked = _asked(index, source.text, kind, decision, source.language, relevant)
    return Made(asked, frozenset() if is_answered else source.passages)


def _others(index: Index, count: int) -> list[Made]:
    texts = sorted(other_businesses(list(index.kb.texts.values())), key=_order)[:count]
    return [Made(_asked(index, text, OTHER_BUSINESS, Decision.REFUSED, "en")) for text in texts]


def _asked(
    index: Index,
    text: str,
    kind: str,
    decision: Decision,
    language: str,
    relevant: tuple[str, ...] = (),
) -> Asked:
    question = Question(
        id=f"{kind}: {text}",
        text=text,
        asr="",
        context=None,
        relevant=relevant,
        decision=decision,
        facts=(),
        kind=kind,
        heard={},
    )
    query = make_query(text, fillers=index.kb.fillers, language=language)
    return Asked(question, TYPED, query)


def _order(text: str) -> str:
    """An order that has nothing to do with that of the documents."""
    return hashlib.sha256(text.encode()).hexdigest()


@cache
def _trades() -> list[tuple[tuple[str, ...], list[str]]]:
    trades: list[tuple[tuple[str, ...], list[str]]] = []
    for line in _DATA.read_text("utf-8").splitlines():
        if line.startswith("["):
            marks = line.strip("[]").partition(": ")[2].split(", ")
            trades.append((tuple(" ".join(words(mark)) for mark in marks), []))
        elif line and not line.startswith("#"):
            trades[-1][1].append(line)
    return trades


@cache
def _of_the_sample(marks: tuple[str, ...]) -> list[str]:
    """The sample clinic's questions that could be asked of nobody else."""
    path = SAMPLE_KB / questions.QUESTIONS_FILE
    rows = questions.read(path) if path.is_file() else []
    pattern = re.compile(rf"\b(?:{'|'.join(map(re.escape, marks))})s?\b")
    texts = [row.text for row in rows if row.context is None]
    return [text for text in texts if pattern.search(" ".join(words(text)))]
