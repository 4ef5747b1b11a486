"""A call on a provider's media socket."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from loguru import logger
from pipecat.transports.websocket.fastapi import FastAPIWebsocketParams
from starlette.websockets import WebSocket, WebSocketDisconnect

from frontdesk import TransferError, WireError
from telephony.media_socket import MediaSocketTransport
from telephony.provider import Provider
from telephony.start import CallStart
from telephony.wire import Line, Listener

Returns = Callable[[CallStart, str], tuple[str, str]]
"""Of a call and its summary: the URL that says the summary, the one that is told how it ended."""


class SocketLine(Line):
    """One accepted media socket, behind the messages that start the call.

    ``returns`` makes the URLs of a transfer; without it there is none by REST.
    """

    def __init__(
        self,
        provider: Provider,
        socket: WebSocket,
        start: CallStart,
        listener: Listener,
        *,
        max_bytes: int,
        returns: Returns | None = None,
    ) -> None:
        self.capabilities = provider.capabilities  # type: ignore[misc]
        self.start = start
        self._provider = provider
        self._returns = returns
        self._left = False
        self._serializer = provider.serializer(start, listener, max_bytes=max_bytes)
        self.rate_hz = self._serializer.rate_hz
        self.transport = self._media = MediaSocketTransport(
            socket,
            FastAPIWebsocketParams(
                audio_in_enabled=True,
                audio_out_enabled=True,
                audio_out_10ms_chunks=provider.chunk_ms // 10,
                audio_out_end_silence_secs=1,  # the last word is played before the hang-up
                audio_out_write_timeout_secs=2.0,
                fixed_audio_packet_size=provider.packet_bytes or None,
                serializer=self._serializer,
            ),
        )

        async def closed(*_: object) -> None:
            await listener.gone(cleanly=self.stopped or self._serializer.close_is_stop)

        async def send(message: str) -> None:
            with suppress(RuntimeError, WebSocketDisconnect):  # closed: nobody waits for it
                await socket.send_text(message)

        self._serializer.send = send

        self.transport.event_handler("on_client_disconnected")(closed)

    @property
    def stopped(self) -> bool:
        """Whether the far end said that the call has ended."""
        return self._serializer.stopped

    def mark(self, name: str) -> dict[str, Any] | None:
        """The provider's mark message."""
        return self._serializer.mark(name)

    async def hang_up(self) -> None:
        """By REST, where the far end has not hung up itself, nor taken the caller elsewhere."""
        if self._left or self.stopped:
            return
        self._left = True
        try:
            await self._provider.hang_up(self.start)
        except WireError as error:
            logger.warning("call {}: hang-up: {}", self.start.call_id, error)

    async def press(self, digits: str) -> None:
        """By REST; a failure is logged."""
        try:
            await self._provider.press(self.start, digits)
        except WireError as error:
            logger.warning("call {}: keys: {}", self.start.call_id, error)

    async def transfer(self, to: str, *, summary: str = "") -> None:
        """By REST or a message: the provider takes the call off this socket, and closes it.

        Raises:
            TransferError: the provider did not take it on.
        """
        message = self._serializer.hand_over(to, summary)
        if message is not None:
            await self._media.send_now(message)
            self._left = True
            return
        whisper, then = "", ""
        if self._returns is not None:
            whisper, then = self._returns(self.start, summary)
        elif self._provider.needs_return_url:
            raise TransferError("unsupported", "no public URL to return to")
        await self._provider.transfer(self.start, to, summary=summary, whisper=whisper, then=then)
        self._left = True
