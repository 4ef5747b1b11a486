"""A model's words over whole turns: a real pipeline and index, a chat server that misbehaves."""

import asyncio
import json
import sys
import threading

import pytest
from pipecat.frames.frames import (
    BotStartedSpeakingFrame,
    BotStoppedSpeakingFrame,
    InterruptionFrame,
    TTSSpeakFrame,
    UserStartedSpeakingFrame,
    UserStoppedSpeakingFrame,
)

from agent.answering import answered
from agent.generation import (
    GenerationPolicy,
    Generator,
    Rewriter,
    generator_of,
    rewriter_of,
)
from agent.grounded import GroundedAnswer
from agent.remote import Server
from agent.replay import Models, replay
from agent.session import Session
from agent.trace import CallTrace
from bench.recordings import turn
from frontdesk import ConfigError
from rag import Policy
from rag.types import Check
from tests.agent.desk import eager, text
from tests.agent.fake_chat import DROP, HANG, HEAD, FakeChat, plain, streamed, words
from tests.agent.live import serving
from tests.agent.one_processor import FakeClockRecord, OneProcessor, events, settle

ASKED = "How do I get a refill?"
QUOTED = "To ask for a refill, call the pharmacy line at 555-0125 or use the patient portal."
WORDED = "You can ask for a refill in the patient portal, or call 555-0125."
SOURCE = "kb-refills#1"
FACTOID = "How much is a flu shot for an adult?"


def reply(answer=WORDED, citations=(SOURCE,)):
    return json.dumps({"answer": answer, "citations": list(citations), "confidence": 0.5})


def passing(query, draft, cited):
    return (Check("grounded", True),)


