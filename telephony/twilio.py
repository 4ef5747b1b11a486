"""Twilio Media Streams in Pipecat: a strict serializer, and marks.

The parts that need no Pipecat (TwiML, ``read_start``) are in ``telephony.twilio_start`` and
exported from here too.
"""

from __future__ import annotations

import base64
import binascii
import math
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pipecat.audio.dtmf.types import KeypadEntry
from pipecat.frames.frames import AudioRawFrame, Frame, InputAudioRawFrame, InputDTMFFrame
from pipecat.serializers.twilio import TwilioFrameSerializer

from frontdesk import WireError
from telephony.g711 import SAMPLE_RATE_HZ, ulaw_decode, ulaw_encode
from telephony.gaps import Timeline, filling
from telephony.twilio_start import (
    KNOWN_EVENTS,
    MAX_MESSAGE_BYTES,
    PARAM_CALLED,
    PARAM_CALLER,
    CallStart,
    parse_message,
    read_start,
    twiml,
    twiml_refusal,
)

__all__ = [
    "MAX_MESSAGE_BYTES",
    "MAX_PAYLOAD_BYTES",
    "PARAM_CALLED",
    "PARAM_CALLER",
    "CallStart",
    "GuardedTwilioSerializer",
    "mark_message",
    "read_start",
    "twiml",
    "twiml_refusal",
]

MAX_PAYLOAD_BYTES = SAMPLE_RATE_HZ
"""One second of µ-law in one message; Twilio sends 20 ms."""


def mark_message(stream_id: str, name: str) -> dict[str, Any]:
    """A mark; the far end sends it back once everything sent before it was played or cleared.

    Push it as ``OutputTransportMessageFrame(mark_message(...))`` after the utterance's
    ``TTSStoppedFrame``: that frame flushes the last partial chunk, a mark ahead of it overtakes it.
    """
    return {"event": "mark", "streamSid": stream_id, "mark": {"name": name}}


