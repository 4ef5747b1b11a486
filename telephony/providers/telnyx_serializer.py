"""Telnyx media streaming in Pipecat: strict, µ-law or A-law in, with marks.

Protocol: https://developers.telnyx.com/api-reference/websockets/stream-call-media-over-websocket.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from loguru import logger
from pipecat.frames.frames import Frame
from pipecat.serializers.telnyx import TelnyxFrameSerializer

from telephony.g711 import alaw_decode
from telephony.providers.envelope import Enveloped
from telephony.start import CallStart
from telephony.wire import Listener

ENCODINGS = {"PCMU": "PCMU", "audio/x-mulaw": "PCMU", "PCMA": "PCMA", "audio/x-alaw": "PCMA"}
"""Telnyx' names, those of its older documentation among them."""


@dataclass(frozen=True, slots=True)
class TelnyxStart(CallStart):
    """``encoding`` is that of the caller's audio; what we send is always µ-law."""

    encoding: str = "PCMU"


class TelnyxSerializer(Enveloped, TelnyxFrameSerializer):
    """Telnyx's wire format. What we send is µ-law, the codec that our TeXML asks for."""

    known_events = Enveloped.known_events | {"error"}
    stream_key = "stream_id"

    def __init__(self, call: CallStart, listener: Listener, *, max_bytes: int) -> None:
        super().__init__(
            stream_id=call.stream_id,
            outbound_encoding="PCMU",
            inbound_encoding="PCMU",
            params=TelnyxFrameSerializer.InputParams(auto_hang_up=False),
        )
        self.begin(call, listener, max_bytes)
        self._call_id = call.call_id
        self._complained = False
        if isinstance(call, TelnyxStart) and call.encoding == "PCMA":
            self.decode = alaw_decode

    def message(self, event: str, **fields: Any) -> dict[str, Any]:
        """A message of ours; the stream's id is in Telnyx' alone."""
        return {"event": event, **fields}

    async def known(self, event: str, message: Mapping[str, Any]) -> Frame | None:
        """What a message of a known event says."""
        if event == "error":
            self._complaint(message)
            return None
        return await super().known(event, message)

    def _complaint(self, message: Mapping[str, Any]) -> None:
        """Telnyx did not like what we sent; the call goes on, and one line is enough."""
        if self._complained:
            return
        self._complained = True
        payload = message.get("payload")
        code = payload.get("code") if isinstance(payload, dict) else None
        known = code if isinstance(code, int) and 0 < code < 1_000_000 else "unknown"
        logger.warning("call {}: Telnyx reports error {}", self._call_id, known)
