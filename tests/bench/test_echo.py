from bench.echo import RATE_HZ, measure
from bench.recordings import AUDIO
from speech.audio import resample, to_float32
from speech.moonshine import Moonshine
from telephony.caller import load_audio


def clip(name):
    return to_float32(resample(load_audio(AUDIO / f"{name}.flac"), 8000, RATE_HZ))


def test_a_caller_is_heard_over_the_agent_with_the_canceller_and_not_without():
    replies = [clip(f"joe/q{number:03}") for number in (1, 2, 3, 4)]
    callers = [("What time do you guys open on Saturday?", clip("slt/q001"))] * 2
    found = measure((-10, 50, 0.2), replies, callers, Moonshine([]))
    assert found["over_with"] < found["over_without"]
    assert found["alone"]["with"]["vad_starts"] < found["alone"]["without"]["vad_starts"]
