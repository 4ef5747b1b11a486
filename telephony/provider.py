"""A provider's side of the front door: its webhook, its media socket, its REST interface.

One subclass a provider, in ``telephony/providers/``. It holds no call: the server asks it to
check and read what arrives, and to write what goes back.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from frontdesk import ForbiddenError, TransferError
from frontdesk.errors import TransferProblem
from telephony.capabilities import Capabilities
from telephony.start import CallStart
from telephony.wire import Listener

if TYPE_CHECKING:
    from starlette.websockets import WebSocket

    from telephony.guarded import Guarded
    from telephony.rest import Credentials, Rest

RING_S = 20
"""How long a transfer rings before it counts as not answered."""


def is_sip(to: str) -> bool:
    """Whether ``to`` is a SIP address; else it is a number."""
    return to.startswith(("sip:", "sips:"))


@dataclass(frozen=True, slots=True)
class Account:
    """One account with a provider.

    ``secret`` checks signatures (an auth token, a public key, a shared secret), ``api_key`` opens
    the REST interface where that is another one; both come from variables and stay out of
    ``repr``. ``options`` are the provider's own further settings.
    """

    id: str = ""
    secret: str = field(default="", repr=False)
    api_key: str = field(default="", repr=False)
    api_url: str = ""
    number: str = ""
    options: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Webhook:
    """A request as the provider sent it.

    ``url`` is the public one, as the provider signed it, query included; header names are lower
    case; ``form`` holds the fields of a form body or of the query, ``json`` of a JSON body.
    """

    method: str
    url: str
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(default=b"", repr=False)
    form: Mapping[str, str] = field(default_factory=dict, repr=False)
    json: Mapping[str, Any] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True)
class Incoming:
    """A call that a webhook announces; the ids as in :class:`telephony.start.CallStart`."""

    call_id: str
    caller: str = field(default="", repr=False)
    called: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class Answer:
    """What goes back to a webhook."""

    body: str
    media_type: str = "application/json"
    status: int = 200


@dataclass(frozen=True, slots=True)
class Secrets:
    """Which variables hold a provider's ``secret`` and ``api_key``; empty: it has none."""

    secret: str = ""
    api_key: str = ""
    key_with_url: bool = False
    """Whether ``api_key`` is needed only where ``Account.api_url`` is set."""


