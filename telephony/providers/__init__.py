"""The providers there are, by name."""

from __future__ import annotations

from telephony.provider import Provider
from telephony.providers.asterisk import Asterisk
from telephony.providers.exotel import Exotel
from telephony.providers.genesys import Genesys
from telephony.providers.jambonz import Jambonz
from telephony.providers.plivo import Plivo
from telephony.providers.telnyx import Telnyx
from telephony.providers.twilio import Twilio
from telephony.providers.vonage import Vonage

PROVIDERS: dict[str, type[Provider]] = {
    one.name: one for one in (Asterisk, Exotel, Genesys, Jambonz, Plivo, Telnyx, Twilio, Vonage)
}
