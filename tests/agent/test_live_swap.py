"""A rebuilt index takes over while calls go on; one that cannot be used never does."""

import asyncio
import gc
import shutil
import threading
import time
import weakref
from pathlib import Path

import httpx
import pytest
from pipecat.frames.frames import TTSSpeakFrame
from pipecat.frames.frames import UserStartedSpeakingFrame as Started
from pipecat.frames.frames import UserStoppedSpeakingFrame as Stopped

from agent.engines import Engines
from agent.garbage import set_aside
from agent.grounded import GroundedAnswer
from agent.knowledge import Knowledge
from agent.session import Session
from agent.settings import SAMPLE_KB
from agent.trace import CallTrace
from bench.recordings import turn
from frontdesk import KnowledgeBaseError
from rag import Policy, store
from tests.agent.desk import ON_SATURDAY, SATURDAY, text
from tests.agent.live import serving
from tests.agent.one_processor import FakeClockRecord, OneProcessor, events, within

LATER = "On Saturday the clinic is open from 10 a.m. to 3 p.m."


@pytest.fixture
def folder(tmp_path, clinic):
    """A copy of the sample knowledge base, its index built."""
    copy = tmp_path / "kb"
    shutil.copytree(SAMPLE_KB, copy, ignore=shutil.ignore_patterns(".frontdesk", "*.py*"))
    store.rebuild(copy, clinic.embedder)
    return copy


def edit(folder: Path, embedder) -> None:
    """Saturday's hours change, and the index is built again."""
    hours = folder / "kb-hours.md"
    hours.write_text(hours.read_text("utf-8").replace(ON_SATURDAY, LATER), "utf-8")
    store.rebuild(folder, embedder)


@pytest.fixture
def knowledge(folder, clinic):
    def load():
        return store.load(folder, clinic.embedder)

    return Knowledge(store.artefact_path(folder), load, load, every_s=0.02)


def said(knowledge):
    return Session(lambda: knowledge.index, Policy()).reply(SATURDAY).say.text


def wait_for(condition, timeout_s=10.0):
    end = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_the_old_text_before_a_build_and_the_new_one_after(knowledge, folder, clinic, lines):
    assert said(knowledge) == ON_SATURDAY
    old = knowledge.index
    assert knowledge.refresh() is False
    edit(folder, clinic.embedder)
    assert said(knowledge) == ON_SATURDAY
    assert knowledge.refresh() is True
    assert said(knowledge) == LATER
    assert knowledge.refresh() is False
    # Another build, which removes the first one's files: who still holds it can still read it.
    edit(folder, clinic.embedder)
    assert Session(old, Policy()).reply(SATURDAY).say.text == ON_SATURDAY
    new = f"new index {knowledge.index.kb.sha256[:16]} in service: 41 passages"
    assert [message for _, message in lines.all] == [new]


def test_a_thread_looks_for_it(knowledge, folder, clinic):
    with knowledge.watched():
        edit(folder, clinic.embedder)
        wait_for(lambda: said(knowledge) == LATER)
        assert "knowledge" in {thread.name for thread in threading.enumerate()}
    assert "knowledge" not in {thread.name for thread in threading.enumerate()}


class Rest:
    """Something of an old index that only the garbage collector can free."""

    def __init__(self, index):
        self.index, self.itself = index, self


def is_walked(thing):
    """Whether the garbage collector looks at ``thing``."""
    return any(one is thing for one in gc.get_objects())


def test_what_is_left_of_the_old_index_goes_when_no_call_is_in_progress(knowledge, folder, clinic):
    rest = Rest(knowledge.index)
    set_aside()
    left, old = weakref.ref(rest), weakref.ref(knowledge.index)
    del rest
    edit(folder, clinic.embedder)
    knowledge.look(lambda: False)
    assert said(knowledge) == LATER
    gc.collect()
    assert old() is not None, "set aside at the start"
    knowledge.look(lambda: True)
    assert (left(), old()) == (None, None)
    assert not is_walked(knowledge.index)
    # Without an exchange there is nothing to clear away.
    later = Rest(knowledge.index)
    knowledge.look(lambda: True)
    assert is_walked(later)


def test_what_a_new_index_needs_is_made_before_it_answers(knowledge, folder, clinic):
    seen = []
    own = Knowledge(
        store.artefact_path(folder),
        lambda: knowledge.index,
        lambda: store.load(folder, clinic.embedder),
        on_swap=lambda index: seen.append((index.kb.sha256, own.index.kb.sha256)),
    )
    before = own.index.kb.sha256
    edit(folder, clinic.embedder)
    own.refresh()
    assert seen == [(own.index.kb.sha256, before)]
    assert own.index.kb.sha256 != before


def name_another(folder):
    store.artefact_path(folder).write_text("index-nowhere\n", "utf-8")


def garble(folder):
    store.artefact_path(folder).write_bytes(b"\xff\xfe")


@pytest.mark.parametrize(
    ("harm", "line"),
    [
        (name_another, "index-nowhere cannot be read ([Errno 2]"),
        (garble, None),
    ],
)
def test_a_broken_index_is_named_once_and_the_old_one_stays(knowledge, folder, lines, harm, line):
    old = knowledge.index
    harm(folder)
    for _ in range(3):
        assert knowledge.refresh() is False
    assert knowledge.index is old
    assert said(knowledge) == ON_SATURDAY
    assert len(lines.bad) == (line is not None)
    for message in lines.bad:
        assert message.startswith("new index refused, the one before stays in service: index ")
        assert line in message


