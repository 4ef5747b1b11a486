"""The gate's parts without sockets: messages, SDP, limits, time, and what the proxy changes."""

import pytest

from frontdesk import WireError
from telephony.sip.clocked import Clocked
from telephony.sip.dialogs import LINGER_S
from telephony.sip.flow import Flow, Target, ToLibrary
from telephony.sip.guard import Allowed, Flood, TrunkAddresses
from telephony.sip.message import parse, tag, user
from telephony.sip.proxy import AGENT
from telephony.sip.relay import _Fill
from telephony.sip.sdp import audio_of, moved
from telephony.sip.strict import check
from tests.telephony.sip.parts import PEER, SDP, proxy, refused, request, rtp, sent


def test_compact_names_and_folded_lines_are_read():
    message = parse(request(more=("X-Long: a\r\n  b",)))
    assert message.get("Via").startswith("SIP/2.0/UDP")
    assert message.get("x-long") == "a b"
    assert user(message.get("From")) == "+15555550100"
    assert tag(message.get("From")) == "abc"
    assert not message.in_dialog


def test_values_behind_commas_are_apart_and_quotes_are_not_split():
    message = parse(request(more=('Record-Route: <sip:a;lr>, "x, y" <sip:b;lr>',)))
    assert message.every("Record-Route") == ["<sip:a;lr>", '"x, y" <sip:b;lr>']


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"GET / HTTP/1.1\r\n\r\n",
        request().replace(b"i: one@x\r\n", b""),
        request().replace(b"CSeq: 7 INVITE", b"CSeq: 7 BYE"),
        request(more=("To: <sip:other@x>",)),
        request().replace(b"l: ", b"l: 9"),
        request(more=("X" * 70 + ": long",)),
        request() + b"x" * 20000,
    ],
)
def test_what_is_no_sip_is_refused(data):
    with pytest.raises(WireError):
        parse(data)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"m: <sip:me@10.0.0.5:5060>\r\n", b""),
        (b"m: <sip:me@10.0.0.5:5060>", b"m: *"),
        (b"m: <sip:me@10.0.0.5:5060>", b"m: <sip:me@10.0.0.5:5060>, <sip:b@c>"),
        (b"<sip:me@10.0.0.5:5060>", b"<sip:me@10.0.0.5:0>"),
        (b"<sip:me@10.0.0.5:5060>", b"<sip:me@10.0.0.5:65536>"),
        (b"<sip:me@10.0.0.5:5060>", b"<sip:,me@10.0.0.5:5060>"),
        (b"<sip:me@10.0.0.5:5060>", b"<sip:me@[::1::]>"),
        (b";tag=abc", b""),
        (b'f: "Caller"', b'f: "Cal\x01ler"'),
    ],
)
def test_what_would_end_the_library_does_not_reach_it(old, new):
    one, _ = proxy()
    data = request()
    assert old in data
    assert refused(one, data.replace(old, new)) == 400


def test_only_known_headers_reach_the_library():
    message = parse(request(more=("X-Evil: 1", "Proxy-Authorization: x", "Supported: timer")))
    check(message)
    assert message.get("X-Evil") == message.get("Proxy-Authorization") == ""
    assert message.get("Supported") == "timer"


def test_audio_is_found_and_moved():
    audio = audio_of(SDP.encode())
    assert (audio.host, audio.port, audio.secure) == ("10.0.0.5", 6000, False)
    text = moved(SDP.encode(), "192.0.2.1", 30000).decode()
    assert "m=audio 30000 RTP/AVP 0 101" in text
    assert "m=video 0 " in text
    assert "10.0.0." not in text
    assert "a=rtcp" not in text
    assert "a=sendrecv" in text


@pytest.mark.parametrize(
    "body",
    ["m=audio 70000 RTP/AVP 0\r\n", "m=audio 1 RTP/AVP 0\r\n", SDP.replace("10.0.0.5", "evil")],
)
def test_an_sdp_that_cannot_be_moved_is_not_acceptable(body):
    one, _ = proxy()
    assert refused(one, request(body=body)) == 488


