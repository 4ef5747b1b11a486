"""The far ends there are, by the name of their wire."""

from __future__ import annotations

from telephony.far_end import FarEnd
from telephony.far_ends.asterisk import AsteriskFarEnd
from telephony.far_ends.audiosocket import AudioSocketFarEnd
from telephony.far_ends.exotel import ExotelFarEnd
from telephony.far_ends.genesys import GenesysFarEnd
from telephony.far_ends.jambonz import JambonzFarEnd
from telephony.far_ends.plivo import PlivoFarEnd
from telephony.far_ends.sip import SipFarEnd
from telephony.far_ends.telnyx import TelnyxFarEnd
from telephony.far_ends.twilio import TwilioFarEnd
from telephony.far_ends.vonage import VonageFarEnd

FAR_ENDS: dict[str, type[FarEnd]] = {
    one.name: one
    for one in (
        AsteriskFarEnd,
        AudioSocketFarEnd,
        ExotelFarEnd,
        GenesysFarEnd,
        JambonzFarEnd,
        PlivoFarEnd,
        SipFarEnd,
        TelnyxFarEnd,
        TwilioFarEnd,
        VonageFarEnd,
    )
}
