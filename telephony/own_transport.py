"""What the transports of wires that Pipecat has none for share: SIP and AudioSocket."""

from __future__ import annotations

import asyncio

from pipecat.frames.frames import CancelFrame, EndFrame, InputAudioRawFrame, StartFrame
from pipecat.transports.base_input import BaseInputTransport
from pipecat.transports.base_output import BaseOutputTransport
from pipecat.transports.base_transport import BaseTransport, TransportParams


class OwnTransport(BaseTransport):
    """The two halves of one call."""

    def __init__(self, source: BaseInputTransport, sink: BaseOutputTransport) -> None:
        super().__init__()
        self._source = source
        self._sink = sink

    def input(self) -> BaseInputTransport:
        """What the caller says."""
        return self._source

    def output(self) -> BaseOutputTransport:
        """What the caller hears."""
        return self._sink


class OwnInput(BaseInputTransport):
    """Runs :meth:`listen` from the pipeline's start to its end.

    Audio is handed on where it was received: there is no filter, so nothing for a queue and a task
    of its own to wait for (see ``telephony.media_socket``).
    """

    def __init__(self, params: TransportParams) -> None:
        super().__init__(params)
        self._listening: asyncio.Task[None] | None = None

    async def listen(self) -> None:
        """Push what the caller says, until cancelled or the call is over."""
        raise NotImplementedError

    async def start(self, frame: StartFrame) -> None:
        """Begin to listen."""
        await super().start(frame)
        await self.set_transport_ready(frame)
        if self._listening is None:
            self._listening = self.create_task(self.listen())

    async def stop(self, frame: EndFrame) -> None:
        """Listen no more."""
        await super().stop(frame)
        await self._stop()

    async def cancel(self, frame: CancelFrame) -> None:
        """Listen no more."""
        await super().cancel(frame)
        await self._stop()

    async def cleanup(self) -> None:
        """Listen no more."""
        await super().cleanup()
        await self._stop()

    async def push_audio_frame(self, frame: InputAudioRawFrame) -> None:
        """At once."""
        await self.push_frame(frame)

    def _create_audio_task(self) -> None:
        """There is nothing for it to do."""

    async def _stop(self) -> None:
        listening, self._listening = self._listening, None
        if listening is not None:
            await self.cancel_task(listening)


class OwnOutput(BaseOutputTransport):
    """Ready as soon as the pipeline starts; ``write_audio_frame`` keeps the time."""

    async def start(self, frame: StartFrame) -> None:
        """Begin to speak."""
        await super().start(frame)
        await self.set_transport_ready(frame)
