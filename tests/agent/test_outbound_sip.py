"""A call placed over SIP to a real peer (sipp), which answers as a voicemail does."""

import asyncio
import shutil
import socket

import httpx
import numpy as np
import pytest

from bench.callees import tone
from frontdesk import Spoken
from telephony.g711 import ulaw_encode
from tests.agent.live import serving

pytest.importorskip("baresip", reason="the extra sip is not installed")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not shutil.which("sipp"), reason="apt-get install sip-tester"),
]
THEIRS = "+15555550142"
SCENARIO = """<?xml version="1.0" encoding="UTF-8"?>
<scenario name="voicemail">
  <recv request="INVITE"/>
  <send><![CDATA[
    SIP/2.0 200 OK
    [last_Via:]
    [last_From:]
    [last_To:];tag=[call_number]
    [last_Call-ID:]
    [last_CSeq:]
    [last_Record-Route:]
    Contact: <sip:[local_ip]:[local_port];transport=[transport]>
    Content-Type: application/sdp
    Content-Length: [len]

    v=0
    o=sipp 1 1 IN IP4 [local_ip]
    s=-
    c=IN IP4 [media_ip]
    t=0 0
    m=audio [rtpstream_audio_port] RTP/AVP 0
    a=rtpmap:0 PCMU/8000
  ]]></send>
  <recv request="ACK"/>
  <nop><action><exec rtp_stream="AUDIO,1,0"/></action></nop>
  <recv request="BYE" timeout="40000"/>
  <send><![CDATA[
    SIP/2.0 200 OK
    [last_Via:]
    [last_From:]
    [last_To:]
    [last_Call-ID:]
    [last_CSeq:]
    Content-Length: 0

  ]]></send>
</scenario>
"""


def free_port():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


async def test_a_message_is_left_over_sip(settings, call_engines, tmp_path):
    voice = call_engines.voice.render(
        Spoken("Hi, this is Karen. Please leave a message after the tone.")
    )
    beep = (tone(1000, 400, -12) * 32767).astype(np.int16)
    silence = np.zeros(8000, np.int16)
    audio = tmp_path / "greeting.ul"
    audio.write_bytes(ulaw_encode(np.concatenate((silence, voice, silence, beep, *[silence] * 20))))
    scenario = tmp_path / "voicemail.xml"
    scenario.write_text(SCENARIO.replace("AUDIO", str(audio)))
    port = free_port()
    peer = await asyncio.create_subprocess_exec(
        *("sipp", "-sf", scenario, "-i", "127.0.0.1", "-p", str(port), "-m", "1", "-nostdin"),
        cwd=tmp_path,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    trunk = {"name": "peer", "host": f"127.0.0.1:{port}", "user": "frontdesk"}
    chosen = settings(
        sip={"listen": "udp:127.0.0.1:0", "trunks": [trunk]},
        outbound={"enabled": True, "wire": "sip", "allow": [THEIRS], "hours": []},
    )
    try:
        async with serving(chosen, call_engines) as server:
            async with httpx.AsyncClient(headers=server.headers) as client:
                answer = await client.post(f"{server.url}/outbound", json={"to": THEIRS})
            assert answer.status_code == 202, answer.text
            assert await asyncio.wait_for(peer.wait(), 60) == 0  # it got our BYE
            events = await server.record()
    finally:
        if peer.returncode is None:
            peer.kill()
    kinds = [event["event"] for event in events]
    assert kinds.index("tone") < kinds.index("said")
    assert [event["action"] for event in events if event["event"] == "callee"] == [
        "leave",
        "hang_up",
    ]
    assert events[-1]["reason"] == "message left"
