"""The form that Twilio, Telnyx, Plivo and Exotel share: JSON messages with an ``event``."""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from pipecat.frames.frames import Frame

from frontdesk import WireError
from telephony.g711 import SAMPLE_RATE_HZ, ulaw_decode, ulaw_encode
from telephony.guarded import Guarded, keypad
from telephony.messages import parse_message, part, payload_of
from telephony.start import CallStart
from telephony.wire import Listener

STEADY_FRAMES = 3
_OPENING = ("connected", "start")


class MeasuredClock:
    """A far end's timestamps, once they have turned out to be milliseconds.

    Telnyx does not document their unit, and Exotel's examples differ. In any other (samples, say)
    each frame would seem to follow a gap.
    """

    def __init__(self) -> None:
        self._due_ms = math.nan
        self._steady = 0

    def ms(self, stamp: Any, length_ms: float) -> float | None:
        """``stamp`` of a frame of ``length_ms``; None until a few have followed on each other."""
        try:
            at_ms = float(stamp)
        except (TypeError, ValueError, OverflowError):
            return None
        if self._steady < STEADY_FRAMES:
            on_time = abs(at_ms - self._due_ms) <= length_ms / 4  # never of the first: NaN
            self._steady = self._steady + 1 if on_time else 0
            self._due_ms = at_ms + length_ms
        return at_ms if self._steady >= STEADY_FRAMES else None


class Enveloped(Guarded):
    """Messages with an ``event`` and the id of their stream; unknown events are ignored.

    Here are media in base64 (µ-law at 8 kHz unless ``decode`` and ``encode`` say otherwise),
    dtmf, mark and stop; a provider's own class names what differs. Pipecat's makes the clear.
    """

    known_events: ClassVar[frozenset[str]] = frozenset({"media", "dtmf", "mark", "stop"})
    stream_key: ClassVar[str]
    names_each_stream: ClassVar[bool] = False
    """Whether every message in has the stream's id; else one that lacks it is taken too."""
    stamps_in_ms: ClassVar[bool] = False
    """Whether the provider documents that its timestamps are milliseconds."""
    audio_event: ClassVar[str] = "media"
    audio_fields: ClassVar[Mapping[str, Any]] = {}
    """What stands beside the payload of our audio."""
    decode: Callable[[bytes], NDArray[np.int16]] = staticmethod(ulaw_decode)
    max_payload_bytes = SAMPLE_RATE_HZ
    """A second of audio in one message; providers send 20 to 200 ms."""

    def begin(self, call: CallStart, listener: Listener, max_bytes: int) -> None:
        """Set up; call it in ``__init__`` after Pipecat's."""
        self.guard(listener, max_bytes=max_bytes)
        self.stream_id = call.stream_id
        self._clock = MeasuredClock()
        media = self.message(self.audio_event, media={**self.audio_fields, "payload": ""})
        self._head = json.dumps(media, separators=(",", ":")).removesuffix('"}}')

    def message(self, event: str, **fields: Any) -> dict[str, Any]:
        """A message of ours."""
        return {"event": event, self.stream_key: self.stream_id, **fields}

    def mark(self, name: str) -> dict[str, Any]:
        """The far end sends it back once everything sent before it was played or cleared.

        Push it behind the utterance's ``TTSStoppedFrame``: that frame flushes the last partial
        chunk, a mark ahead of it overtakes it.
        """
        return self.message("mark", mark={"name": name})

    def encode(self, samples: NDArray[np.int16]) -> str:
        """A media message; a string is joined, at half the cost of ``json.dumps``."""
        return f'{self._head}{base64.b64encode(self.encoded(samples)).decode("ascii")}"}}}}'

    def encoded(self, samples: NDArray[np.int16]) -> bytes:
        """The payload of ``samples``."""
        return ulaw_encode(samples)

    def heard(self, samples: NDArray[np.int16], timestamp_ms: Any = None) -> Frame | None:
        """The frame of ``samples``, with what was lost before it; None if there are none."""
        if not self.stamps_in_ms:
            timestamp_ms = self._clock.ms(timestamp_ms, samples.size * 1000 / self.rate_hz)
        return super().heard(samples, timestamp_ms)

    async def event(self, data: str | bytes) -> Frame | None:
        """What one message says."""
        message = parse_message(data, self.max_bytes)
        event = message.get("event")
        if not isinstance(event, str):
            raise WireError("message without an event name")
        if event in _OPENING:
            raise WireError(f"second {event} message")
        if event not in self.known_events:
            return None
        unnamed = None if self.names_each_stream else self.stream_id
        if message.get(self.stream_key, unnamed) != self.stream_id:
            raise WireError(f"{event} message of another stream")
        return await self.known(event, message)

    async def known(self, event: str, message: Mapping[str, Any]) -> Frame | None:
        """What a message of a known event says: here media, dtmf and mark; others end the call.

        Raises:
            WireError: it breaks the protocol.
        """
        match event:
            case "media":
                return self._media(part(message, "media"))
            case "dtmf":
                return keypad(part(message, "dtmf").get("digit"))
            case "mark":
                await self.returned(part(message, "mark"), "mark")
            case _:
                await self.stop()
        return None

    async def returned(self, mark: Mapping[str, Any], event: str) -> str:
        """Tell that the mark named in a message of ``event`` is back; its name."""
        name = mark.get("name")
        if not isinstance(name, str):
            raise WireError(f"{event} message without a name")
        await self.listener.played(name)
        return name

    def _media(self, media: Mapping[str, Any]) -> Frame | None:
        """The caller's audio; None for our own, mirrored by a stream of both tracks."""
        payload = payload_of(media, self.max_payload_bytes)
        if media.get("track", "inbound") != "inbound":
            return None
        return self.heard(self.decode(payload), media.get("timestamp"))
