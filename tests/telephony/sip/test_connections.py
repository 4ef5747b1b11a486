"""SIP over TCP where the connection is lost in between."""

import asyncio
from contextlib import asynccontextmanager

import pytest

from telephony.sip.message import parse, reply
from telephony.sip.streams import next_message

pytest.importorskip("baresip", reason="needs the extra: pip install -e '.[sip]'")
from bench.sip_desk import desk
from telephony.sip.stack import Registration

pytestmark = pytest.mark.slow


@asynccontextmanager
async def peer(answer):
    """A listener; each message goes to ``answer(message, writer)``. Its port, and what came."""
    came = asyncio.Queue()

    async def take(reader, writer):
        try:
            while True:
                message = parse(await next_message(reader))
                came.put_nowait((message.start, writer.get_extra_info("peername")))
                answer(message, writer)
        except (EOFError, ConnectionError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(take, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1], came
    finally:
        server.close()


async def test_a_registration_is_renewed_over_a_new_connection():
    def granted(message, writer):
        contact = f"{message.get('Contact')};expires=4"
        writer.write(reply(message, 200, "OK", ("Contact", contact), ("Expires", "4")).encode())
        writer.close()

    async with peer(granted) as (port, came):
        account = Registration("voip", f"127.0.0.1:{port}", "1000", "secret", every_s=4)
        plan = {"targets": {"127.0.0.1": "voip"}, "kinds": {"voip": "tcp"}}
        async with desk(plan=plan, registrations=[account]):
            first, second = [await asyncio.wait_for(came.get(), 15) for _ in range(2)]
    assert first[0].startswith("REGISTER ")
    assert second[0].startswith("REGISTER ")
    assert first[1] != second[1]


INVITE = """INVITE sip:agent@127.0.0.1 SIP/2.0
Via: SIP/2.0/TCP 127.0.0.1:{port};branch=z9hG4bKlost
Max-Forwards: 70
From: <sip:x@127.0.0.1>;tag=1
To: <sip:agent@127.0.0.1>
Call-ID: lost@x
CSeq: 1 INVITE
Contact: <sip:x@127.0.0.1:{port};transport=tcp>
Content-Type: application/sdp
Content-Length: {length}

{sdp}"""
SDP = """v=0
o=- 1 1 IN IP4 127.0.0.1
s=-
c=IN IP4 127.0.0.1
t=0 0
m=audio 6000 RTP/AVP 0
"""
ACK = """ACK sip:agent@127.0.0.1 SIP/2.0
Via: SIP/2.0/TCP 127.0.0.1:{port};branch=z9hG4bKacked
Max-Forwards: 70
From: <sip:x@127.0.0.1>;tag=1
To: {to}
Call-ID: lost@x
CSeq: 1 ACK
Content-Length: 0

"""


async def test_a_caller_whose_connection_is_gone_is_told_of_the_hang_up():
    async with (
        peer(lambda message, writer: None) as (port, came),
        desk(listen=("tcp",)) as agent,
    ):
        reader, writer = await asyncio.open_connection("127.0.0.1", agent.stack.ports["tcp"])
        sdp = SDP.replace("\n", "\r\n")
        head = INVITE.replace("\n", "\r\n")
        writer.write(head.format(port=port, length=len(sdp), sdp=sdp).encode())
        while (message := parse(await asyncio.wait_for(next_message(reader), 5))).status < 200:
            pass
        assert message.status == 200
        writer.write(ACK.replace("\n", "\r\n").format(port=port, to=message.get("To")).encode())
        call = await agent.nth(1)
        writer.close()
        await writer.wait_closed()
        await call.line.hang_up()
        methods = set()
        while "BYE" not in methods:  # the library's re-INVITE may come first
            methods.add((await asyncio.wait_for(came.get(), 10))[0].split()[0])
