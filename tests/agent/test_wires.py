"""The same calls over every wire: the twelve core questions, barge-in, keys, both hang-ups.

All wires are called at once on one server, once for the module: two calls a wire.
"""

import asyncio
import math
import socket
from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest

from agent.settings import load_settings
from bench.recordings import turn
from telephony.caller import place_call
from telephony.caller_types import AUDIBLE, pressing
from telephony.far_ends import FAR_ENDS
from telephony.providers import PROVIDERS
from tests.agent.live import local_headers, serving
from tests.agent.test_core_questions import CORE, is_right

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]

VOICE = "gongitsune"
WIRES = sorted(FAR_ENDS)
NAMES = {
    "SIP": "sip",
    "Asterisk (AudioSocket)": "audiosocket",
    **{provider.capabilities.name: name for name, provider in PROVIDERS.items()},
}


def fluent(question):
    """The question without pauses of over 160 ms: how one is taken is not a matter of the wire."""
    spoken = turn(question, VOICE)
    frames = [spoken.audio[at : at + 160] for at in range(0, len(spoken.audio), 160)]
    kept, quiet = [], 0
    for frame in frames:
        quiet = 0 if np.abs(frame.astype(int)).max() > AUDIBLE else quiet + 1
        if quiet <= 8:
            kept.append(frame)
    return replace(spoken, audio=np.concatenate(kept))


LONG = [*(fluent(question) for question in CORE), turn("q215", VOICE)]
SHORT = [
    turn("q009", VOICE),
    turn("q001", VOICE, interrupts=True),
    replace(pressing("19"), expect_reply=False),
]


class Held:
    """What came of the calls over one wire: of the caller, and in the record."""

    def __init__(self):
        self.result, self.events = {}, {}


def free_port(kind):
    with socket.socket(socket.AF_INET, kind) as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


@pytest.fixture(scope="module")
def held(tmp_path_factory, call_engines):
    """Every wire's two calls: the core questions to the goodbye; and one that is cut short."""
    return asyncio.run(call_all(tmp_path_factory.mktemp("wires"), call_engines))


async def call_all(folder, engines):
    tcp, udp = free_port(socket.SOCK_STREAM), free_port(socket.SOCK_DGRAM)
    chosen = load_settings(
        records={"folder": folder},
        server={"max_calls": len(WIRES)},
        audiosocket={"listen": f"127.0.0.1:{tcp}"},
        sip={"listen": f"udp:127.0.0.1:{udp}"},
    )
    where = {"audiosocket": f"tcp://127.0.0.1:{tcp}", "sip": f"sip:agent@127.0.0.1:{udp}"}
    found = {wire: Held() for wire in WIRES}
    async with serving(chosen, engines) as server:

        async def one(number, wire, kind, turns):
            await asyncio.sleep(number * 0.37)  # nobody dials in the same 20 ms
            found[wire].result[kind] = await place_call(
                where.get(wire, server.url),
                turns,
                wire=wire,
                headers=local_headers(server),
                linger_ms=3000 if kind == "long" else 300,
            )

        for kind, turns in (("long", LONG), ("short", SHORT)):
            await asyncio.gather(*(one(n, wire, kind, turns) for n, wire in enumerate(WIRES)))
            await server.idle()
            for events in server.records()[-len(WIRES) :]:
                found[wire_of(events)].events[kind] = events
    return found


def wire_of(events):
    (name,) = (event["wire"] for event in events if event["event"] == "ready")
    return NAMES[name]


def as_decided(verdict):
    """A record's verdict in the shape that ``is_right`` judges."""
    return SimpleNamespace(
        decision=SimpleNamespace(value=verdict["decision"]),
        citations=tuple(verdict["citations"]),
        say=SimpleNamespace(text=verdict["say"]),
    )


@pytest.mark.parametrize("wire", WIRES)
def test_twelve_of_twelve(held, clinic_questions, wire):
    call = held[wire]
    assert call.result["long"].error is None
    assert call.result["long"].unanswered == ()
    rows = {row["id"]: row for row in clinic_questions}
    turns = call.result["long"].turns
    wrong = [
        (question, verdict["heard"], verdict["say"])
        for question, verdict in zip(CORE, last_verdicts(turns, call.events["long"]), strict=False)
        if not is_right(rows[question], as_decided(verdict))
    ]
    assert wrong == []


def last_verdicts(turns, events):
    """The last verdict of each turn: a pause may have split it, and the agent taken that back."""
    begun = [turn.start_s * 1000 for turn in turns]
    verdicts = [event for event in events if event["event"] == "verdict"]
    return [
        [verdict for verdict in verdicts if start < verdict["t_ms"] <= end][-1]
        for start, end in pairwise([*begun, math.inf])
    ]


@pytest.mark.parametrize("wire", WIRES)
def test_the_agent_hangs_up_after_its_goodbye(held, wire):
    result, events = held[wire].result["long"], held[wire].events["long"]
    assert result.ended_by == "agent"
    assert result.turns[-1].reply_ms > 1500, "the goodbye to its last word"
    assert events[-1]["reason"] == "agent hung up"


@pytest.mark.parametrize("wire", WIRES)
def test_a_caller_who_cuts_in_is_let_speak(held, wire):
    result, events = held[wire].result["short"], held[wire].events["short"]
    assert result.error is None
    assert result.turns[1].answered
    assert "Medicare" in next(e["say"] for e in events if e["event"] == "interrupted")
    # What was queued there is dropped; one message may have been on its way.
    chunk_ms = PROVIDERS[wire].chunk_ms if wire in PROVIDERS else 20
    assert result.late_ms <= chunk_ms + 20


@pytest.mark.parametrize("wire", WIRES)
def test_keys_arrive_once_each(held, wire):
    keys = [event["key"] for event in held[wire].events["short"] if event["event"] == "key"]
    assert len(keys) == 2


@pytest.mark.parametrize("wire", WIRES)
def test_a_caller_who_hangs_up_ends_the_call(held, wire):
    assert held[wire].result["short"].ended_by == "caller"
    assert held[wire].events["short"][-1]["reason"] == "caller hung up"