class Provider(ABC):
    """What a provider's requests mean. Every method is safe to call at any time, for any call."""

    name: ClassVar[str]
    """In paths (``/NAME/voice``, ``/NAME/media/TOKEN``) and settings (``[providers.NAME]``)."""
    capabilities: ClassVar[Capabilities]
    secrets: ClassVar[Secrets]
    serializer_type: ClassVar[type[Any]]
    """The :class:`telephony.guarded.Guarded` that is made of a start, a listener and a limit."""
    api_url: ClassVar[str] = ""
    options: ClassVar[tuple[str, ...]] = ()
    """The keys that ``Account.options`` may have."""
    account_is: ClassVar[str] = ""
    """What ``Account.id`` is, where no call is ended, handed over or placed without it."""
    subprotocols: ClassVar[tuple[str, ...]] = ()
    rate_hz: ClassVar[int] = 8000
    chunk_ms: ClassVar[int] = 40
    """Of audio in one message to the provider; twice the usual 20 means half the messages."""
    packet_bytes: ClassVar[int] = 0
    """The one size that the provider takes of a binary message; 0: any."""
    socket_proves_itself: ClassVar[bool] = False
    """Whether the socket comes first, with no webhook before it to hand out a token, and is
    checked by :meth:`check` on its handshake."""
    needs_return_url: ClassVar[bool] = True
    """Whether a URL of ours is told how a transfer ended, or that a call of ours was answered."""

    def __init__(self, account: Account) -> None:
        self.account = account

    def prepare(self) -> None:
        """Do before the first call what would hold calls up, or end one, later.

        Raises:
            ConfigError: what the account holds cannot be used; the line names the variable.
        """
        given = self.credentials()
        if callable(given) or any(given):
            self._rest.open()

    def entrance(self, base: str) -> str:
        """What to enter at the provider's, in a line; ``base`` is the public URL."""
        if self.socket_proves_itself:
            return f"media socket {base.replace('http', 'ws', 1)}/{self.name}/media"
        return f"voice webhook {base}/{self.name}/voice, method POST"

    def credentials(self) -> Credentials:
        """What opens the REST interface; empty where there is none."""
        return ""

    @cached_property
    def _rest(self) -> Rest:
        from telephony.rest import Rest  # httpx costs 50 ms, and settings import this module

        url = self.account.api_url or self.api_url
        return Rest(self.capabilities.name, url, auth=self.credentials())

    async def close(self) -> None:
        """Close the connection to the REST interface, at the end of the server."""
        if "_rest" in vars(self):
            await self._rest.close()

    @abstractmethod
    def check(self, hook: Webhook) -> None:
        """Make sure that ``hook`` was sent by the provider for our account.

        Raises:
            ForbiddenError: its signature is missing, wrong, too old, or of another account.
        """

    def incoming(self, hook: Webhook) -> Incoming:
        """The call that ``hook`` announces.

        Raises:
            WireError: it announces none.
        """
        raise ForbiddenError(f"{self.capabilities.name} has no webhook here")

    def connect(self, url: str, call: Incoming) -> Answer:
        """Have ``call`` connected to the media socket at ``url`` (its token in the path)."""
        raise NotImplementedError

    def refuse(self, sentence: str) -> Answer:
        """Have ``sentence`` said and the call ended: all lines are busy."""
        raise NotImplementedError

    def hung_up(self) -> Answer:
        """Have the call ended with nothing more said, after a transfer that succeeded."""
        raise NotImplementedError

    def meanwhile(self, hook: Webhook) -> Answer | None:
        """What goes back to a request for a transfer's ``then`` URL while the dial goes on.

        None: the dial is over, and :meth:`transferred` knows how it ended.

        Raises:
            WireError: it cannot be read.
        """
        return None

    def transferred(self, hook: Webhook) -> bool:
        """Whether the dial of a transfer, of which ``hook`` tells the end, was answered."""
        raise NotImplementedError

    def transfer_problem(self, hook: Webhook) -> TransferProblem:
        """Why the dial of a transfer, of which ``hook`` tells the end, was not answered."""
        return "no answer"

    @abstractmethod
    async def read_start(self, socket: WebSocket, *, timeout_s: float, max_bytes: int) -> CallStart:
        """Read what comes before the audio on an accepted socket.

        Raises:
            WireError: anything else came, or nothing within ``timeout_s``.
        """

    def serializer(self, start: CallStart, listener: Listener, *, max_bytes: int) -> Guarded:
        """What turns this call's messages into frames and back."""
        made: Guarded = self.serializer_type(start, listener, max_bytes=max_bytes)
        return made

    async def hang_up(self, start: CallStart) -> None:  # noqa: B027 - optional
        """End the call by REST; nothing where closing the socket does. Idempotent.

        Raises:
            WireError: the provider did not do it. A call that is over already is no error.
        """

    async def press(self, start: CallStart, digits: str) -> None:  # noqa: B027 - optional
        """Send keypad ``digits`` to the far end by REST; nothing where the wire cannot.

        Raises:
            WireError: the provider did not do it.
        """

    def whisper(self, sentence: str) -> Answer:
        """Have ``sentence`` said to whoever took a transferred call, before the two are joined."""
        raise NotImplementedError

    async def transfer(
        self, start: CallStart, to: str, *, summary: str, whisper: str, then: str
    ) -> None:
        """Dial ``to`` for the caller by REST; whoever answers hears ``summary`` first.

        ``then`` is the URL that is told how the dial ended; its answer goes on with the call.
        ``whisper`` is one that answers with :meth:`whisper` of the summary, for providers that
        ask for it; empty where there is no summary.

        Raises:
            TransferError: the provider did not take it on.
        """
        raise TransferError("unsupported", f"{self.capabilities.name} cannot transfer a call")

    async def dial(self, to: str, *, answered: str) -> str:
        """Call ``to`` from our number; ``answered`` is asked, as a webhook, once it is picked up.

        Returns the call's id.

        Raises:
            WireError: the provider did not take it on.
        """
        raise TransferError("unsupported", f"{self.capabilities.name} cannot place a call")
