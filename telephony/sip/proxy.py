"""What passes the gate and how it is changed: a strict SIP proxy without I/O.

To the peers it looks like the agent itself, to the library like a proxy on this machine: it adds
and takes off its own Via and Record-Route (RFC 3261, 16.6 and 16.7; RFC 3581), writes its own
address in place of the library's into Contact and SDP, and has the audio pass its relay.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field

from frontdesk import WireError
from telephony.sip.addresses import Addresses, bracketed, place, shown
from telephony.sip.dialogs import Dialog, Dialogs, Offer
from telephony.sip.flow import Flow, Kind, Out, Target, ToLibrary, ToPeer
from telephony.sip.guard import Flood
from telephony.sip.message import Message, reply, tag, user, via_param, via_sent_by
from telephony.sip.sdp import Audio, audio_of, moved
from telephony.sip.strict import check, plain

ALLOW = "INVITE, ACK, BYE, CANCEL, OPTIONS, INFO, REFER, NOTIFY, UPDATE, PRACK"
CALLER, CALLED, TRUNK, SOURCE = (
    "X-Frontdesk-Caller",
    "X-Frontdesk-Called",
    "X-Frontdesk-Trunk",
    "X-Frontdesk-Host",
)
"""What the gate tells the library of a call; a peer's own headers of these names are dropped."""
AGENT = "frontdesk"
"""The user that every call is for, as the library knows it."""
_COOKIE = "z9hG4bKfd"


