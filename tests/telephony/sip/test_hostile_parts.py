"""What a peer of a trunk might try, and what must not come of it; mostly without sockets."""

import asyncio
import socket
import ssl

import pytest

from frontdesk import WireError
from telephony.sip.flow import Flow, Target, ToPeer
from telephony.sip.gate import Gate
from telephony.sip.guard import TrunkAddresses
from telephony.sip.message import parse
from telephony.sip.plan import Listen, Plan
from telephony.sip.relay import Relay, _Fill
from telephony.sip.sdp import Audio
from telephony.sip.streams import next_message
from tests.telephony.sip.parts import PEER, SDP, proxy, refused, request, rtp, sent

ELSEWHERE = SDP.replace("10.0.0.5", "10.0.0.9")
TARGETS = {"sip.example.com": "voip"}


def response(message, status, *, body="", to_tag="ours"):
    """The answer to a request of either side."""
    message.start = f"SIP/2.0 {status} Said"
    if to_tag and not message.in_dialog:
        message.put("To", [f"{message.get('To')};tag={to_tag}"])
    message.put("Contact", ["<sip:frontdesk@127.0.0.1:6>"])
    message.put("Content-Type", ["application/sdp"] if body else [])
    message.body = body.encode()
    return message


def answered(one):
    """A call that a peer began and the library took."""
    _, invite = sent(one.from_peer(parse(request()), PEER, 1.0))
    one.from_library(response(invite, 200, body=SDP), 1.1)


def dialled(one):
    """A call that the library began; the INVITE as the peer has it, and from where it came."""
    data = request(call_id="out@x").replace(
        b"sip:+15555550199@192.0.2.1 SIP", b"sip:1@sip.example.com SIP"
    )
    _, invite = sent(one.from_library(parse(data), 1.0, PEER))
    return invite


def again(number, body, *, to_tag="ours", method="INVITE"):
    data = request(method, to_tag=to_tag, body=body, branch=f"z9hG4bK{number}")
    return parse(data.replace(b"CSeq: 7", b"CSeq: %d" % number))


@pytest.mark.parametrize("status", [481, 488, 491])
def test_an_offer_that_is_refused_moves_nobodys_audio(status):
    one, (*_,) = proxy()
    answered(one)
    media = one.dialogs.get("one@x").media
    other = Flow("udp", "203.0.113.66", 5060)
    _, passed = sent(one.from_peer(again(8, ELSEWHERE, to_tag="guessed"), other, 2.0))
    one.from_library(response(passed, status), 2.1)
    assert media.peer == [("10.0.0.5", 6000, PEER.host)]
    assert one.dialogs.get("one@x").flow == PEER
    _, passed = sent(one.from_peer(again(9, ELSEWHERE), other, 3.0))
    one.from_library(response(passed, 200, body=SDP), 3.1)
    assert media.peer[1:] == [("10.0.0.9", 6000, other.host)]
    assert one.dialogs.get("one@x").flow == other


def test_an_ack_moves_audio_only_where_it_answers_an_offer():
    one, medias = proxy()
    _, invite = sent(one.from_peer(parse(request(body="")), PEER, 1.0))
    one.from_library(response(invite, 200, body=SDP), 1.1)
    ack = again(7, SDP, method="ACK")
    one.from_peer(ack, PEER, 1.2)
    one.from_peer(again(7, ELSEWHERE, method="ACK"), PEER, 1.3)
    assert medias[0].peer == [("10.0.0.5", 6000, PEER.host)]


def test_nobody_sends_the_agent_elsewhere():
    one, _ = proxy(targets=TARGETS)
    moved = response(dialled(one), 302)
    moved.put("Contact", ["<sip:premium@203.0.113.200>"])
    _, told = sent(one.from_peer(moved, PEER, 2.0))
    assert told.status == 480
    assert told.get("Contact") == ""


def test_of_two_that_answer_one_call_the_first_has_the_audio():
    one, medias = proxy(targets=TARGETS)
    invite = dialled(one)
    for body, to_tag in ((SDP, "first"), (ELSEWHERE, "second")):
        copy = parse(invite.encode())
        one.from_peer(response(copy, 200, body=body, to_tag=to_tag), PEER, 2.0)
    assert [host for host, *_ in medias[0].peer] == ["10.0.0.5"]


