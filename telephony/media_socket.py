"""Pipecat's transport over a media socket, without the queue behind the caller's audio."""

from __future__ import annotations

from typing import Any

from pipecat.frames.frames import (
    CancelFrame,
    EndFrame,
    Frame,
    InputAudioRawFrame,
    OutputTransportMessageUrgentFrame,
)
from pipecat.transports.websocket.fastapi import (
    FastAPIWebsocketInputTransport,
    FastAPIWebsocketOutputTransport,
    FastAPIWebsocketTransport,
)

from telephony.guarded import Guarded


class _Input(FastAPIWebsocketInputTransport):
    """Hands the caller's audio on where it was received.

    Pipecat queues it for a task of its own, for filters that take time: a wake-up for each 20 ms
    of each call, and there is no filter here.
    """

    async def push_audio_frame(self, frame: InputAudioRawFrame) -> None:
        if self._params.audio_in_enabled and not self._paused:
            await self.push_frame(frame)

    def _create_audio_task(self) -> None:
        """There is nothing for it to do."""


class _Output(FastAPIWebsocketOutputTransport):
    """Lets the far end answer our last message before the socket is closed."""

    async def _write_frame(self, frame: Frame) -> bool:
        sent = await super()._write_frame(frame)
        serializer = getattr(self._params, "serializer", None)
        if isinstance(frame, EndFrame | CancelFrame) and isinstance(serializer, Guarded):
            await serializer.part(self._client._websocket)
        return sent


class MediaSocketTransport(FastAPIWebsocketTransport):
    """``FastAPIWebsocketTransport`` at less cost; the arguments are the same."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._input = _Input(self, self._client, self._params, name=self._input_name)
        self._output = _Output(self, self._client, self._params, name=self._output_name)

    async def send_now(self, message: dict[str, Any]) -> None:
        """Send ``message`` past what is queued."""
        await self._output.send_message(OutputTransportMessageUrgentFrame(message))
