"""A telephone that is busy: sipp, answering every INVITE with 486."""

import subprocess
from contextlib import contextmanager

from tests.asterisk.pbx import free_ports

_SCENARIO = """<?xml version="1.0" encoding="UTF-8"?>
<scenario name="busy">
  <recv request="INVITE"/>
  <send><![CDATA[
    SIP/2.0 486 Busy Here
    [last_Via:]
    [last_From:]
    [last_To:];tag=[call_number]
    [last_Call-ID:]
    [last_CSeq:]
    Content-Length: 0

  ]]></send>
  <recv request="ACK"/>
</scenario>
"""


@contextmanager
def busy_phone(folder):
    """Its SIP address."""
    (port,) = free_ports(1)
    scenario = folder / "busy.xml"
    scenario.write_text(_SCENARIO)
    sipp = subprocess.Popen(
        ["sipp", "-sf", str(scenario), "-i", "127.0.0.1", "-p", str(port), "-nostdin"],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield f"sip:busy@127.0.0.1:{port}"
    finally:
        sipp.terminate()
        try:
            sipp.wait(5)
        except subprocess.TimeoutExpired:
            sipp.kill()
            sipp.wait()
