"""Questions to the sample clinic as they were misheard, answerable and not.

The clips of ``kb/clinic`` as seven voices were heard, and wordings with one or two words of
substance taken for others by the confusions of a real recogniser (DSTC10 track 2,
``asr_word_confusions.jsonl``: https://github.com/yctam/dstc10_track2_task2, Apache-2.0).
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from bench.public.rows import read
from rag import Policy, conversation, guard, make_query, questions
from rag.calibration import SAMPLE_KB
from rag.pieces import stopwords
from rag.types import Decision, Query

CONFUSIONS, OUT_OF_SCOPE = FILES = ("asr_word_confusions.jsonl", "clinc_oos.jsonl")
FOLDS = 5
TIMES_MISHEARD = 3


@dataclass(frozen=True, slots=True)
class Case:
    """One question as heard. ``said`` is what was really asked, where words were put in its place.

    ``question`` is None for what is out of scope; ``must_refuse`` says whether an answer is wrong.
    """

    group: str
    id: str
    query: Query
    must_refuse: bool
    question: questions.Question | None = None
    said: Query | None = None
    policy: Policy = field(default_factory=Policy)
    is_held_out: bool = False

    @property
    def fold(self) -> int:
        """All that was made of one question is in one fold."""
        return fold_of(self.id)


def cases_of(data: Path, fillers: frozenset[str]) -> Iterator[Case]:
    """Everything that is asked."""
    confused = confusions(data / CONFUSIONS)
    rows = questions.read(SAMPLE_KB / questions.QUESTIONS_FILE)
    held_out = questions.held_out_voice(rows)
    voices = [*dict.fromkeys(voice for row in rows for voice in row.heard), questions.TYPED]
    for one in questions.asked(rows, voices, fillers=fillers):
        query, question = one.query, one.question
        if guard.check(query.raw, Policy()) or conversation.recognise(query.raw) or not query.text:
            continue
        wanted = question.decision is Decision.ANSWERED
        name = "answerable" if wanted else "unanswerable"
        if one.voice == questions.TYPED:
            yield from _misheard(
                Case(f"misheard {name}", question.id, query, not wanted, question), confused
            )
            continue
        own = one.voice == held_out
        yield Case(f"heard {name}", question.id, query, not wanted, question, is_held_out=own)
        if wanted:
            absent = Policy(leave_out=frozenset(question.relevant))
            left_out = Case("passage left out", question.id, query, True, question)
            yield replace(left_out, policy=absent, is_held_out=own)
    for row in read(data / OUT_OF_SCOPE):
        if row["label"] == "out_of_scope":
            case = Case("out of scope", row["id"], make_query(row["text"], fillers=fillers), True)
            yield case
            yield from _misheard(replace(case, group="misheard out of scope"), confused)


def confusions(path: Path) -> dict[str, list[str]]:
    """What a recogniser wrote in the place of a word of at least four letters."""
    found: dict[str, list[str]] = {}
    for row in read(path):
        if len(row["a"]) > 3 and len(row["b"]) > 2:
            found.setdefault(row["a"], []).append(row["b"])
    return found


def _misheard(case: Case, confused: Mapping[str, Sequence[str]]) -> Iterator[Case]:
    """``case`` with one or two words of substance taken for others, each wording once."""
    said = case.query.text.split()
    places = [n for n, w in enumerate(said) if w in confused and w not in stopwords()]
    texts: dict[str, None] = {}
    for time_ in range(TIMES_MISHEARD if places else 0):
        rng = random.Random(f"{case.id} {time_}")
        heard = list(said)
        for n in rng.sample(places, min(len(places), rng.choice((1, 1, 2)))):
            heard[n] = rng.choice(confused[heard[n]])
        texts[" ".join(heard)] = None
    for text in texts:
        yield replace(case, query=replace(case.query, text=text), said=case.query)


def fold_of(name: str) -> int:
    """The fold of a question, by its id."""
    return hashlib.sha256(name.encode()).digest()[0] % FOLDS