def test_an_invite_reaches_the_library_by_our_address_and_its_answer_the_peer_by_ours():
    one, (*_,) = proxy()
    out, message = sent(one.from_peer(parse(request(more=("X-Frontdesk-Trunk: evil",))), PEER, 1.0))
    assert isinstance(out, ToLibrary)
    assert message.uri == f"sip:{AGENT}@127.0.0.1:6"
    assert message.get("X-Frontdesk-Caller") == "+15555550100"
    assert message.get("X-Frontdesk-Called") == "+15555550199"
    assert message.every("X-Frontdesk-Trunk") == ["voip"]
    assert audio_of(message.body).port == 40000
    vias = message.every("Via")
    assert "received=203.0.113.7" in vias[1]
    assert "rport=5062" in vias[1]
    ok = message
    ok.start = "SIP/2.0 200 OK"
    ok.put("Contact", [f"<sip:{AGENT}@127.0.0.1:6>"])
    ok.put("To", [ok.get("To") + ";tag=ours"])
    ok.body = SDP.replace("10.0.0.5", "127.0.0.1").encode()
    back, answer = sent(one.from_library(ok, 1.1))
    assert back.to == PEER
    assert len(answer.every("Via")) == 1
    assert answer.get("Contact") == f"<sip:{AGENT}@192.0.2.1:5060>"
    assert answer.every("Record-Route") == []
    assert audio_of(answer.body).port == 30000
    assert b"127.0.0.1" not in back.data


def test_an_asserted_identity_counts_for_more_than_from():
    one, _ = proxy()
    more = ("P-Asserted-Identity: <tel:+15555550123>",)
    _, message = sent(one.from_peer(parse(request(more=more)), PEER, 1.0))
    assert message.get("X-Frontdesk-Caller") == "+15555550123"


def test_a_number_with_other_characters_is_not_told_on():
    one, _ = proxy()
    more = ("P-Asserted-Identity: <sip:a\x7f\xe9b@203.0.113.7>",)
    _, message = sent(one.from_peer(parse(request(more=more)), PEER, 1.0))
    assert message.get("X-Frontdesk-Caller") == ""


def test_an_invite_sent_again_has_the_same_branch_and_another_of_its_id_is_a_loop():
    one, medias = proxy()
    _, first = sent(one.from_peer(parse(request()), PEER, 1.0))
    _, again = sent(one.from_peer(parse(request()), PEER, 1.5))
    _, cancel = sent(one.from_peer(parse(request("CANCEL", body="")), PEER, 1.6))
    assert first.every("Via")[0] == again.every("Via")[0] == cancel.every("Via")[0]
    assert refused(one, request(branch="z9hG4bKother"), 2.0) == 482
    assert len(medias) == 1


def test_what_belongs_to_no_call_is_refused_and_options_is_answered():
    one, _ = proxy()
    assert refused(one, request("OPTIONS", body="")) == 200
    assert refused(one, request("BYE", to_tag="x", body="")) == 481
    assert refused(one, request("REGISTER", body="")) == 405
    assert refused(one, request("MESSAGE", body="")) == 405
    assert refused(one, request().replace(b"Max-Forwards: 70", b"Max-Forwards: 0")) == 483
    with pytest.raises(WireError):
        one.from_peer(parse(request("ACK", to_tag="x", body="")), PEER, 1.0)


def test_too_many_calls_and_ports_let_go():
    one, medias = proxy()
    for i in range(3):
        one.from_peer(parse(request(call_id=f"c{i}")), PEER, 1.0)
    assert refused(one, request(call_id="c3")) == 486
    _, bye = sent(
        one.from_peer(parse(request("BYE", call_id="c0", to_tag="t", body="")), PEER, 2.0)
    )
    assert [m.closed for m in medias] == [False] * 3, "whoever sent it may not be the caller"
    bye.start = "SIP/2.0 200 OK"
    one.from_library(bye, 2.0)
    assert [m.closed for m in medias] == [True, False, False]
    one.dialogs.sweep(2.0 + LINGER_S + 1)
    assert one.dialogs.get("c0") is None


