"""Twilio Media Streams in Pipecat: strict, with marks.

Protocol: https://www.twilio.com/docs/voice/media-streams/websocket-messages.
"""

from __future__ import annotations

from pipecat.serializers.twilio import TwilioFrameSerializer

from telephony.providers.envelope import Enveloped
from telephony.start import MAX_MESSAGE_BYTES, CallStart
from telephony.wire import Listener


class TwilioSerializer(Enveloped, TwilioFrameSerializer):
    """Twilio's wire format: 16 µs a 20 ms message in, 8 µs a 40 ms chunk out."""

    stream_key = "streamSid"
    names_each_stream = True
    stamps_in_ms = True

    def __init__(
        self, call: CallStart, listener: Listener, *, max_bytes: int = MAX_MESSAGE_BYTES
    ) -> None:
        super().__init__(
            stream_sid=call.stream_id,
            call_sid=call.call_id,
            account_sid=call.account_id,
            params=TwilioFrameSerializer.InputParams(auto_hang_up=False),
        )
        self.begin(call, listener, max_bytes)
