"""A proxy without sockets, and the messages and packets that it is given."""

from telephony.sip.addresses import Addresses
from telephony.sip.dialogs import Dialogs
from telephony.sip.flow import Flow, ToPeer
from telephony.sip.guard import Allowed, Flood, TrunkAddresses
from telephony.sip.message import parse
from telephony.sip.proxy import Proxy

PEER = Flow("udp", "203.0.113.7", 5062)
SDP = (
    "v=0\r\no=- 1 1 IN IP4 10.0.0.5\r\ns=-\r\nc=IN IP4 10.0.0.5\r\nt=0 0\r\n"
    "m=audio 6000 RTP/AVP 0 101\r\na=rtcp:6001\r\na=sendrecv\r\n"
    "m=video 7000 RTP/AVP 96\r\nc=IN IP4 10.0.0.6\r\n"
)


def request(method="INVITE", *, call_id="one@x", to_tag="", more=(), body=SDP, branch="z9hG4bKa"):
    lines = [
        f"{method} sip:+15555550199@192.0.2.1 SIP/2.0",
        f"v: SIP/2.0/UDP 10.0.0.5:5060;branch={branch};rport",
        "Max-Forwards: 70",
        'f: "Caller" <sip:+15555550100@203.0.113.7>;tag=abc',
        f"t: <sip:+15555550199@192.0.2.1>{f';tag={to_tag}' if to_tag else ''}",
        f"i: {call_id}",
        f"CSeq: 7 {method}",
        "m: <sip:me@10.0.0.5:5060>",
        *more,
        *(["c: application/sdp"] if body else []),
        f"l: {len(body)}",
        "",
        body,
    ]
    return "\r\n".join(lines).encode()


class FakeMedia:
    outer_port, inner_port = 30000, 40000

    def __init__(self):
        self.peer, self.library, self.closed = [], [], False

    def peer_at(self, audio, signalling):
        self.peer.append((audio.host, audio.port, signalling))

    def library_at(self, audio):
        self.library.append((audio.host, audio.port))

    def idle_s(self, now):
        return 0.0

    def close(self):
        self.closed = True


def proxy(**options):
    medias = []

    def open_media(trunk):
        assert trunk == "voip"
        medias.append(FakeMedia())
        return medias[-1]

    dialogs = Dialogs(open_media, most=3, idle_s=100)
    addresses = Addresses("127.0.0.1:5", "127.0.0.1:6", lambda flow: ("192.0.2.1", 5060))
    allowed = Allowed([TrunkAddresses("voip", ("203.0.113.0/24",))])
    one = Proxy(addresses, dialogs, Flood(10, 10), allowed.trunk, **options)
    return one, medias


def sent(outs):
    (out,) = outs
    return out, parse(out.data)


def refused(one, data, now=1.0):
    out, message = sent(one.from_peer(parse(data), PEER, now))
    assert isinstance(out, ToPeer)
    return message.status


def rtp(number, payload=b"\x11" * 160, kind=0):
    head = bytes([0x80, kind]) + number.to_bytes(2, "big") + (number * 160).to_bytes(4, "big")
    return head + b"\0\0\0\7" + payload