def test_a_renegotiation_that_is_refused_ends_no_call_that_stands():
    one, medias = proxy(targets=TARGETS)
    one.from_peer(response(dialled(one), 200, body=SDP), PEER, 2.0)
    more = request(call_id="out@x", to_tag="ours", branch="z9hG4bKmore")
    _, asked = sent(one.from_library(parse(more), 2.1))
    one.from_peer(response(asked, 491), PEER, 2.2)
    assert not medias[0].closed


def test_a_response_to_what_the_gate_did_not_send_is_dropped():
    one, medias = proxy(targets=TARGETS)
    forged = response(dialled(one), 200, body=ELSEWHERE)
    forged.put("Via", [forged.every("Via")[0] + "0", *forged.every("Via")[1:]])
    with pytest.raises(WireError):
        one.from_peer(forged, PEER, 2.0)
    assert medias[0].peer == []


def test_a_stream_that_cannot_be_moved_costs_no_line():
    one, medias = proxy()
    for i in range(5):
        assert refused(one, request(call_id=f"c{i}", body=SDP + "m=video\r\n")) == 488
    assert not medias
    assert len(one.dialogs) == 0


def test_within_a_call_too_what_is_odd_is_answered():
    one, _ = proxy()
    answered(one)
    (out,) = one.from_peer(again(8, SDP.replace("10.0.0.5", "evil")), PEER, 2.0)
    assert isinstance(out, ToPeer)
    assert parse(out.data).status == 400
    assert one.dialogs.get("one@x").over_at is None


def test_a_connection_that_is_gone_is_made_again():
    one, _ = proxy()
    tcp = Flow("tcp", "203.0.113.7", 40000, 1)
    _, invite = sent(one.from_peer(parse(request()), tcp, 1.0))
    one.from_library(response(invite, 200, body=SDP), 1.1)
    bye = parse(
        request("BYE", to_tag="x", body="", more=("Route: <sip:127.0.0.1:5;lr>, <sip:p:5070;lr>",))
    )
    assert one.target(bye, lambda flow: True) is None
    assert one.target(bye, lambda flow: False) == Target("tcp", "203.0.113.7", 5070)
    found = Flow("tcp", "203.0.113.7", 5070, 2)
    (out,) = one.from_library(bye, 2.0, found)
    assert out.to == found


def test_a_registrar_is_looked_up_each_time():
    one, _ = proxy(targets=TARGETS)
    data = request("REGISTER", call_id="reg@x", body="").replace(
        b"sip:+15555550199@192.0.2.1 SIP", b"sip:sip.example.com SIP"
    )
    where = Target("udp", "sip.example.com", 5060)
    assert one.target(parse(data), lambda _: True) == where
    one.from_library(parse(data), 1.0, PEER)
    assert one.target(parse(data), lambda _: True) == where


@pytest.mark.parametrize(
    ("head", "body"),
    [
        (b"BYE a SIP/2.0\r\nContent-Length: 0\r\nl: 4\r\n\r\n", b"1234"),
        (b"BYE a SIP/2.0\r\nX: a\nContent-Length: 0\r\nContent-Length: 4\r\n\r\n", b"1234"),
        (b"BYE a SIP/2.0\r\nX: a\rContent-Length: 0\r\n\r\n", b""),
        (b"BYE a SIP/2.0\r\nContent-Length: 0\r\n 4\r\n\r\n", b"1234"),
        (b"BYE a SIP/2.0\r\nContent-Length: +4\r\n\r\n", b"1234"),
        (b"BYE a SIP/2.0\r\n\r\n", b""),
    ],
)
async def test_a_length_that_two_may_read_in_two_ways_ends_the_connection(head, body):
    reader = asyncio.StreamReader()
    reader.feed_data(head + body)
    reader.feed_eof()
    with pytest.raises(WireError):
        await next_message(reader)