class GuardedTwilioSerializer(TwilioFrameSerializer):
    """Twilio's wire format, strict about what comes in; unknown events are ignored.

    A message that breaks the protocol sets ``error`` once and every later message is dropped.
    With ``on_error`` that callback gets the ``WireError`` and nothing is raised: log there and end
    the call. Without it the ``WireError`` is raised: Pipecat's input transport logs it as one
    line and calls ``on_client_disconnected``. ``on_stop`` runs when the far end says that the
    call has ended, and ``stopped`` is True from then on; ``on_mark`` gets each name that came
    back. The callbacks are awaited in the receive loop: keep them short
    (``PipelineTask.cancel`` is, it only queues a frame).

    Frames that got lost, by the timestamps of those that came, are made up for (see
    ``telephony.gaps``). Audio at 8 kHz passes without a resampler: 16 µs a 20 ms message in, 8 µs
    a 40 ms chunk out. The call is hung up over REST at the end only when ``auth_token`` is given
    and the start message named its account.
    """

    def __init__(
        self,
        call: CallStart,
        *,
        auth_token: str | None = None,
        max_bytes: int = MAX_MESSAGE_BYTES,
        max_payload_bytes: int = MAX_PAYLOAD_BYTES,
        on_stop: Callable[[], Awaitable[None]] | None = None,
        on_mark: Callable[[str], Awaitable[None]] | None = None,
        on_error: Callable[[WireError], Awaitable[None]] | None = None,
    ) -> None:
        super().__init__(
            stream_sid=call.stream_id,
            call_sid=call.call_id,
            account_sid=call.account_id,
            auth_token=auth_token,
            params=TwilioFrameSerializer.InputParams(
                auto_hang_up=bool(auth_token and call.account_id)
            ),
        )
        self.error: WireError | None = None
        self.stopped = False
        self._max_bytes = max_bytes
        self._max_payload_bytes = max_payload_bytes
        self._on_stop = on_stop
        self._on_mark = on_mark
        self._on_error = on_error
        self._timeline = Timeline()
        self._before: NDArray[np.int16] = np.zeros(0, np.int16)
        self._head = f'{{"event":"media","streamSid":"{call.stream_id}","media":{{"payload":"'

    async def serialize(self, frame: Frame) -> str | bytes | None:
        """The message for ``frame``: media, clear on an interruption, a mark; None for others."""
        if isinstance(frame, AudioRawFrame) and frame.sample_rate == SAMPLE_RATE_HZ:
            if not frame.audio:
                return None
            payload = base64.b64encode(ulaw_encode(np.frombuffer(frame.audio, np.int16)))
            return f'{self._head}{payload.decode("ascii")}"}}}}'
        return await super().serialize(frame)

    async def deserialize(self, data: str | bytes) -> Frame | None:
        """The audio or keypad frame in ``data``; None for other events, which may run a callback.

        Raises:
            WireError: once, if ``data`` breaks the protocol and there is no ``on_error``.
        """
        if self.error or self.stopped:
            return None
        try:
            message = parse_message(data, self._max_bytes)
            return await self._event(message)
        except WireError as error:
            self.error = error
            if self._on_error is None:
                raise
            await self._on_error(error)
            return None

    async def _event(self, message: Mapping[str, Any]) -> Frame | None:
        event = message.get("event")
        if not isinstance(event, str):
            raise WireError("message without an event name")
        if event in ("connected", "start"):
            raise WireError(f"second {event} message")
        if event not in KNOWN_EVENTS:
            return None
        if message.get("streamSid") != self._stream_sid:
            raise WireError(f"{event} message of another stream")
        if event == "media":
            return await self._media(_part(message, "media"))
        if event == "dtmf":
            return _keypad(_part(message, "dtmf"))
        if event == "mark":
            await self._mark(_part(message, "mark"))
            return None
        self.stopped = True
        if self._on_stop:
            await self._on_stop()
        return None

    async def _media(self, media: Mapping[str, Any]) -> Frame | None:
        payload = media.get("payload")
        if not isinstance(payload, str):
            raise WireError("media message without a payload")
        if media.get("track", "inbound") != "inbound":
            return None  # our own audio, mirrored by a stream that was asked for both tracks
        try:
            encoded = base64.b64decode(payload, validate=True)
        except (binascii.Error, ValueError):
            raise WireError("media payload is not base64") from None
        if len(encoded) > self._max_payload_bytes:
            raise WireError(f"media payload of over {self._max_payload_bytes} bytes")
        if not encoded:
            return None
        samples = ulaw_decode(encoded)
        audio = samples.tobytes()
        missing = self._missing(media.get("timestamp"), samples.size)
        if missing:
            audio = filling(self._before, missing).tobytes() + audio
        self._before = samples
        if self._sample_rate != SAMPLE_RATE_HZ:
            audio = await self._input_resampler.resample(audio, SAMPLE_RATE_HZ, self._sample_rate)
            if not audio:
                return None
        return InputAudioRawFrame(audio=audio, sample_rate=self._sample_rate, num_channels=1)

    def _missing(self, timestamp: Any, length: int) -> int:
        """How many samples to fill before ``length`` that come; none where there is no time."""
        try:
            at_ms = float(timestamp)
        except (TypeError, ValueError, OverflowError):
            at_ms = math.nan
        if not math.isfinite(at_ms):
            return 0
        missing_ms = self._timeline.missing_ms(at_ms, length * 1000 / SAMPLE_RATE_HZ)
        return round(missing_ms * SAMPLE_RATE_HZ / 1000)

    async def _mark(self, mark: Mapping[str, Any]) -> None:
        name = mark.get("name")
        if not isinstance(name, str):
            raise WireError("mark message without a name")
        if self._on_mark:
            await self._on_mark(name)


def _part(message: Mapping[str, Any], event: str) -> dict[str, Any]:
    part = message.get(event)
    if not isinstance(part, dict):
        raise WireError(f"{event} message without its {event} object")
    return part


def _keypad(dtmf: Mapping[str, Any]) -> Frame | None:
    digit = dtmf.get("digit")
    if not isinstance(digit, str):
        raise WireError("dtmf message without a digit")
    try:
        return InputDTMFFrame(KeypadEntry(digit))
    except ValueError:
        return None  # A to D exist on the wire; no telephone has the keys
