"""What every wire looks like from a call: what it can do, and what can be asked of it.

A wire that can't do something says so in its :class:`Capabilities`; asked for it anyway, it raises
:class:`frontdesk.TransferError` or drops the request, and the call goes on.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from frontdesk import TransferError, WireError
from telephony.capabilities import Capabilities
from telephony.start import CallStart

if TYPE_CHECKING:
    from pipecat.transports.base_transport import BaseTransport


class Listener(Protocol):
    """What a call wants to be told by its wire. Awaited in the receive loop: keep them short."""

    async def gone(self, cleanly: bool = True) -> None:
        """The far end has hung up; not ``cleanly`` where its socket closed without a word."""

    async def played(self, mark: str) -> None:
        """What was sent before ``mark`` was played, or dropped on a clear."""

    async def held(self, on: bool) -> None:
        """The far end has put the agent on hold, or takes it off."""

    async def failed(self, error: WireError) -> None:
        """The far end broke the protocol; nothing more will be read from it."""


class Line(ABC):
    """One call on its wire, from the moment its audio begins."""

    capabilities: ClassVar[Capabilities]
    start: CallStart
    transport: BaseTransport
    rate_hz: int
    """Of the pipeline's audio both ways: the wire's own, so that nothing is resampled."""

    def mark(self, name: str) -> dict[str, Any] | None:
        """The message that comes back as ``Listener.played(name)``; None where there are no marks.

        It goes down the pipeline as an ``OutputTransportMessageFrame`` behind the audio.
        """
        return None

    @abstractmethod
    async def hang_up(self) -> None:
        """End the call at the far end too. Idempotent; a failure is logged once, never raised."""

    async def transfer(self, to: str, *, summary: str = "") -> None:
        """Hand the caller to ``to``: a number, a SIP address or an extension.

        Returns when the far end has taken it on. ``summary`` is for the ear of whoever picks up,
        where the wire can whisper.

        Raises:
            TransferError: it was refused or not answered, or this wire has no transfer. The
                caller is still on the line.
        """
        raise TransferError("unsupported", f"{self.capabilities.name} cannot transfer a call")

    def show(self, event: Mapping[str, Any]) -> None:  # noqa: B027 - optional
        """An event of the call's record, for wires with a screen; what may be seen is theirs."""

    async def press(self, digits: str) -> None:  # noqa: B027 - optional
        """Send keypad ``digits`` to the far end; dropped where the wire cannot."""
