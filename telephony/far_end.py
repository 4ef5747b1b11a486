"""The provider's side of a wire, for the test caller and the tests: what it sends, what it reads.

One class a wire, in ``telephony/far_ends/``. No I/O, no clock and no Pipecat: whoever holds the
socket says when a frame is due. Audio is µ-law at 8 kHz, 160 bytes a frame, on this side of it;
a wire of another format converts.
"""

from __future__ import annotations

import base64
import binascii
import json
import xml.etree.ElementTree as ElementTree
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from frontdesk import WireError

_MAX_ANSWER_CHARS = 65536

Message = str | bytes


@dataclass(frozen=True, slots=True)
class Media:
    """The agent's audio, µ-law at 8 kHz, to be queued behind what it sent before."""

    payload: bytes


@dataclass(frozen=True, slots=True)
class Mark:
    """To be sent back once everything before it was played."""

    name: str


@dataclass(frozen=True, slots=True)
class Clear:
    """Drop what is queued."""


@dataclass(frozen=True, slots=True)
class Press:
    """The agent presses a key."""

    digit: str


@dataclass(frozen=True, slots=True)
class HangUp:
    """The agent ends the call by a message."""


@dataclass(frozen=True, slots=True)
class HandOver:
    """The agent asks for a transfer by a message."""

    to: str


@dataclass(frozen=True, slots=True)
class Reply:
    """Messages to send at once: a pong, an acknowledgement."""

    messages: tuple[Message, ...]


FromAgent = Media | Mark | Clear | Press | HangUp | HandOver | Reply


@dataclass(frozen=True, slots=True)
class Dialled:
    """Where the media socket is, as the agent's answer to the webhook says, and what goes along."""

    url: str
    parameters: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    subprotocols: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Request:
    """The webhook as the provider would send it: of a form, or of a JSON body, or neither."""

    path: str
    method: str = "POST"
    form: Mapping[str, str] | None = None
    json: Mapping[str, object] | None = None


class FarEnd(ABC):
    """One call as its provider sees it. Raises ``WireError`` on what a provider would not take."""

    name: ClassVar[str]
    path: ClassVar[str]
    """Of the webhook, or of the media socket where there is no webhook."""
    id_prefix: ClassVar[str] = ""
    """What this wire's call ids begin with."""
    account_id: ClassVar[str] = ""
    """The account that its calls are of."""

    def __init__(self, call_id: str, *, caller: str = "", called: str = "") -> None:
        self.call_id = call_id
        self.caller = caller
        self.called = called

    def request(self) -> Request | None:
        """The webhook that announces the call; None where the socket comes first."""
        return None

    def dialled(self, body: str) -> Dialled:
        """Where the agent's answer to the webhook says that the socket is.

        Raises:
            WireError: it offers none: the call was refused.
        """
        raise NotImplementedError

    def socket(self, url: str) -> Dialled:
        """How to connect straight to the media socket at ``url``."""
        return Dialled(url)

    @abstractmethod
    def begin(self, parameters: Mapping[str, str]) -> list[Message]:
        """What is sent before the audio; ``parameters`` are :class:`Dialled`'s."""

    @abstractmethod
    def media(self, frame: int, payload: bytes) -> list[Message]:
        """Frame number ``frame`` (from 0; 20 ms, 160 bytes of µ-law) of the caller's audio."""

    def lost(self) -> None:  # noqa: B027 - most wires number nothing
        """The frame that was due was lost on the line: its number is used up."""

    def played(self, names: Sequence[str]) -> list[Message]:
        """The marks ``names`` were reached."""
        return []

    def cleared(self, names: Sequence[str]) -> list[Message]:
        """What was queued is dropped on the agent's clear, the marks ``names`` with it."""
        return self.played(names) if names else []

    def press(self, digit: str) -> list[Message]:
        """The caller presses a key; nothing where the wire has no keys."""
        return []

    def hang_up(self) -> list[Message]:
        """What is sent when the caller hangs up, before the socket is closed."""
        return []

    @abstractmethod
    def read(self, data: Message) -> list[FromAgent]:
        """What the agent's message asks for.

        Raises:
            WireError: it breaks the protocol.
        """


def json_message(data: Message) -> dict[str, Any]:
    """The agent's JSON message.

    Raises:
        WireError: it is binary, malformed or no object.
    """
    if not isinstance(data, str):
        raise WireError("the agent sent a binary message")
    try:
        message = json.loads(data)
    except (ValueError, RecursionError):
        raise WireError("the agent sent malformed JSON") from None
    if not isinstance(message, dict):
        raise WireError("the agent sent JSON that is not an object")
    return message


def media_payload(message: Mapping[str, Any]) -> bytes:
    """The audio in a message's ``media.payload``, decoded from base64.

    Raises:
        WireError: there is none, or it is not base64.
    """
    media = message.get("media")
    payload = media.get("payload") if isinstance(media, dict) else None
    if not isinstance(payload, str):
        raise WireError("the agent sent media without a payload")
    try:
        return base64.b64decode(payload, validate=True)
    except (binascii.Error, ValueError):
        raise WireError("the agent sent media that is not base64") from None


def mark_name(message: Mapping[str, Any]) -> str:
    """The name in a message's ``mark.name``.

    Raises:
        WireError: there is none.
    """
    mark = message.get("mark")
    name = mark.get("name") if isinstance(mark, dict) else None
    if not isinstance(name, str):
        raise WireError("the agent sent a mark without a name")
    return name


def xml_answer(text: str) -> ElementTree.Element:
    """The XML that the agent answered its webhook with.

    Raises:
        WireError: it is none.
    """
    if len(text) > _MAX_ANSWER_CHARS or "<!" in text:  # no document type: no entity expansion
        raise WireError("its answer is not XML")
    try:
        return ElementTree.fromstring(text)
    except ElementTree.ParseError:
        raise WireError("its answer is not XML") from None
