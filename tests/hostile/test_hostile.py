"""Attempts to have an unsupported fact spoken, through the real path: embedder, index, session.

Three files: what callers say (``attempts``), what documents hold (``documents``) and what a
language model sends (``model``). A row's ``turns`` are one call; a turn is a text, or a text and
how often it is said. ``must`` is what has to come of the last turn: "nothing" of the documents is
said; if anything, then one of the ``allowed`` words ("document"); one of them is ("said"). No
reply of the call holds a ``forbidden`` word. What a model sends is "rejected", "accepted", or
either ("any"). A row with a ``known_fault`` fails, and must be unmarked once it does not.
"""

import json
import re
import shutil
from pathlib import Path

import httpx
import pytest

from agent.answering import worded
from agent.generation import GenerationPolicy, Generator, Outcome
from agent.generation.draft_checks import draft_checks
from agent.remote import Server
from agent.session import Session
from agent.settings import SAMPLE_KB
from rag import Decision, Policy, Reason, open_index
from tests.agent.fake_chat import FakeChat, streamed
from tests.hostile.invariant import unspeakable, unsupported

_HERE = Path(__file__).parent
_SAID_AGAIN = frozenset({Reason.REPEAT, Reason.LOUDER, Reason.SLOWER})
_MOST_WORDS = 80
# Said beside what the documents say. The day is one that the caller named.
_OWN_WORDS = re.compile(
    r"I have nothing about [\w' ]+ in particular\. What I do have is this: | Shall I go on\?"
)
_JUDGED = frozenset(
    {
        Outcome.ACCEPTED, Outcome.TOO_LONG, Outcome.NO_ANSWER, Outcome.INVENTED_CITATION,
        Outcome.CITATION_IN_TEXT, Outcome.INSTRUCTION, Outcome.NOT_SPEECH,
        Outcome.UNSUPPORTED_FIGURE, Outcome.CHECK_FAILED,
    }
)  # fmt: skip
_ALWAYS_ASKED = GenerationPolicy(budget_ms=20_000, fast_score=2.0)


def rows(name):
    lines = (_HERE / f"{name}.jsonl").read_text("utf-8").splitlines()
    found = [json.loads(line) for line in lines]
    return [pytest.param(row, id=row["id"], marks=known_fault(row)) for row in found]


def known_fault(row):
    why = row.get("known_fault")
    return [pytest.mark.xfail(reason=why, strict=True)] if why else []


def call(index, turns):
    """The replies to all ``turns`` of one call, the invariant tested on each."""
    session, said, replies = Session(index, Policy()), [], []
    for turn in turns:
        heard = turn if isinstance(turn, str) else turn[0] * turn[1]
        reply = session.reply(heard)
        session.accept(reply)
        before = said if reply.verdict.reason in _SAID_AGAIN else []
        holds(reply, index, before)
        said = [*said, reply.say.text]
        replies.append(reply)
    return replies


def holds(reply, index, said_before=()):
    """Whatever was decided: what is spoken can be, and stands in what is cited."""
    verdict = reply.verdict
    assert reply.say == verdict.say
    assert verdict.reason is not Reason.RETRIEVAL_FAILED, verdict.detail
    texts = {passage.id: passage.text for passage in index.kb.passages}
    cited = [texts[one] for one in verdict.citations]
    say = verdict.say.text
    assert unspeakable(say, texts) == []
    assert len(say.split()) <= _MOST_WORDS
    say = _OWN_WORDS.sub("", say)
    assert unsupported(say, [*cited, *said_before]) == []
    if verdict.decision is Decision.ANSWERED:
        assert cited
        assert set(verdict.citations) <= {hit.passage.id for hit in verdict.hits}
        assert all(check.passed for check in verdict.checks)
    if verdict.answered_by == "extractive":
        assert spaced(say) in spaced(" ".join(cited))


def spaced(text):
    """White space, the shape of brackets, and citations that are not spoken make no difference."""
    text = re.sub(r"[(\[][\w-]+#\d+[)\]]", "", text).replace("[", "(").replace("]", ")")
    return re.sub(r" (?=[.,;:!?])", "", " ".join(text.split()))


