"""Genesys' side: the client of AudioHook, as the Call Audio Connector action runs it.

Protocol: https://developer.genesys.cloud/devapps/audiohook/protocol-reference.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from frontdesk import WireError
from telephony.far_end import (
    Clear,
    Dialled,
    FarEnd,
    FromAgent,
    HandOver,
    HangUp,
    Mark,
    Media,
    Message,
    Reply,
    json_message,
)

_ORGANIZATION = "d7934305-0972-4844-938e-9060eef73d05"
_MEDIA = {"type": "audio", "format": "PCMU", "channels": ["external"], "rate": 8000}
_PING_FRAMES = 250
_MAX_MESSAGE_BYTES = 64000


class GenesysFarEnd(FarEnd):
    """One session. Each audio message of the agent's is a mark: the last one's is its silence.

    ``organization`` and ``variables`` are what the flow's action passes on.
    """

    name = "genesys"
    path = "/genesys/media"

    def __init__(
        self,
        call_id: str,
        *,
        caller: str = "",
        called: str = "",
        organization: str = _ORGANIZATION,
        variables: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(call_id, caller=caller, called=called)
        self.session = str(uuid.uuid4())
        self.organization = organization
        self._variables = dict(variables or {})
        self._sent = self._received = 0
        self._frames = 0
        self._queued = 0
        self._playing = False

    def socket(self, url: str) -> Dialled:
        """With the headers of the handshake, unsigned."""
        headers = {
            "audiohook-organization-id": self.organization,
            "audiohook-session-id": self.session,
            "audiohook-correlation-id": str(uuid.uuid4()),
        }
        return Dialled(url, headers=headers)

    def begin(self, parameters: Mapping[str, str]) -> list[Message]:
        """``open``."""
        extra = {k: v for k, v in parameters.items() if k not in ("caller", "called")}
        participant = {
            "id": str(uuid.uuid4()),
            "ani": f"tel:{self.caller}",
            "aniName": "",
            "dnis": f"tel:{self.called}",
        }
        opening = {
            "organizationId": self.organization,
            "conversationId": self.call_id,
            "participant": participant,
            "media": [_MEDIA],
            "language": "en-US",
            "inputVariables": {**self._variables, **extra},
        }
        return [self._message("open", opening)]

    def media(self, frame: int, payload: bytes) -> list[Message]:
        """The payload; a ping every five seconds."""
        self._frames += 1
        if self._frames % _PING_FRAMES:
            return [payload]
        return [payload, self._message("ping", {"rtt": "PT0.02S"})]

    def lost(self) -> None:
        """The session's position goes on."""
        self._frames += 1

    def played(self, names: Sequence[str]) -> list[Message]:
        """``playback_completed``, once the last of what came was played."""
        if str(self._queued) not in names:
            return []
        self._playing = False
        return [self._message("playback_completed", {})]

    def cleared(self, names: Sequence[str]) -> list[Message]:
        """Nothing: a barge-in is not confirmed."""
        self._playing = False
        return []

    def press(self, digit: str) -> list[Message]:
        """A dtmf message."""
        return [self._message("dtmf", {"digit": digit})]

    def hang_up(self) -> list[Message]:
        """``close``."""
        return [self._message("close", {"reason": "end"})]

    def read(self, data: Message) -> list[FromAgent]:
        """Audio, barge-in, the end, and the answers to our messages."""
        if isinstance(data, bytes):
            return self._audio(data)
        message = json_message(data)
        self._check(message)
        given = message["parameters"]
        match message.get("type"):
            case "event" if given.get("entities") == [{"type": "barge_in", "data": {}}]:
                return [Clear()]
            case "disconnect" if given.get("reason") in ("completed", "error"):
                return self._disconnect(given.get("outputVariables") or {})
            case "closed":
                return [HangUp()]
            case "opened" if given.get("media") == [_MEDIA]:
                return []
            case "pong" | "updated":
                return []
        raise WireError("the agent sent a type that is none of its own")

    def _audio(self, data: bytes) -> list[FromAgent]:
        if len(data) > _MAX_MESSAGE_BYTES:
            raise WireError(f"the agent sent over {_MAX_MESSAGE_BYTES} bytes of audio at once")
        self._queued += 1
        asked: list[FromAgent] = [Media(data), Mark(str(self._queued))]
        if not self._playing:
            self._playing = True
            asked.append(Reply((self._message("playback_started", {}),)))
        return asked

    def _disconnect(self, variables: Mapping[str, Any]) -> list[FromAgent]:
        close = Reply((self._message("close", {"reason": "disconnect"}),))
        if variables.get("action") == "transfer":
            return [HandOver(str(variables.get("transfer_to", ""))), close]
        return [close]

    def _check(self, message: Mapping[str, Any]) -> None:
        """Number, session and what of ours was received, as Genesys checks them."""
        self._received += 1
        if message.get("version") != "2" or message.get("id") != self.session:
            raise WireError("the agent's message is of another session")
        if message.get("seq") != self._received:
            raise WireError("the agent's message is out of sequence")
        clientseq = message.get("clientseq")
        if not isinstance(clientseq, int) or not 1 <= clientseq <= self._sent:
            raise WireError("the agent confirms a message that was not sent")
        if not isinstance(message.get("parameters"), dict):
            raise WireError("the agent's message has no parameters")

    def _message(self, kind: str, given: Mapping[str, Any]) -> str:
        self._sent += 1
        return json.dumps(
            {
                "version": "2",
                "id": self.session,
                "type": kind,
                "seq": self._sent,
                "serverseq": self._received,
                "position": f"PT{self._frames * 0.02:.2f}S",
                "parameters": dict(given),
            }
        )
