"""The question maker against a fake server that speaks the protocol over a real socket."""

import json
import logging

import pytest

from agent.question_maker import LIMIT, QuestionError, QuestionMaker
from agent.remote import Server
from frontdesk import ConfigError
from rag.expand.kept import Kept
from rag.types import Passage
from tests.agent.fake_openai import serving

POOL = "The pool is open until 9:30 p.m. and costs $5."
ASKED = ["Until what time can I swim?", "What do you charge for a swim?"]


def passage(text=POOL, number=1, **fields):
    return Passage(f"a#{number}", "a", "The pool", text, 0, len(text), "", **fields)


def said(content):
    return {"choices": [{"message": {"role": "assistant", "content": content}}]}


def made_of(questions):
    return said(json.dumps({"questions": questions}))


@pytest.fixture
def server(monkeypatch):
    with serving(lambda body: made_of(ASKED), monkeypatch) as fake:
        yield fake


@pytest.fixture
def maker(server):
    """``maker(**changes)``: one that asks the fake server; waits are kept in ``.waits``."""
    made = []

    def make(**changes):
        waits = []
        where = {"base_url": server.url, "model": "m", "timeout_s": 5.0, **changes}
        one = QuestionMaker(Server(**where), sleep=waits.append)
        one.waits = waits
        made.append(one)
        return one

    yield make
    for one in made:
        one.close()


def test_the_questions_come_as_callers_are_looked_up(maker, server):
    assert maker().make(passage()) == (
        "until what time can i swim",
        "what do you charge for a swim",
    )
    path, headers, body = server.requests[0]
    assert path == "/v1/chat/completions"
    assert "Authorization" not in headers
    assert body["model"] == "m"
    assert body["messages"][0]["role"] == "system"
    assert body["messages"][-1]["role"] == "user"
    assert body["messages"][-1]["content"] == f"Heading: The pool\nPassage: {POOL}"
    assert body["response_format"]["json_schema"]["schema"]["required"] == ["questions"]


def test_the_question_of_the_source_is_not_asked_for_again(maker, server):
    maker().make(passage(question="When does the pool close?"))
    assert "When does the pool close?" in server.requests[0][2]["messages"][-1]["content"]


def test_the_key_comes_from_the_named_variable_alone(maker, server, monkeypatch):
    monkeypatch.setenv("OTHER_KEY", "k-123")
    maker(key_variable="OTHER_KEY").make(passage())
    assert server.requests[0][1]["Authorization"] == "Bearer k-123"
    monkeypatch.delenv("OTHER_KEY")
    with pytest.raises(ConfigError, match="questions server's key is not set; export OTHER_KEY="):
        maker(key_variable="OTHER_KEY")


@pytest.mark.parametrize("changes", [{"base_url": ""}, {"base_url": "host:80"}, {"model": ""}])
def test_an_address_or_model_is_missing(maker, changes):
    with pytest.raises(ConfigError, match=r"\[questions\] needs base_url .* and model"):
        maker(**changes)


def test_what_states_another_number_or_is_too_long_is_dropped(maker, server):
    long = "can i " + "really " * 14 + "swim"
    dropped = [
        "Is it open till 10?",
        "can I swim at nine thirty",
        long,
        "Why?",
        "how much is that",
        7,
    ]
    kept = [*ASKED, "Can I swim at 9:30 for 5 dollars?", "until WHAT time, can I swim"]
    server.answers.append((200, {}, made_of([*dropped, *kept])))
    assert maker().make(passage()) == (
        "until what time can i swim",
        "what do you charge for a swim",
        "can i swim at 9:30 for 5 dollars",
    )


def test_a_number_word_of_the_passage_is_its_number(maker, server):
    server.answers.append((200, {}, made_of(["do results take 2 days"])))
    assert maker().make(passage("Results take two days.")) == ("do results take 2 days",)


