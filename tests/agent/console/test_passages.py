"""What was quoted, and whether the documents still say it."""

import json
from dataclasses import replace

from agent.console import turns
from agent.console.passages import Passages, pieces, quotes_in
from agent.console.turns import stage_spans
from agent.session import verdict_json
from rag import Policy, answer
from rag.types import Query

PASSAGE = "We open at 9 a.m. on Saturday. We are closed on Sunday. Parking is free."


def test_quoted_sentences_are_found_to_the_character():
    (span,) = quotes_in(PASSAGE, "We are closed on Sunday.")
    assert PASSAGE[slice(*span)] == "We are closed on Sunday."
    both = quotes_in(PASSAGE, "We open at 9 a.m. on Saturday. Parking is free.")
    assert [PASSAGE[slice(*span)] for span in both] == [
        "We open at 9 a.m. on Saturday.",
        "Parking is free.",
    ]
    assert [part["text"] for part in pieces(PASSAGE, both) if part["quoted"]] == [
        PASSAGE[slice(*span)] for span in both
    ]
    assert "".join(part["text"] for part in pieces(PASSAGE, both)) == PASSAGE


def test_other_words_are_shown_at_the_sentence_closest_to_them():
    (span,) = quotes_in(PASSAGE, "On Sunday we are closed, sorry.")
    assert PASSAGE[slice(*span)] == "We are closed on Sunday."
    assert quotes_in(PASSAGE, "Pizza with anchovies costs a lot.") == []
    assert quotes_in(PASSAGE, "On Sunday we are closed, sorry.", closest=False) == []
    assert quotes_in("", "x") == quotes_in(PASSAGE, "") == []


def verdict(clinic):
    query = Query("when do you open on saturday", "when do you open on saturday")
    event = verdict_json(answer(query, clinic, Policy()))
    return {"event": "verdict", "kb": clinic.kb.sha256[:16], **event}


def test_the_passage_is_shown_as_quoted_and_said_to_be_changed_when_it_is(clinic):
    event = verdict(clinic)
    (same,) = Passages(lambda: clinic).cited(event)
    assert same["state"] == "same"
    assert same["document"] == "kb-hours.md"
    assert same["revision"] == clinic.kb.sha256[:16]
    (quoted,) = [part["text"] for part in same["pieces"] if part["quoted"]]
    assert quoted == event["say"]
    assert event["hits"][0]["sha256"] == same["sha256"]
    event["hits"] = [hit | {"sha256": "0" * 64} for hit in event["hits"]]
    (changed,) = Passages(lambda: clinic).cited(event)
    assert changed["state"] == "changed"
    assert "changed since" in changed["note"]
    event["citations"] = ["kb-none#1"]
    (gone,) = Passages(lambda: clinic).cited(event)
    assert (gone["state"], gone["pieces"]) == ("gone", [])


def test_an_index_that_is_exchanged_is_asked_anew(clinic):
    now = [clinic]
    passages = Passages(lambda: now[0])
    assert passages.named("kb-hours#1")
    now[0] = replace(clinic, kb=replace(clinic.kb, passages=(), sha256="other"))
    assert passages.named("kb-hours#1") is None


def test_stages_follow_one_another():
    spans = stage_spans({"heard": 150.0, "paused": 96.0, "audible": 300.0, "unheard_of": 1.0})
    assert [(one["name"], one["from_ms"], one["to_ms"]) for one in spans] == [
        ("paused", 0.0, 96.0),
        ("heard", 96.0, 150.0),
        ("audible", 150.0, 300.0),
    ]


def test_a_record_of_another_version_is_shown_as_far_as_it_can_be(clinic):
    bare = [{"event": "verdict"}, {"event": "reply_started", "t_ms": "soon"}, {"event": "new"}, {}]
    (turn,) = turns.chain(bare, Passages(lambda: clinic))
    assert (turn["heard"], turn["hits"], turn["stages"], turn["score"]) == ("", [], [], None)
    assert [line["text"] for line in turns.lines(bare)][2:] == ["new", ""]
    json.dumps(turn)


def test_a_cut_reply_ends_where_it_was_cut_and_a_resumed_one_at_its_end(clinic):
    said = {"event": "said", "t_ms": 10.0, "say": "Hello."}
    begun = {"event": "reply_started", "t_ms": 20.0, "stages_ms": {}}
    cut = {"event": "interrupted", "t_ms": 500.0, "played_ms": 400}
    on = {"event": "resumed", "t_ms": 900.0, "heard": "uh"}
    ended = {"event": "reply_ended", "t_ms": 1900.0, "played_ms": 1500}
    (prompt,) = turns.prompts([said, begun, cut])
    assert prompt["reply_span_ms"] == [20.0, 420.0]
    (prompt,) = turns.prompts([said, begun, cut, on, ended])
    assert prompt["reply_span_ms"] == [20.0, 1520.0]