@dataclass(slots=True)
class Proxy:
    """Every message's way. ``secure_only`` refuses audio that is not encrypted."""

    at: Addresses
    dialogs: Dialogs
    flood: Flood
    trunk_of: Callable[[str], str | None]
    targets: dict[str, str] = field(default_factory=dict)
    """Host of a Request-URI to trunk: where the library may begin dialogs."""
    kinds: dict[str, Kind] = field(default_factory=dict)
    """Trunk to transport, where it is not UDP."""
    secure_only: bool = False
    counts: dict[str, int] = field(default_factory=dict)
    _secret: bytes = field(default_factory=lambda: secrets.token_bytes(16), repr=False)

    def from_peer(self, message: Message, flow: Flow, now: float) -> list[Out]:
        """What ``message``, which came over ``flow`` from one of the trunks, leads to.

        Raises:
            WireError: it is to be dropped.
        """
        if message.status:
            return self._response_from_peer(message, flow, now)
        back = self._reply_flow(message, flow)
        dialog = self.dialogs.get(message.call_id)
        if message.method == "ACK" and dialog is None:
            raise WireError("ACK of no call")  # of a response that the gate gave itself
        refused = self._refusal(message, dialog, flow, now)
        if refused:
            self.counts[refused[1]] = self.counts.get(refused[1], 0) + 1
            more = [("Allow", ALLOW)] if refused[0] in (200, 405) else []
            more += [("Retry-After", "5")] if refused[0] == 503 else []
            return [ToPeer(back, reply(message, *refused, *more).encode())]
        if dialog is None:
            dialog = self.dialogs.get(message.call_id)
        assert dialog is not None
        try:
            return self._to_library(message, dialog, flow, back, now)
        except WireError:
            if message.method == "ACK":
                raise
            if message.method == "INVITE" and not message.in_dialog and not dialog.settled:
                self.dialogs.over(message.call_id, now)
            return [ToPeer(back, reply(message, 400, "Bad Request").encode())]

    def _refusal(
        self, message: Message, dialog: Dialog | None, flow: Flow, now: float
    ) -> tuple[int, str] | None:
        if message.get("Max-Forwards") == "0":
            return 483, "Too Many Hops"
        if dialog is not None and self.trunk_of(flow.host) != dialog.trunk:
            return 481, "Call Does Not Exist"
        if message.method == "OPTIONS" and not message.in_dialog:
            return 200, "OK"
        if message.method == "INVITE" and not message.in_dialog:
            return self._refuse_invite(message, dialog, flow, now)
        if dialog is None:
            known = message.method in ALLOW.split(", ")
            return (481, "Call Does Not Exist") if known else (405, "Method Not Allowed")
        return None

    def _refuse_invite(
        self, message: Message, dialog: Dialog | None, flow: Flow, now: float
    ) -> tuple[int, str] | None:
        if message.get("Replaces"):
            return 481, "Call Does Not Exist"  # nobody takes a call of ours over (RFC 3891, 3)
        branch = message.every("Via")[0]
        known = plain(user(message.get("P-Asserted-Identity") or message.get("From")))
        if dialog is not None and dialog.branch == (via_param(branch, "branch") or branch):
            return None  # sent again: the library knows it
        if dialog is not None and dialog.over_at is None:
            return 482, "Loop Detected"
        if not self.flood.take(flow.host, now):
            return 503, "Service Unavailable"
        try:
            check(message)
        except WireError:
            return 400, "Bad Request"
        if message.body and not _is_sdp(message):
            return 415, "Unsupported Media Type"
        try:
            audio = audio_of(message.body) if message.body else None
        except WireError:
            return 488, "Not Acceptable Here"
        if message.body and (
            audio is None or not audio.port or (self.secure_only and not audio.secure)
        ):
            return 488, "Not Acceptable Here"
        made = Dialog(
            self.trunk_of(flow.host) or "",
            flow,
            branch=via_param(branch, "branch") or branch,
            caller=known,
            touched=now,
        )
        return None if self.dialogs.begin(message.call_id, made) else (486, "Busy Here")

    def _to_library(
        self, message: Message, dialog: Dialog, flow: Flow, back: Flow, now: float
    ) -> list[Out]:
        check(message)
        vias = message.every("Via")
        digest = self._digest(vias[0], message)
        self._offered(message, dialog, flow, digest)
        dialog.touched = now
        branch = f"{_COOKIE}.{back.key}.{digest}"
        message.put("Via", [f"SIP/2.0/UDP {self.at.inner};branch={branch}", *vias])
        message.put("Route", [])
        message.put("Max-Forwards", ["70"])
        for name in (CALLER, CALLED, TRUNK, SOURCE):
            message.put(name, [])
        if message.method == "INVITE" and not message.in_dialog:
            called = plain(user(message.uri) or user(message.get("To")))
            told = {CALLER: dialog.caller, CALLED: called, TRUNK: dialog.trunk, SOURCE: flow.host}
            message.headers += [(name, value) for name, value in told.items() if value]
            message.put(
                "Record-Route", [f"<sip:{self.at.inner};lr>", *message.every("Record-Route")]
            )
        message.start = f"{message.method} sip:{AGENT}@{self.at.library} SIP/2.0"
        return [ToLibrary(message.encode())]

    def _response_from_peer(self, message: Message, flow: Flow, now: float) -> list[Out]:
        dialog = self.dialogs.get(message.call_id)
        vias = message.every("Via")
        if dialog is None or len(vias) < 2:
            raise WireError("response to nothing that was asked")
        if via_param(vias[0], "branch") != f"{_COOKIE}.out.{self._digest(vias[1], message)}":
            raise WireError("response to nothing that was asked")
        if self.trunk_of(flow.host) != dialog.trunk:
            raise WireError("response from elsewhere")
        if 300 <= message.status < 400:  # nobody sends the agent elsewhere
            message.start = "SIP/2.0 480 Temporarily Unavailable"
            message.put("Contact", [])
        check(message)
        dialog.touched = now
        message.put("Via", vias[1:])
        if message.cseq_method == "REGISTER":
            here = ":".join(map(str, self.at.public(flow)))
            contacts = [c.replace(here, self.at.library) for c in message.every("Contact")]
            message.put("Contact", contacts)
        if dialog.target and message.cseq_method == "INVITE":
            routes = message.every("Record-Route")
            message.put("Record-Route", [*routes, f"<sip:{self.at.inner};lr>"])
            if 200 <= message.status < 300:
                dialog.answered_by = dialog.answered_by or tag(message.get("To"))
            elif message.status >= 300 and not (dialog.answered_by or message.status in (401, 407)):
                self.dialogs.over(message.call_id, now)
        self._answered(message, dialog, flow)
        return [ToLibrary(message.encode())]

    def target(self, message: Message, alive: Callable[[Flow], bool]) -> Target | None:
        """Where the gate must find its way to before ``message`` of the library can go on.

        None: its peer's flow is known, and its connection, if it has one, is ``alive``. A provider
        that we register with by UDP is looked up each time: its address may have changed.

        Raises:
            WireError: there is no such trunk.
        """
        if message.status:
            return None
        dialog = self.dialogs.get(message.call_id)
        if dialog is None or dialog.flow is None:
            return self._target(message)
        if dialog.flow.kind != "udp" and not alive(dialog.flow):
            routes = self._routes(message)
            _, port = place(routes[0].partition("<")[2] if routes else message.uri)
            kind = dialog.flow.kind
            gone = Target(kind, dialog.flow.host, port or (5061 if kind == "tls" else 5060))
            return dialog.target or gone
        return dialog.target if message.method == "REGISTER" and dialog.flow.kind == "udp" else None

    def from_library(self, message: Message, now: float, found: Flow | None = None) -> list[Out]:
        """What ``message``, which the library sent, leads to; ``found`` is where its target is.

        Raises:
            WireError: it is to be dropped.
        """
        if message.status:
            return self._response_from_library(message, now)
        dialog = self.dialogs.get(message.call_id) or self._begun(message, now)
        flow = dialog.flow = found or dialog.flow
        if flow is None:
            raise WireError("request to nowhere")
        message.put("Route", self._routes(message))
        host, port = self.at.public(flow)
        vias = message.every("Via")
        via = f"SIP/2.0/{flow.kind.upper()} {bracketed(host)}:{port};rport;branch="
        message.put("Via", [f"{via}{_COOKIE}.out.{self._digest(vias[0], message)}", *vias])
        self._outward(message, dialog, flow)
        if message.method == "BYE":
            self.dialogs.over(message.call_id, now)
        return [ToPeer(flow, message.encode())]

    def _routes(self, message: Message) -> list[str]:
        """Those beyond the gate."""
        return [route for route in message.every("Route") if self.at.inner not in route]

    def _begun(self, message: Message, now: float) -> Dialog:
        if message.method not in ("INVITE", "REGISTER"):
            raise WireError("request of no dialog")
        target = self._target(message)
        dialog = Dialog(self.targets[target.host], None, target=target, touched=now)
        calls = message.method == "INVITE"
        if not self.dialogs.begin(message.call_id, dialog, audio=calls):
            raise WireError("too many calls at once")
        return dialog

    def _target(self, message: Message) -> Target:
        host, port = place(message.uri)
        if host not in self.targets:
            raise WireError("call to a host of no trunk")
        kind = self.kinds.get(self.targets[host], "udp")
        return Target(kind, host, port or (5061 if kind == "tls" else 5060))

    def _response_from_library(self, message: Message, now: float) -> list[Out]:
        vias = message.every("Via")
        branch = (via_param(vias[0], "branch") or "").split(".")
        if branch[0] != _COOKIE or len(branch) != 3 or len(vias) < 2:
            raise WireError("response to nothing that was asked")
        back = Flow.of(branch[1])
        message.put("Via", vias[1:])
        ours = f"<sip:{self.at.inner};lr>"
        message.put("Record-Route", [r for r in message.every("Record-Route") if r != ours])
        dialog = self.dialogs.get(message.call_id)
        if dialog is not None:
            self._settle(message, dialog, branch[2], back)
            self._outward(message, dialog, back)
            first = message.cseq_method == "INVITE" and dialog.branch == via_param(
                vias[1], "branch"
            )
            ended = message.cseq_method == "BYE" and 200 <= message.status < 300
            if ended or (message.status >= 300 and first):
                self.dialogs.over(message.call_id, now)
        return [ToPeer(back, message.encode())]

    def _offered(self, message: Message, dialog: Dialog, flow: Flow, digest: str) -> None:
        """The SDP of a peer's request: an offer, which counts if the library takes it.

        One that it refuses (another's tags, two at a time, no codec) moves nobody's audio.
        """
        audio = self._audio_in(message, dialog)
        if audio is None or dialog.media is None:
            return
        if message.method != "ACK":
            dialog.offer = Offer(digest, audio, flow.host)
        elif dialog.awaits_answer:
            dialog.awaits_answer = False
            dialog.media.peer_at(audio, flow.host)

    def _answered(self, message: Message, dialog: Dialog, flow: Flow) -> None:
        """The SDP of a peer's response; of several that answer one call, the first counts."""
        audio = self._audio_in(message, dialog)
        other = dialog.answered_by and tag(message.get("To")) != dialog.answered_by
        if audio is not None and dialog.media is not None and message.status < 300 and not other:
            dialog.media.peer_at(audio, flow.host)

    def _settle(self, message: Message, dialog: Dialog, digest: str, back: Flow) -> None:
        """What the library's response makes of a peer's request: its offer, and where it is."""
        offer, done = dialog.offer, 200 <= message.status < 300
        if done and message.cseq_method in ("INVITE", "UPDATE"):
            dialog.flow = back
        if offer is not None and offer.request == digest:
            if done or (message.status < 200 and message.body):
                if dialog.media is not None:
                    dialog.media.peer_at(offer.audio, offer.host)
                dialog.settled = digest
            if message.status >= 300 or dialog.settled == digest:
                dialog.offer = None
        elif done and message.cseq_method == "INVITE" and dialog.settled != digest:
            dialog.awaits_answer = bool(message.body)
            dialog.settled = digest

    def _audio_in(self, message: Message, dialog: Dialog) -> Audio | None:
        """Have the peer's audio come to the library by the relay; where the peer wants its own."""
        if not message.body or not _is_sdp(message) or dialog.media is None:
            return None
        audio = audio_of(message.body)
        inner = self.at.inner.rpartition(":")[0]
        message.body = moved(message.body, inner, dialog.media.inner_port)
        return audio if audio is not None and audio.port else None

    def _outward(self, message: Message, dialog: Dialog, flow: Flow) -> None:
        """Show the gate's address for the library's, in Contact and SDP."""
        host, port = self.at.public(flow)
        here = f"{bracketed(host)}:{port}"
        contacts = [shown(c, self.at.library, here, flow.kind) for c in message.every("Contact")]
        message.put("Contact", contacts)
        able = [each for each in message.every("Supported") if each != "replaces"]
        message.put("Supported", able)
        if message.body and _is_sdp(message) and dialog.media is not None:
            audio = audio_of(message.body)
            if audio is not None and audio.port:
                dialog.media.library_at(audio)
            message.body = moved(message.body, host, dialog.media.outer_port)

    def _digest(self, via: str, message: Message) -> str:
        """The same for each copy of a request, its CANCEL, ACK and responses; by no one else."""
        branch = via_param(via, "branch") or via
        number = message.get("CSeq").split()[0]
        text = "\n".join((branch, message.call_id, number, tag(message.get("From"))))
        made = hashlib.blake2s(
            text.encode("utf-8", "surrogateescape"), digest_size=10, key=self._secret
        )
        return made.hexdigest()

    def _reply_flow(self, message: Message, flow: Flow) -> Flow:
        """Where the response goes; notes in the top Via where the request came from."""
        vias = message.every("Via")
        if not vias:
            raise WireError("SIP message without a header it needs")
        host, port = via_sent_by(vias[0])
        back = flow
        if flow.kind == "udp" and via_param(vias[0], "rport") is None:
            back = Flow("udp", flow.host, port or 5060)
        noted = ";".join(
            part
            for part in vias[0].split(";")
            if not part.strip().lower().startswith(("rport", "received"))
        )
        if via_param(vias[0], "rport") is not None:
            noted += f";rport={flow.port};received={flow.host}"
        elif host != flow.host:
            noted += f";received={flow.host}"
        message.put("Via", [noted, *vias[1:]])
        return back


def _is_sdp(message: Message) -> bool:
    return message.get("Content-Type").partition(";")[0].strip().lower() == "application/sdp"