def test_no_more_than_the_limit(maker, server):
    many = [f"can i swim in the {word} pool" for word in "abcdefghijklm"]
    server.answers.append((200, {}, made_of(many)))
    assert len(maker().make(passage())) == LIMIT


def test_text_around_the_json_is_passed_over(maker, server):
    wrapped = f"Sure!\n```json\n{json.dumps({'questions': ASKED})}\n```"
    server.answers.append((200, {}, said(wrapped)))
    assert len(maker().make(passage())) == 2


@pytest.mark.parametrize(
    ("answer", "line"),
    [
        (b"<html>", "something else than questions"),
        ({"choices": []}, "something else than questions"),
        ([], "something else than questions"),
        (b"", "something else than questions"),
        (said("I cannot do that."), "something else than questions"),
        (said('{"questions": ['), "something else than questions"),
        (said('{"answers": []}'), "something else than questions"),
        (said('{"questions": "can i swim here"}'), "something else than questions"),
        (said(None), "something else than questions"),
        (said(""), "something else than questions"),
        (made_of([]), "no question that can be used"),
        (made_of(["Is it open till 10?"]), "no question that can be used"),
    ],
)
def test_a_bad_reply(maker, server, answer, line):
    server.answers.append((200, {}, answer))
    with pytest.raises(QuestionError, match=rf"/v1/chat/completions .*{line}"):
        maker().make(passage())
    assert len(server.requests) == 1


def test_a_busy_server_is_asked_once_more(maker, server):
    one = maker()
    server.answers.append((500, {}, b"busy"))
    assert one.make(passage())
    assert one.waits == [1.0]
    server.answers += [(500, {}, b"busy")] * 2
    with pytest.raises(QuestionError, match=r"answered 500 \(busy\)"):
        one.make(passage())


def test_a_server_that_does_not_answer_in_time(maker, server):
    server.wait.clear()
    with pytest.raises(QuestionError, match=r"no answer within 0\.05 s; raise timeout_s"):
        maker(timeout_s=0.05).make(passage())
    server.wait.set()


def test_only_what_is_not_kept_is_asked_for(maker, server, tmp_path):
    old, new = passage(), passage("The sauna is closed.", 2)
    maker()([old], Kept(tmp_path, "m"))
    server.requests.clear()
    seen = []
    kept = Kept(tmp_path, "m")
    maker()([old, new, new], kept, lambda *done: seen.append(done))
    assert [body["messages"][-1]["content"] for _, _, body in server.requests] == [
        "Heading: The pool\nPassage: The sauna is closed."
    ]
    assert seen == [("ask", 1, 1)]
    assert kept.of(new) == kept.of(old) == Kept(tmp_path, "m").of(new)
    assert Kept(tmp_path, "another model").of(new) is None


def test_where_the_model_fails_nothing_is_kept_and_one_line_says_so(
    maker, server, tmp_path, caplog
):
    server.answers += [(200, {}, b"<html>"), (200, {}, made_of([]))]
    passages = [passage(f"The pool has a {word} slide.", n) for n, word in enumerate("abcde")]
    kept = Kept(tmp_path, "m")
    with caplog.at_level(logging.WARNING, "agent.question_maker"):
        maker()(passages, kept)
    (line,) = caplog.messages
    assert line.startswith("2 of 5 passages left to the rules for their questions: questions serv")
    assert len(kept.missing(passages)) == 2


def test_a_server_that_is_gone_is_given_up(maker, server, tmp_path, caplog):
    server.answers += [(401, {}, b"no")] * 50
    passages = [passage(f"The pool has {n} slides.", n) for n in range(50)]
    kept = Kept(tmp_path, "m")
    maker()(passages, kept)
    # Three in a row, and what was under way beside them.
    assert 3 <= len(server.requests) <= 6
    assert "50 of 50 passages left to the rules" in caplog.text
    assert "check the key in key_variable" in caplog.text
    server.answers.clear()
    maker()(passages, kept)
    assert kept.missing(passages) == []