def test_secure_only_refuses_plain_audio():
    one, _ = proxy(secure_only=True)
    assert refused(one, request()) == 488
    secure = SDP.replace("RTP/AVP 0", "RTP/SAVP 0")
    out, _ = sent(one.from_peer(parse(request(call_id="s", body=secure)), PEER, 1.0))
    assert isinstance(out, ToLibrary)


def test_the_library_calls_only_hosts_of_trunks():
    one, _ = proxy(targets={"sip.example.com": "voip"}, kinds={"voip": "tls"})
    data = request(more=("Route: <sip:127.0.0.1:5;lr>",)).replace(
        b"sip:+15555550199@192.0.2.1 SIP", b"sip:1@sip.example.com SIP"
    )
    assert one.target(parse(data), lambda _: True) == Target("tls", "sip.example.com", 5061)
    found = Flow("tls", "203.0.113.9", 5061, 3)
    out, message = sent(one.from_library(parse(data), 1.0, found))
    assert out.to == found
    assert message.every("Route") == []
    assert message.every("Via")[0].startswith("SIP/2.0/TLS 192.0.2.1:5060;rport")
    with pytest.raises(WireError):
        one.target(parse(request(call_id="two")), lambda _: True)


def test_flows_pass_through_a_branch():
    for flow in (PEER, Flow("tls", "2001:db8::1", 50000, 12)):
        assert Flow.of(flow.key) == flow
    with pytest.raises(WireError):
        Flow.of("udp-zz-1-0")


def test_without_trunks_only_this_machine_may_call():
    assert Allowed([]).trunk("127.0.0.1") == "local"
    assert Allowed([]).trunk("203.0.113.7") is None
    trunk = Allowed([TrunkAddresses("voip", ("203.0.113.0/24",))])
    assert trunk.trunk("::ffff:203.0.113.9") == "voip"
    assert trunk.trunk("127.0.0.1") is None
    assert trunk.trunk("nonsense") is None


def test_one_source_cannot_use_up_anothers_share():
    flood = Flood(per_source=2, overall=100)
    assert [flood.take("a", 1.0) for _ in range(6)] == [True] * 4 + [False] * 2
    assert flood.take("b", 1.0)
    assert flood.take("a", 2.0)


def test_time_stays_true_whatever_comes():
    clocked = Clocked(8000)
    speech = b"\1" * 320
    out = b"".join(clocked.due(speech, i * 0.02) for i in range(50))
    assert out == speech * 50
    for i in range(50, 100):
        out += clocked.due(b"", i * 0.02)
    assert 50 * 320 < len(out) <= 100 * 320
    for i in range(100, 150):
        out += clocked.due(speech, i * 0.02)
    assert abs(len(out) - 150 * 320) <= 10 * 320
    for i in range(150, 200):
        out += clocked.due(speech * 2, i * 0.02)
    assert abs(len(out) - 200 * 320) <= 10 * 320


def test_lost_packets_are_made_up_for_and_late_ones_left_out():
    fill = _Fill()
    assert fill.with_lost(rtp(5)) == [rtp(5)]
    assert fill.with_lost(rtp(6)) == [rtp(6)]
    made = fill.with_lost(rtp(9, b"\x22" * 160))
    assert made == [rtp(7), rtp(8, b"\xff" * 160), rtp(9, b"\x22" * 160)]
    assert fill.with_lost(rtp(8)) == []
    assert fill.with_lost(rtp(9)) == []
    assert fill.with_lost(rtp(60)) == [rtp(60)], "a long gap is left to the clock"
    assert fill.with_lost(rtp(5)) == [rtp(5)], "a sender that begins anew"
    key = rtp(6, b"\1\x0a\0\xa0", kind=101)
    assert fill.with_lost(key) == [key]
    assert fill.with_lost(b"junk") == [b"junk"]