async def test_a_folded_length_is_read():
    reader = asyncio.StreamReader()
    whole = b"BYE a SIP/2.0\r\nL :\r\n 4\r\n\r\n1234"
    reader.feed_data(whole + b"next")
    assert await next_message(reader) == whole


def dressed(packet, payload):
    """The same packet with a contributing source, an extension and padding."""
    head = bytes([0x80 | 0x30 | 1]) + packet[1:12]
    return head + b"\0\0\0\1" + b"\xbe\xde\0\1abcd" + payload + b"\0\0\0\4"


def test_what_packets_carry_besides_audio_is_not_taken_for_audio():
    fill = _Fill()
    voice = b"\x11" * 160
    assert fill.with_lost(dressed(rtp(5), voice)) == [dressed(rtp(5), voice)]
    assert fill.with_lost(dressed(rtp(6), voice)) == [dressed(rtp(6), voice)]
    assert fill.with_lost(rtp(7)) == [rtp(7)], "nothing was lost"
    assert fill.with_lost(rtp(9)) == [rtp(8), rtp(9)]
    for broken in (
        b"\x9f" + rtp(10)[1:],
        b"\x90" + rtp(10)[1:14],
        b"\xa0" + rtp(10)[1:12] + b"\xff",
    ):
        assert fill.with_lost(broken) == [broken]


def test_loss_is_filled_where_the_numbers_begin_anew():
    def packet(number, stamp):
        data = rtp(0)
        return data[:2] + number.to_bytes(2, "big") + stamp.to_bytes(4, "big") + data[8:]

    fill = _Fill()
    fill.with_lost(packet(0xFFFE, 0xFFFFFFFF - 159 - 160))
    made = fill.with_lost(packet(1, 160))
    assert [p[2:8] for p in made] == [
        packet(n, s)[2:8] for n, s in ((0xFFFF, 0xFFFFFFFF - 159), (0, 0), (1, 160))
    ]


async def received(sock):
    try:
        async with asyncio.timeout(0.3):
            return await asyncio.get_running_loop().sock_recv(sock, 2000)
    except TimeoutError:
        return b""


async def test_an_sdp_from_outside_cannot_aim_audio_at_this_machine():
    with (
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as library,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as program,
    ):
        for each in (library, program):
            each.setblocking(False)
            each.bind(("127.0.0.1", 0))
        relay = Relay("127.0.0.1", "127.0.0.1", range(0), lambda _: False)
        try:
            relay.library_at(Audio(*library.getsockname(), secure=False))
            aim = Audio(*program.getsockname(), secure=False)
            relay.peer_at(aim, "203.0.113.7")
            library.sendto(rtp(1), ("127.0.0.1", relay.inner_port))
            assert await received(program) == b""
            relay.peer_at(aim, "127.0.0.1")
            library.sendto(rtp(2), ("127.0.0.1", relay.inner_port))
            assert await received(program) == rtp(2)
        finally:
            relay.close()


@pytest.mark.parametrize("kind", ["tcp", "tls"])
async def test_a_strangers_connection_is_closed_before_its_first_word(kind, certificate):
    plan = Plan(
        (Listen(kind, "127.0.0.1", 0),),
        library_port=9,
        inner_port=0,
        trunks=(TrunkAddresses("voip", ("127.0.0.2",)),),
        certificate=str(certificate),
    )
    gate = Gate(plan)
    ports = await gate.open()
    reader, writer = await asyncio.open_connection("127.0.0.1", ports[kind])
    try:
        with pytest.raises((EOFError, ConnectionError)):
            await asyncio.wait_for(reader.readexactly(1), 5)
    finally:
        writer.close()
    context = ssl.create_default_context(cafile=certificate)
    reader, writer = await asyncio.open_connection(
        "127.0.0.1",
        ports[kind],
        local_addr=("127.0.0.2", 0),
        ssl=context if kind == "tls" else None,
    )
    writer.write(request("OPTIONS", body=""))
    assert (await asyncio.wait_for(reader.readline(), 5)) == b"SIP/2.0 200 OK\r\n"
    writer.close()
    gate.close()