@pytest.fixture
async def server(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    async with FakeChat() as fake:
        yield fake


@pytest.fixture
def groundless(monkeypatch):
    """Passes every draft as grounded: how strict that check is, is tested with it."""
    checks = sys.modules["agent.generation.draft_checks"]
    monkeypatch.setattr(checks, "draft_check", lambda embedder: passing)


def generator_at(server, *checks, timeout_s=20.0, **policy):
    policy = GenerationPolicy(**{"budget_ms": 20_000, **policy})
    return Generator(
        Server(server.url, "m", timeout_s=timeout_s), policy, more_checks=checks or (passing,)
    )


@pytest.fixture
async def desk(clinic, tmp_path, server):
    """``desk(checks…, policy…)``: the processor over a real session, worded by the fake server."""
    made = []

    def make(*checks, **policy):
        generator = generator_at(server, *checks, **policy)
        made.append(generator)
        return Desk(clinic, tmp_path, generator)

    yield make
    for generator in made:
        await generator.close()


class Desk(OneProcessor):
    def __init__(self, clinic, folder, generator=None, rewriter=None):
        self.record = FakeClockRecord(folder, "CA1")
        self.prepared = []

        async def prepare(say):
            self.prepared.append(say.text)

        super().__init__(
            GroundedAnswer(
                Session(clinic, Policy()),
                CallTrace(self.record),
                run=asyncio.to_thread,
                prepare=prepare,
                words=generator,
                rewriter=rewriter,
            )
        )

    async def says(self, *heard):
        """What is spoken to a turn, and played to its end."""
        frames = [text(one) if isinstance(one, str) else one for one in heard]
        before = len(self.down.of(TTSSpeakFrame))
        await self.send(UserStartedSpeakingFrame(), *frames, UserStoppedSpeakingFrame())
        said = (await self.down.wait_for(TTSSpeakFrame, before + 1)).text
        await self.send(BotStartedSpeakingFrame(), upstream=True)
        self.record.at_ms += 3000
        await self.send(BotStoppedSpeakingFrame(), upstream=True)
        return said


async def test_an_answer_is_spoken_in_the_models_words(desk, server):
    server.script = [streamed(reply())]
    async with desk() as pipe:
        assert await pipe.says(ASKED) == WORDED
        assert await pipe.says("could you repeat that") == WORDED
    assert pipe.prepared == [WORDED, WORDED]
    first, again = events(pipe.record, "verdict")
    assert (first["answered_by"], first["citations"]) == ("generated", [SOURCE])
    assert first["draft"] == f"{WORDED} [{SOURCE}]"
    assert {"name": "grounded", "passed": True, "detail": ""} in first["checks"]
    assert again["reason"] == "repeat"
    (generation,) = events(pipe.record, "generation")
    assert (generation["outcome"], generation["reply"]) == ("accepted", reply())
    assert generation["first_token_ms"] <= generation["full_ms"] <= generation["total_ms"]


FAILING = {
    "dropped": [HEAD, *words(reply()[:20]), DROP],
    "malformed": streamed("I cannot do that."),
    "no_answer": streamed(reply("", ["none"])),
    "invented_citation": streamed(reply(citations=["kb-hours#9"])),
    "unsupported_figure": streamed(reply("Call 555-0199 for a refill.")),
    "refused": plain(401, b"who are you"),
    "busy": plain(503, b"loading"),
    "budget": [HEAD, *words(reply()[:-1]), HANG],
    "timeout": [HANG],
}


@pytest.mark.parametrize("outcome", FAILING)
async def test_a_server_that_fails_is_not_noticed_by_the_caller(desk, server, outcome):
    server.script = [FAILING[outcome], FAILING[outcome]]
    policy = {"budget": {"budget_ms": 50}, "timeout": {"timeout_s": 0.05}}.get(outcome, {})
    async with desk(**policy) as pipe:
        assert await pipe.says(ASKED) == QUOTED
    (verdict,) = events(pipe.record, "verdict")
    assert (verdict["decision"], verdict["answered_by"]) == ("answered", "extractive")
    assert verdict["detail"].endswith(f"not generated: {outcome}")
    (generation,) = events(pipe.record, "generation")
    assert (generation["outcome"], generation["draft"]) == (outcome, None)


async def test_a_server_that_is_gone(desk, server):
    server._server.close()
    async with desk() as pipe:
        assert await pipe.says(ASKED) == QUOTED
    assert events(pipe.record, "generation")[0]["outcome"] == "unreachable"


async def test_a_check_that_fails_is_not_noticed_either(desk, server):
    server.script = [streamed(reply())]

    def failing(query, draft, cited):
        return (Check("grounded", False, "2 of 9 words"),)

    async with desk(failing) as pipe:
        assert await pipe.says(ASKED) == QUOTED
    assert events(pipe.record, "generation")[0]["detail"] == "grounded: 2 of 9 words"


@pytest.mark.parametrize("heard", ["What's the Wi-Fi password?", "thanks", "", "repeat that"])
async def test_no_model_is_asked_what_to_say_where_nothing_is_answered(desk, server, heard):
    async with desk() as pipe:
        await pipe.says(heard)
    assert server.requests == []
    assert events(pipe.record, "generation") == []


async def test_a_factoid_is_quoted_without_asking(desk, server):
    async with desk() as pipe:
        assert "$30" in await pipe.says(FACTOID)
    assert server.requests == []
    assert events(pipe.record, "generation")[0]["outcome"] == "fast_path"


async def test_the_model_is_asked_while_the_caller_may_still_go_on(desk, server):
    server.script = [streamed(reply())]
    async with desk() as pipe:
        await pipe.send(UserStartedSpeakingFrame(), eager(ASKED))
        async with asyncio.timeout(10):
            while not pipe.prepared:
                await settle()
        assert pipe.prepared == [WORDED]
        assert not pipe.down.of(TTSSpeakFrame)
        assert [event["event"] for event in events(pipe.record)] == ["call_started"]
        assert await pipe.says(ASKED) == WORDED
    assert len(server.requests) == 1
    assert events(pipe.record, "verdict")[0]["speculated"] is True


async def test_a_guess_that_is_dropped_closes_its_line(desk, server):
    server.script = [[HANG], streamed(reply())]
    async with asyncio.timeout(20), desk() as pipe:
        await pipe.send(UserStartedSpeakingFrame(), eager("Do I have to fast before a blood test?"))
        await server.hanging.wait()
        assert not server.left.is_set()
        assert await pipe.says(ASKED) == WORDED
        await server.left.wait()
    assert [event["outcome"] for event in events(pipe.record, "generation")] == ["accepted"]


async def test_a_caller_who_goes_on_closes_the_line_and_hears_nothing(desk, server):
    server.script = [[HANG]]
    async with asyncio.timeout(20), desk() as pipe:
        await pipe.send(UserStartedSpeakingFrame(), text(ASKED), UserStoppedSpeakingFrame())
        await server.hanging.wait()
        await pipe.send(InterruptionFrame())
        await server.left.wait()
        await settle()
        assert not pipe.down.of(TTSSpeakFrame)
    assert events(pipe.record, "generation") == []


@pytest.mark.parametrize("ends", ["end", "cancel"])
async def test_a_call_that_ends_closes_the_line(desk, server, ends):
    server.script = [[HANG]]
    async with asyncio.timeout(20):
        async with desk() as pipe:
            await pipe.send(UserStartedSpeakingFrame(), text(ASKED), UserStoppedSpeakingFrame())
            await server.hanging.wait()
            if ends == "cancel":
                await pipe.cancel()
        await server.left.wait()


async def test_a_slow_check_leaves_the_event_loop_to_other_calls(desk, server):
    """The check waits for the loop: on it, it would wait in vain."""
    server.script = [streamed(reply())]
    begun, ended = threading.Event(), threading.Event()

    def slow(query, draft, cited):
        begun.set()
        return (Check("grounded", ended.wait(5)),)

    async with desk(slow) as pipe:
        await pipe.send(UserStartedSpeakingFrame(), text(ASKED), UserStoppedSpeakingFrame())
        async with asyncio.timeout(10):
            while not begun.is_set():
                await settle()
        ended.set()
        assert (await pipe.down.wait_for(TTSSpeakFrame)).text == WORDED


# Replay


async def test_a_replay_judges_recorded_words_without_asking(desk, server, clinic, groundless):
    server.script = [streamed(reply())]
    async with desk() as pipe:
        await pipe.says(ASKED)
        await pipe.says("could you repeat that")
    assert (await replay(pipe.record.path, clinic, Policy())).changes == ()
    assert len(server.requests) == 1


async def test_a_replay_finds_recorded_words_that_may_not_be_spoken_any_more(
    desk, server, clinic, tmp_path, groundless
):
    server.script = [streamed(reply())]
    async with desk() as pipe:
        await pipe.says(ASKED)
    changed = tmp_path / "changed.jsonl"
    record = pipe.record.path.read_text("utf-8")
    changed.write_text(record.replace("555-0125", "555-0199"), "utf-8")
    (change,) = (await replay(changed, clinic, Policy())).changes
    assert (change.field, change.after) == ("say", QUOTED)
    assert "555-0199" in change.before


async def test_a_replay_asks_again_if_told_to(desk, server, clinic):
    server.script = [streamed(reply()), streamed(reply("Call 555-0125 for a refill."))]
    async with desk() as pipe:
        await pipe.says(ASKED)
    again = generator_at(server)
    (change,) = (await replay(pipe.record.path, clinic, Policy(), Models(again))).changes
    await again.close()
    assert (change.before, change.after) == (WORDED, "Call 555-0125 for a refill.")


async def test_a_rewritten_question_is_recorded_and_replayed(clinic, tmp_path, server):
    said = "would my wife be able to get a refill instead or not at all"
    server.script = [streamed(json.dumps({"question": said}))]
    rewriter = Rewriter(Server(server.url, "m", timeout_s=20), budget_ms=20_000)
    async with Desk(clinic, tmp_path, rewriter=rewriter) as pipe:
        await pipe.says(ASKED)
        await pipe.says("would my wife be able to do it instead or not at all")
    await rewriter.close()
    (rewriting,) = events(pipe.record, "rewriting")
    assert (rewriting["outcome"], rewriting["text"]) == ("accepted", said)
    assert events(pipe.record, "verdict")[1]["query"]["text"] == said
    assert (await replay(pipe.record.path, clinic, Policy())).changes == ()
    assert len(server.requests) == 1


# Settings and commands


@pytest.fixture
def configured(server, monkeypatch):
    """The settings of a machine that names the fake server."""

    def run(**more):
        for key, value in {"base_url": server.url, "model": "m", **more}.items():
            monkeypatch.setenv(f"FRONTDESK_GENERATION__{key.upper()}", str(value))

    return run


def test_generation_is_off_by_default(settings, clinic):
    assert generator_of(settings(), clinic) is None
    assert rewriter_of(settings()) is None


@pytest.mark.parametrize("half", [{"base_url": "http://h/v1"}, {"model": "m"}])
def test_half_a_configuration_is_an_error(settings, clinic, half):
    with pytest.raises(ConfigError, match=r"\[generation\] needs base_url .* and model"):
        generator_of(settings(generation=half), clinic)


async def test_every_setting_reaches_the_server_or_the_budget(
    settings, clinic, server, monkeypatch
):
    monkeypatch.setenv("CHAT_KEY", "k-1")
    server.script = [[HANG], [HANG]]
    told = settings(
        generation={
            "base_url": server.url, "model": "m2", "key_variable": "CHAT_KEY", "timeout_s": 0.04,
            "budget_ms": 10_000, "fast_score": 1.1, "passages": 1, "temperature": 0.3,
            "max_tokens": 77,
        }
    )  # fmt: skip
    generator = generator_of(told, clinic)
    done = await answered(Session(clinic, Policy()), FACTOID, words=generator)
    await generator.close()
    assert (done.generated.outcome, done.generated.tries) == ("timeout", 2)
    headers, body = server.requests[0]
    assert headers["authorization"] == "bearer k-1"
    assert (body["model"], body["temperature"], body["max_tokens"]) == ("m2", 0.3, 77)
    assert len(json.loads(body["messages"][1]["content"])["passages"]) == 1


async def test_ask_shows_what_the_model_said_and_how_long_it_took(
    command, server, configured, groundless
):
    configured(timeout_s=20, budget_ms=20_000)
    server.script = [streamed(reply()), streamed(reply()), streamed(reply("Call 555-0199."))]
    code, out, _ = await asyncio.to_thread(command, "ask", ASKED, "--json")
    shape = json.loads(out)
    assert (code, shape["say"], shape["answered_by"]) == (0, WORDED, "generated")
    assert shape["generation"]["outcome"] == "accepted"
    assert {"generate", "generate_first_token"} <= shape["timings_ms"].keys()
    _, out, _ = await asyncio.to_thread(command, "ask", ASKED)
    assert out.startswith(WORDED)
    assert "accepted" in out
    assert f"'{WORDED} [{SOURCE}]'" in out
    assert "took     first token " in out
    _, out, _ = await asyncio.to_thread(command, "ask", ASKED)
    assert out.startswith(QUOTED)
    assert "unsupported_figure" in out
    assert "Call 555-0199." in out, "what it sent is shown, and not said"


@pytest.mark.parametrize(
    ("said", "outcome"),
    [
        (QUOTED, "accepted"),
        ("Our surgeons were trained in Paris by a famous dentist.", "check_failed: grounded"),
    ],
)
async def test_what_is_configured_checks_facts_and_grounding(
    command, server, configured, said, outcome
):
    configured(timeout_s=20, budget_ms=20_000)
    server.script = [streamed(reply(said))]
    _, out, _ = await asyncio.to_thread(command, "ask", ASKED, "--json")
    shape = json.loads(out)
    generation = shape["generation"]
    assert f"{generation['outcome']}: {generation['detail']}".startswith(outcome)
    if outcome == "accepted":
        names = [check["name"] for check in shape["checks"]]
        assert {"facts", "facts_in_passage", "grounded"} <= set(names)


async def test_ask_quotes_if_told_to(command, server, configured):
    configured()
    _, out, _ = await asyncio.to_thread(command, "ask", ASKED, "--no-generate", "--json")
    shape = json.loads(out)
    assert (shape["say"], shape["generation"]) == (QUOTED, None)
    assert server.requests == []


@pytest.mark.slow
async def test_a_real_call_is_answered_in_the_models_words(
    settings, call_engines, server, monkeypatch
):
    generator = generator_at(server, fast_score=1.1)
    monkeypatch.setattr(call_engines, "generator", generator)
    said = "We open at 9 a.m. on Saturday."
    server.script = [streamed(reply(said, ["kb-hours#2"]))] * 5
    async with serving(settings(), call_engines) as desk:
        result = await desk.call([turn("q001", "gongitsune")], linger_ms=3000)
        recorded = await desk.record()
    assert result.unanswered == ()
    (verdict,) = (event for event in recorded if event["event"] == "verdict")
    assert (verdict["answered_by"], verdict["say"]) == ("generated", said)
    assert generator._chat._client.is_closed, "the server has stopped"
