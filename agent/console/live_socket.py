"""The socket on which a page watches the calls in progress."""

from __future__ import annotations

import asyncio

from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from agent.console.guard import session_of
from agent.console.live import Live, TooMany, Watcher
from agent.console.sessions import Session, Sessions

_TRY_LATER = 1013  # RFC 6455's registry of close codes
_SESSION_OVER = 4401
_GOING = 1001


class LiveSocket:
    """One route; each socket gets messages as :mod:`agent.console.live` makes them."""

    def __init__(self, live: Live, sessions: Sessions) -> None:
        self._live = live
        self._sessions = sessions

    def route(self) -> WebSocketRoute:
        """It."""
        return WebSocketRoute("/api/live", self.watch)

    async def watch(self, socket: WebSocket) -> None:
        """Tell of every event, until the watcher goes, is too slow, or their session is over."""
        try:
            watcher = self._live.watch()
        except TooMany:
            await socket.close(_TRY_LATER)
            return
        try:
            await socket.accept()
            code = await self._until_over(socket, watcher, session_of(socket))
            if code:
                await socket.close(code)
        except (WebSocketDisconnect, RuntimeError):  # gone, perhaps while it was being told
            return
        finally:
            self._live.leave(watcher)

    async def _until_over(self, socket: WebSocket, watcher: Watcher, session: Session) -> int:
        """The code to close with; 0 if they went."""
        telling = asyncio.create_task(_tell(socket, watcher))
        hearing = asyncio.create_task(_hear(socket))
        over = asyncio.create_task(session.over.wait())
        ways = {telling, hearing, over}
        try:
            await asyncio.wait(
                ways,
                timeout=self._sessions.left_s(session),
                return_when=asyncio.FIRST_COMPLETED,
            )
            if hearing.done():
                return 0
            if telling.done():
                return _TRY_LATER if watcher.too_slow else _GOING
            return _SESSION_OVER
        finally:
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)


async def _tell(socket: WebSocket, watcher: Watcher) -> None:
    while (message := await watcher.queue.get()) is not None:
        await socket.send_text(message)


async def _hear(socket: WebSocket) -> None:
    """Until they are gone. They have nothing to say: what comes is dropped."""
    while (await socket.receive())["type"] != "websocket.disconnect":
        continue