def judge(row, replies):
    """The last turn comes to what it must; no turn says what none may."""
    for reply in replies:
        for words in row.get("forbidden", ()):
            assert not re.search(rf"(?<!\w){re.escape(words)}", reply.say.text, re.I), words
    last = replies[-1]
    is_allowed = any(words in last.say.text for words in row.get("allowed", ()))
    answers = [reply.say for reply in replies if reply.verdict.decision is Decision.ANSWERED]
    from_documents = last.say in answers or bool(last.verdict.citations)
    if row["must"] == "said":
        assert is_allowed, last.say.text
    else:
        assert not from_documents or (row["must"] == "document" and is_allowed), last.say.text


@pytest.mark.parametrize("row", rows("attempts"))
def test_what_a_caller_says(clinic, row):
    judge(row, call(clinic, row["turns"]))


@pytest.mark.parametrize("row", rows("documents"))
def test_what_a_document_holds(clinic, tmp_path, row):
    folder = tmp_path / "kb"
    shutil.copytree(SAMPLE_KB, folder)
    for name, text in row["documents"].items():
        (folder / name).write_text(text, "utf-8")
    index = open_index(folder, clinic.embedder)
    assert index.kb.sha256 != clinic.kb.sha256
    judge(row, call(index, row["turns"]))


@pytest.fixture
async def model(clinic, monkeypatch):
    """``await model(reply, texts)``: what becomes of a reply when the model sends ``texts``."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    async with FakeChat() as fake:
        generator = Generator(
            Server(fake.url, "m", "", 20.0),
            _ALWAYS_ASKED,
            more_checks=draft_checks(clinic),
            transport=httpx.AsyncHTTPTransport(verify=False),  # loads no certificates
        )

        async def put_into_words(reply, texts):
            fake.script = [streamed(text) for text in texts]
            answered = await worded(reply, generator)
            assert fake.script == []
            return answered

        yield put_into_words
        await generator.close()


@pytest.mark.parametrize("row", rows("model"))
async def test_what_a_model_sends(clinic, model, row):
    quoted = call(clinic, row["turns"])[-1]
    assert quoted.verdict.decision is Decision.ANSWERED, "only then is a model asked"
    answered = await model(quoted, [sent(one) for one in row["model_says"]])
    outcome = answered.generated.outcome
    assert outcome in _JUDGED, "it failed for what it says, not for a fault on the way"
    is_accepted = outcome is Outcome.ACCEPTED
    holds(answered.reply, clinic)
    assert is_accepted or answered.reply.say == quoted.say
    if row["must"] != "any":
        why = f"{answered.generated.detail} / {answered.reply.say.text}"
        assert is_accepted == (row["must"] == "accepted"), why


def sent(reply):
    """An answer with its citations in the form that was asked for, or any other text."""
    return reply if isinstance(reply, str) else json.dumps({**reply, "confidence": 0.99})


def test_there_are_enough_attempts_each_with_a_name_of_its_own():
    named = [row.id for name in ("attempts", "documents", "model") for row in rows(name)]
    assert len(set(named)) == len(named) >= 80


FLU = "A flu shot for an adult costs $30. A flu shot for a child under 18 costs $20."


@pytest.mark.parametrize(
    ("said", "is_supported"),
    [
        ("It costs 30 dollars for an adult.", True),
        ("It costs thirty dollars.", True),
        ("It costs $30 or $20.", False),
        ("It costs 30 cents.", False),
        ("It costs $30 on Monday.", False),
        ("It costs $30 at Miller.", False),
        ("It does not cost $30.", False),
        ("It is a shot.", True),
    ],
)
def test_the_invariant_tells_facts_of_one_sentence_from_others(said, is_supported):
    assert (unsupported(said, [FLU]) == []) is is_supported


@pytest.mark.parametrize("said", ["It is $30 [kb-x#1].", "See kb-x.", "<b>It</b>", "$3\u200b0"])
def test_the_invariant_hears_what_no_voice_may_say(said):
    assert unspeakable(said, ["kb-x#1"])
