"""What the tests of the media sockets share: the providers, their far ends, a tone in frames."""

import numpy as np
import pytest
from pipecat.frames.frames import InputAudioRawFrame

from telephony.far_ends import FAR_ENDS
from telephony.g711 import ulaw_encode
from telephony.provider import Account
from telephony.providers import PROVIDERS
from tests.telephony.open_wire import open_wire

TONE = (8000 * np.sin(np.arange(1600) * 2 * np.pi * 440 / 8000)).astype(np.int16)
ULAW = ulaw_encode(TONE)
MARKER = "EVIL <TEXT> of the far end"

every_provider = pytest.mark.parametrize("name", sorted(PROVIDERS))


def provider_of(name):
    return PROVIDERS[name](Account(id="AC1", secret="secret", api_key="key"))


def far_end_of(name, **options):
    call_id = FAR_ENDS[name].id_prefix + "1234567890abcdef1234567890abcdef"
    return FAR_ENDS[name](call_id, caller="+15555550100", called="+15555550101", **options)


def wire_of(name, serve, far_end):
    """The wire, opened by ``far_end``."""
    return open_wire(serve, provider_of(name), far_end.begin({}))


def sent_frames(far_end, numbers):
    """The far end's messages for frames of the tone; a number left out was lost."""
    messages, due = [], numbers[0]
    for frame in numbers:
        for _ in range(due, frame):
            far_end.lost()
        due = frame + 1
        messages += far_end.media(frame, ULAW[:160])
    return messages


def samples_in(frames):
    return sum(len(frame.audio) // 2 for frame in frames if isinstance(frame, InputAudioRawFrame))


def is_text(far_end):
    """Whether the wire's audio is in text messages, with the time of each."""
    (message, *_) = sent_frames(far_end, range(5))
    return isinstance(message, str)
