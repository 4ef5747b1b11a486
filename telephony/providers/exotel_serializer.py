"""Exotel's Voicebot applet in Pipecat: strict, 16-bit linear, with marks.

Protocol: https://developer.exotel.com/docs/agentstream/websocket-protocol and
https://developer.exotel.com/docs/agentstream/stream-voicebot-applet.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from pipecat.serializers.exotel import ExotelFrameSerializer

from telephony.linear import read_linear, write_linear
from telephony.providers.envelope import Enveloped
from telephony.start import CallStart
from telephony.wire import Listener

RATES_HZ = (8000, 16000)


@dataclass(frozen=True, slots=True)
class ExotelStart(CallStart):
    """``rate_hz`` is what the applet was set to, both ways."""

    rate_hz: int = 8000


class ExotelSerializer(Enveloped, ExotelFrameSerializer):
    """Exotel's wire format."""

    stream_key = "stream_sid"

    def __init__(self, call: CallStart, listener: Listener, *, max_bytes: int) -> None:
        super().__init__(stream_sid=call.stream_id, call_sid=call.call_id)
        self.begin(call, listener, max_bytes)
        if isinstance(call, ExotelStart):
            self.rate_hz = call.rate_hz
        self.max_payload_bytes = 2 * self.rate_hz
        self.decode = lambda payload: read_linear(payload, self.rate_hz)

    def encoded(self, samples: NDArray[np.int16]) -> bytes:
        """The samples."""
        return write_linear(samples)
