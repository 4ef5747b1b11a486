"""A person whom the agent has called is handed over: a real peer (sipp), which answers, says hello,
presses the key for a person, and takes our REFER.
"""

import asyncio
import re
import shutil

import httpx
import numpy as np
import pytest

pytest.importorskip("baresip", reason="the extra sip is not installed")
from frontdesk import Spoken
from telephony.g711 import ulaw_encode
from tests.agent.handing import DESK, PROMISE
from tests.agent.live import serving
from tests.agent.test_outbound_sip import SCENARIO, THEIRS, free_port

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not shutil.which("sipp"), reason="apt-get install sip-tester"),
]
# A request of the called side within the call: its From is the INVITE's To.
_REQUEST = """<send><![CDATA[
    {method} sip:[remote_ip]:[remote_port] SIP/2.0
    Via: SIP/2.0/[transport] [local_ip]:[local_port];branch=[branch]
    From: [$us];tag=[call_number]
    To: [$them]
    Call-ID: [call_id]
    CSeq: {number} {method}
    Max-Forwards: 70
    Contact: <sip:[local_ip]:[local_port];transport=[transport]>
    {head}
    Content-Length: [len]

    {body}
  ]]></send>
  <recv response="200"/>
"""
_ANSWERED = """<send><![CDATA[
    SIP/2.0 {status}
    [last_Via:]
    [last_From:]
    [last_To:]
    [last_Call-ID:]
    [last_CSeq:]
    Contact: <sip:[local_ip]:[local_port];transport=[transport]>
    Content-Length: 0

  ]]></send>
"""


def request(method, number, head, body):
    return _REQUEST.format(method=method, number=number, head=head, body=body)


def scenario(audio):
    names = """<recv request="INVITE"><action>
      <ereg regexp=".*" search_in="hdr" header="From:" assign_to="them"/>
      <ereg regexp="&lt;[^>]*>" search_in="hdr" header="To:" assign_to="us"/>
    </action></recv>"""
    key = request("INFO", 1, "Content-Type: application/dtmf-relay", "Signal=0\n    Duration=160")
    notify = request(
        "NOTIFY",
        2,
        "Event: refer\n    Subscription-State: terminated;reason=noresource\n"
        "    Content-Type: message/sipfrag",
        "SIP/2.0 200 OK",
    )
    refer = '<recv request="REFER" timeout="20000"/>' + _ANSWERED.format(status="202 Accepted")
    text = SCENARIO.replace('<recv request="INVITE"/>', names).replace("AUDIO", str(audio))
    return re.sub(
        r'(?=<recv request="BYE")', f'<pause milliseconds="6000"/>{key}{refer}{notify}', text
    )


async def test_who_was_called_may_have_a_person(settings, call_engines, tmp_path):
    voice = call_engines.voice.render(Spoken("Hello?"))
    audio = tmp_path / "hello.ul"
    audio.write_bytes(ulaw_encode(np.concatenate((voice, np.zeros(8000 * 30, np.int16)))))
    (tmp_path / "person.xml").write_text(scenario(audio))
    port = free_port()
    peer = await asyncio.create_subprocess_exec(
        *("sipp", "-sf", "person.xml", "-i", "127.0.0.1", "-p", str(port), "-m", "1", "-nostdin"),
        cwd=tmp_path,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    chosen = settings(
        sip={
            "listen": "udp:127.0.0.1:0",
            "trunks": [{"name": "peer", "host": f"127.0.0.1:{port}", "user": "frontdesk"}],
        },
        outbound={"enabled": True, "wire": "sip", "allow": [THEIRS], "hours": []},
        handover={"to": DESK},
        keys={"numbers": False},
    )
    try:
        async with serving(chosen, call_engines) as server:
            async with httpx.AsyncClient(headers=server.headers) as client:
                answer = await client.post(f"{server.url}/outbound", json={"to": THEIRS})
            assert answer.status_code == 202, answer.text
            assert await asyncio.wait_for(peer.wait(), 60) == 0  # it got REFER and BYE
            events = await server.record()
    finally:
        if peer.returncode is None:
            peer.kill()
    assert [e["say"] for e in events if e["event"] == "verdict"] == [PROMISE]
    assert events[-1]["reason"] == "transferred"
