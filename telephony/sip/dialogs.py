"""The dialogs that pass through the gate: who is at the other end, and where their audio goes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

from telephony.sip.flow import Flow, Target
from telephony.sip.sdp import Audio

LINGER_S = 33.0
"""A dialog that is over is remembered so long, for what is sent again (RFC 3261: 64 * T1)."""


class Media(Protocol):
    """The relay of one call's audio."""

    outer_port: int
    """Where the peer sends to."""
    inner_port: int
    """Where the library sends to."""

    def peer_at(self, audio: Audio, signalling: str) -> None:
        """The peer's SDP, which stands, says so; it came from the address ``signalling``."""

    def library_at(self, audio: Audio) -> None:
        """The library's SDP said so."""

    def idle_s(self, now: float) -> float:
        """Seconds since a packet of either side passed."""

    def close(self) -> None:
        """Let go of the ports. Idempotent."""


@dataclass(frozen=True, slots=True)
class Offer:
    """The peer's SDP in a request, by the request's digest; it counts once it is accepted."""

    request: str
    audio: Audio
    host: str


@dataclass(slots=True)
class Dialog:
    """One Call-ID. ``flow`` is where its peer was heard last; None until it is resolved."""

    trunk: str
    flow: Flow | None
    branch: str = ""
    caller: str = ""
    media: Media | None = None
    target: Target | None = None
    """Where the library began it; None where the peer did."""
    answered_by: str = ""
    """The tag of the peer that answered the library's call: of several, the first."""
    offer: Offer | None = None
    settled: str = ""
    """The digest of the INVITE whose offer was accepted last."""
    awaits_answer: bool = False
    """Whether the library made an offer that the peer's ACK is to answer."""
    over_at: float | None = None
    touched: float = 0.0


class Dialogs:
    """By Call-ID. At most ``most`` at a time that are not over.

    ``open_media`` is told the trunk.
    """

    def __init__(self, open_media: Callable[[str], Media], *, most: int, idle_s: float) -> None:
        self._open_media = open_media
        self._most = most
        self._idle_s = idle_s
        self._all: dict[str, Dialog] = {}

    def __iter__(self) -> Iterator[Dialog]:
        return iter(list(self._all.values()))

    def __len__(self) -> int:
        return sum(d.over_at is None for d in self._all.values())

    def get(self, call_id: str) -> Dialog | None:
        """The dialog, over or not."""
        return self._all.get(call_id)

    def begin(self, call_id: str, dialog: Dialog, *, audio: bool = True) -> bool:
        """Take on ``dialog``; False where there are too many, or no port is left."""
        if len(self) >= self._most:
            return False
        if audio:
            try:
                dialog.media = self._open_media(dialog.trunk)
            except OSError:
                return False
        self._all[call_id] = dialog
        return True

    def over(self, call_id: str, now: float) -> None:
        """The dialog has ended: its ports are let go, what is sent again still passes."""
        dialog = self._all.get(call_id)
        if dialog is None or dialog.over_at is not None:
            return
        dialog.over_at = now
        if dialog.media:
            dialog.media.close()

    def sweep(self, now: float) -> None:
        """Forget what has long been over, or has neither signalled nor carried audio for long."""
        for call_id, dialog in list(self._all.items()):
            if dialog.over_at is None:
                quiet_s = now - dialog.touched
                if dialog.media:
                    quiet_s = min(quiet_s, dialog.media.idle_s(now))
                if quiet_s > self._idle_s:
                    self.over(call_id, now)
            elif now - dialog.over_at > LINGER_S:
                del self._all[call_id]
