"""Pipecat's transport over a media socket, without the queue behind the caller's audio."""

from __future__ import annotations

from typing import Any

from pipecat.frames.frames import InputAudioRawFrame
from pipecat.transports.websocket.fastapi import (
    FastAPIWebsocketInputTransport,
    FastAPIWebsocketTransport,
)


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


class MediaSocketTransport(FastAPIWebsocketTransport):
    """``FastAPIWebsocketTransport`` at less cost; the arguments are the same."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._input = _Input(self, self._client, self._params, name=self._input_name)
