"""The verbs that jambonz is answered with: https://docs.jambonz.org/verbs/overview."""

from __future__ import annotations

import json
from typing import Any

from telephony.provider import RING_S, Answer, is_sip
from telephony.providers.dial_url import DialAsked
from telephony.providers.jambonz_serializer import RATE_HZ
from telephony.xml import plain

HANG_UP = {"verb": "hangup"}


def verbs(*given: dict[str, Any]) -> Answer:
    """The answer of ``given``, which are done in turn."""
    return Answer(json.dumps(given))


def listen(url: str) -> dict[str, Any]:
    """Stream the call both ways, to the media socket at ``url``."""
    return {
        "verb": "listen",
        "url": url,
        "mixType": "mono",
        "sampleRate": RATE_HZ,
        "passDtmf": True,
        "bidirectionalAudio": {"enabled": True, "streaming": True, "sampleRate": RATE_HZ},
    }


def say(sentence: str) -> dict[str, Any]:
    """Say ``sentence`` in jambonz' voice."""
    return {"verb": "say", "text": plain(sentence)}


def dial(asked: DialAsked, number: str) -> dict[str, Any]:
    """Dial for the caller; ``number`` is ours, which is shown, if there is one."""
    verb: dict[str, Any] = {
        "verb": "dial",
        "target": [target(asked.to)],
        "timeout": RING_S,
        "actionHook": asked.then,
    }
    if number:
        verb["callerId"] = number
    if asked.whisper:
        verb["confirmHook"] = asked.whisper
    return verb


def target(to: str) -> dict[str, str]:
    """Whom to dial: a number or a SIP address."""
    if is_sip(to):
        return {"type": "sip", "sipUri": to}
    return {"type": "phone", "number": to}
