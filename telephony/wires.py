"""The capabilities of every wire there is, in the order in which people look for them."""

from __future__ import annotations

from telephony.audiosocket_line import AudioSocketLine
from telephony.browser_line import BrowserLine
from telephony.capabilities import Capabilities
from telephony.devices import MICROPHONE
from telephony.providers import PROVIDERS
from telephony.sip.capabilities import CAPABILITIES as SIP

_SOCKETS = ("twilio", "telnyx", "plivo", "exotel", "vonage", "genesys", "jambonz", "asterisk")

CAPABILITIES: tuple[Capabilities, ...] = (
    *(PROVIDERS[name].capabilities for name in _SOCKETS if name in PROVIDERS),
    *(one.capabilities for name, one in PROVIDERS.items() if name not in _SOCKETS),
    AudioSocketLine.capabilities,
    SIP,
    MICROPHONE,
    BrowserLine.capabilities,
)