def test_an_index_cut_short_is_refused(knowledge, folder, clinic, lines):
    edit(folder, clinic.embedder)
    name = store.artefact_path(folder).read_text("utf-8").strip()
    keys = folder / ".frontdesk" / name / "keys.f32"
    keys.write_bytes(keys.read_bytes()[:-4])
    assert knowledge.refresh() is False
    assert said(knowledge) == ON_SATURDAY
    (line,) = lines.bad
    assert line.endswith("run: frontdesk kb build")


def test_documents_edited_after_the_build_keep_the_old_index(knowledge, folder, clinic, lines):
    edit(folder, clinic.embedder)
    (folder / "kb-news.md").write_text("We have moved.", "utf-8")
    assert knowledge.refresh() is False
    (line,) = lines.bad
    assert "was made from other documents; run: frontdesk kb build" in line
    store.rebuild(folder, clinic.embedder)
    assert knowledge.refresh() is True
    assert said(knowledge) == LATER


def test_an_index_of_another_embedder_is_refused(knowledge, folder, clinic, lines):
    class Other:
        """The same vectors under another name."""

        hash = "f" * 64

        def __getattr__(self, name):
            return getattr(clinic.embedder, name)

    (folder / "floors.json").unlink()
    store.rebuild(folder, Other())
    assert knowledge.refresh() is False
    assert said(knowledge) == ON_SATURDAY
    (line,) = lines.bad
    assert "was made with another embedder (ffffffffffff, not " in line


def test_an_error_of_another_kind_does_not_end_the_looking(folder, clinic, lines):
    def fail():
        raise MemoryError("no room")

    own = Knowledge(store.artefact_path(folder), lambda: clinic, fail)
    name_another(folder)
    assert own.refresh() is False
    assert own.index is clinic
    assert lines.bad == ["new index failed, the one before stays in service"]

    def refuse():
        raise KnowledgeBaseError("no floors")

    own = Knowledge(store.artefact_path(folder), lambda: clinic, refuse)
    store.artefact_path(folder).unlink()
    assert own.refresh() is False
    assert len(lines.bad) == 1


async def test_a_turn_in_progress_ends_on_the_index_it_began_with(
    knowledge, folder, clinic, tmp_path
):
    """The index is exchanged while the first turn is being decided."""
    deciding, may_end = asyncio.Event(), asyncio.Event()

    async def run(function, heard):
        reply = await asyncio.to_thread(function, heard)
        deciding.set()
        await may_end.wait()
        return reply

    async def prepare(words):
        pass

    record = FakeClockRecord(tmp_path, "CA1")
    session = Session(lambda: knowledge.index, Policy())
    answering = GroundedAnswer(session, CallTrace(record), run=run, prepare=prepare)
    async with OneProcessor(answering) as call:
        await call.send(Started(), text(SATURDAY), Stopped())
        await deciding.wait()
        before = knowledge.index.kb.sha256[:16]
        edit(folder, clinic.embedder)
        assert knowledge.refresh() is True
        may_end.set()
        await call.down.wait_for(TTSSpeakFrame)
        await call.send(Started(), text(SATURDAY), Stopped())
        await call.down.wait_for(TTSSpeakFrame, 2)
        spoken = [frame.text for frame in call.down.of(TTSSpeakFrame)]
    assert spoken == [ON_SATURDAY, LATER]
    after = knowledge.index.kb.sha256[:16]
    assert [event["kb"] for event in events(record, "verdict")] == [before, after]
    assert before != after


@pytest.mark.slow
async def test_a_build_during_a_call_on_a_running_server(
    folder, clinic, settings, lines, monkeypatch
):
    chosen = settings(kb=folder)
    engines = await asyncio.to_thread(Engines, chosen)
    saturday = turn("q001", "gongitsune")
    calls_then = []
    monkeypatch.setattr(
        "agent.knowledge.set_aside", lambda: calls_then.append(len(server.switchboard.calls))
    )

    async with serving(chosen, engines, lines) as server, httpx.AsyncClient() as client:
        before = (await client.get(f"{server.url}/healthz", headers=server.headers)).json()
        calling = asyncio.create_task(server.call([saturday] * 4))
        await within(20, lambda: any(e["event"] == "verdict" for r in server.records() for e in r))
        await asyncio.to_thread(edit, folder, clinic.embedder)
        result = await calling
        events_ = await server.record()
        after = (await client.get(f"{server.url}/healthz", headers=server.headers)).json()
        await within(10, lambda: calls_then)
    assert result.error is None
    assert result.unanswered == ()
    heard = [event["say"] for event in events_ if event["event"] == "verdict"]
    assert heard[0] == ON_SATURDAY
    assert heard[-1] == LATER
    assert heard == sorted(heard, key=lambda say: say == LATER)
    assert before["kb"] != after["kb"]
    assert calls_then == [0], "the collector runs once the call is over"
    assert lines.bad == []
