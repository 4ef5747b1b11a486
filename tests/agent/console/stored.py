"""Calls for the console: real questions through the real answer path into a real store."""

import asyncio

import numpy as np
import soundfile

from agent.answering import Answered
from agent.guess import Guessed
from agent.session import Session
from agent.trace import CallTrace
from agent.turn_events import record_reply
from frontdesk import Spoken
from rag import Policy

GREETING = "Thanks for calling the clinic. How can I help you?"
SATURDAY = "What time do you guys open on Saturday?"
PIZZA = "Do you sell pizza with anchovies?"
EVIL = "<img src=x onerror='globalThis.ran = 1'><script>globalThis.ran = 1</script>"
KNOWN = {"caller": "+15550100042", "called": "+15550100001"}
TEN = (
    SATURDAY,
    "and what about sunday",
    "How much does a flu shot cost?",
    PIZZA,
    "Where can I park?",
    "How long does a refill take?",
    "Do I need to call twenty four hours before to cancel?",
    "When do you open on Monday?",
    "Do you take my insurance?",
    "Okay thank you goodbye",
)


def talk(record, index, questions, *, wire="browser"):
    """Have the agent of ``index`` answer ``questions`` in the call of ``record``, and end it."""
    trace, session = CallTrace(record), Session(index, Policy())
    record.event("ready", wire=wire, kb=index.kb.sha256[:16], passages=len(index.kb.passages))
    session.said(Spoken(GREETING))
    trace.event("said", say=GREETING)
    _spoken(trace, {})
    for heard in questions:
        trace.begin_turn()
        trace.passing("hearing", heard=heard)
        reply = session.reply(heard)
        session.accept(reply)
        record_reply(trace, heard, Answered(reply), Guessed())
        stages = {"paused": 96.0, "heard": 150.5, "turn_ended": 181.0, "decided": 190.0}
        _spoken(trace, stages | {"audible": 210.0 + len(heard)})
    record.close("caller hung up")


def _spoken(trace, stages_ms):
    trace.event("reply_started", stages_ms=stages_ms)
    trace.event("reply_ended", played_ms=900)


async def stored(records, index, questions=(SATURDAY, PIZZA), *, call_id="CA1", **known):
    """A call that is over and in the store; its id."""
    record = records.begin(call_id, **(KNOWN | known))
    talk(record, index, questions)
    await is_stored(records, record.id)
    return record.id


async def is_stored(records, name):
    """Wait until the store has the end of the call."""
    assert await asyncio.to_thread(records.settled)
    assert records.store.call(name).ended_at


def recorded(folder, name, seconds=3.0, rate_hz=8000):
    """Write a recording for a call: a tone of the caller, then one of the agent; its samples."""
    at = np.arange(int(seconds * rate_hz)) / rate_hz
    tone = (12_000 * np.sin(2 * np.pi * 440 * at)).astype(np.int16)
    sides = np.stack([tone * (at < seconds / 2), tone * (at >= seconds / 2)], axis=1)
    soundfile.write(
        str(folder / f"{name}.wav"), sides.astype(np.int16), rate_hz, subtype="ULAW", format="WAV"
    )
    return sides
