"""What SIP can do; apart from the line, so that it can be shown where the library is missing."""

from telephony.capabilities import Capabilities

CAPABILITIES = Capabilities(
    name="SIP",
    audio="G.711 µ-law and A-law, 8 kHz; G.722, 16 kHz",
    clear="not needed: the agent paces",
    marks=True,
    digits_in="RFC 4733, INFO",
    digits_out="RFC 4733",
    hang_up="BYE",
    transfer="REFER",
    dials="INVITE",
    caller_number=True,
    checked_by="the trunk's addresses",
    tested="the real peer",
)
