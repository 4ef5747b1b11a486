"""Call control objects (NCCO): https://developer.vonage.com/en/voice/voice-api/ncco-reference."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from telephony.provider import RING_S, Answer, is_sip
from telephony.providers.vonage_serializer import RATE_HZ
from telephony.xml import plain

CONTENT_TYPE = f"audio/l16;rate={RATE_HZ}"


def ncco(*actions: dict[str, Any]) -> Answer:
    """The answer of ``actions``, which are done in turn; the call ends behind the last."""
    return Answer(json.dumps(actions))


def talk(sentence: str) -> dict[str, Any]:
    """Say ``sentence`` in Vonage's voice."""
    return {"action": "talk", "text": plain(sentence)}


def connect_socket(url: str, headers: Mapping[str, str]) -> dict[str, Any]:
    """Connect the call to the media socket at ``url``; ``headers`` come in its first message."""
    socket = {
        "type": "websocket",
        "uri": url,
        "content-type": CONTENT_TYPE,
        "headers": dict(headers),
    }
    return {"action": "connect", "endpoint": [socket]}


def connect_person(to: str, ours: str, *, whisper: str, then: str) -> dict[str, Any]:
    """Dial ``to`` for the caller, ``ours`` shown; every event of that goes to ``then``."""
    dialled = endpoint(to)
    if whisper and dialled["type"] == "phone":
        dialled["onAnswer"] = {"url": whisper}
    action: dict[str, Any] = {
        "action": "connect",
        "endpoint": [dialled],
        "timeout": str(RING_S),
        "eventType": "synchronous",
        "eventUrl": [then],
    }
    if ours:
        action["from"] = digits(ours)
    return action


def endpoint(to: str) -> dict[str, Any]:
    """Whom to dial: a number or a SIP address."""
    if is_sip(to):
        return {"type": "sip", "uri": to}
    return {"type": "phone", "number": digits(to)}


def digits(phone: str) -> str:
    """A number as Vonage writes it: E.164, the digits alone."""
    return "".join(one for one in phone if one in "0123456789")
