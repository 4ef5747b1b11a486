"""The twelve core questions by the microphone and by the browser page, both at the same time.

Each takes two minutes of real time, so that they are asked beside each other, once for the module.
"""

import asyncio

import numpy as np
import pytest
import soundfile

from agent.settings import load_settings
from bench.recordings import AUDIO
from telephony.caller import load_audio
from tests.agent.chromium import chromium, needs_chromium
from tests.agent.in_order import unanswered
from tests.agent.live import serving
from tests.agent.test_core_questions import CORE
from tests.agent.test_mic import events, frontdesk_mic
from tests.pulse import needs_pulseaudio, pulseaudio
from tests.telephony.test_local import needs_pyaudio

pytestmark = [pytest.mark.slow, pytest.mark.timeout(360)]

PAUSE_S = 8  # for the longest answer


@pytest.fixture(scope="module")
def records(tmp_path_factory, call_engines):
    """The events of the call by each way that this machine has."""
    folder = tmp_path_factory.mktemp("desk")
    asking = folder / "asking.wav"
    pause = np.zeros(PAUSE_S * 8000, np.int16)
    asked = (load_audio(AUDIO / "gongitsune" / f"{question}.flac") for question in CORE)
    parts = [part for one in asked for part in (pause, one)]
    soundfile.write(str(asking), np.concatenate([*parts, pause]), 8000, subtype="PCM_16")
    return asyncio.run(ask_both(folder, asking, call_engines))


async def ask_both(folder, asking, engines):
    ways = {}
    if has(needs_pulseaudio, needs_pyaudio):
        ways["microphone"] = by_microphone(folder, asking)
    if has(needs_chromium):
        ways["browser"] = by_browser(folder, asking, engines)
    return dict(zip(ways, await asyncio.gather(*ways.values()), strict=True))


def has(*skips):
    return not any(skip.args[0] for skip in skips)


async def by_microphone(folder, asking):
    (folder / "pulse").mkdir()
    async with pulseaudio(folder / "pulse") as pulse:
        async with frontdesk_mic(pulse) as talk:
            await talk.until("agent: Thanks for calling")
            await pulse.speak(asking)
        return events(pulse)


async def by_browser(folder, asking, engines):
    chosen = load_settings(records={"folder": folder / "calls"})
    async with serving(chosen, engines) as server, chromium(folder, asking) as page:
        await page.open(f"{server.url}/talk")
        await page.click("#call")
        pieces = 50 * soundfile.info(asking).duration
        await page.until(f"globalThis.frontdeskCall?.stats.sent >= {pieces}", 240)
        await page.click("#call")
        return await server.record()


@needs_pulseaudio
@needs_pyaudio
def test_twelve_of_twelve_by_the_microphone(records, clinic_questions):
    assert unanswered(core(clinic_questions), records["microphone"]) == []


@needs_chromium
def test_twelve_of_twelve_by_the_browser(records, clinic_questions):
    assert unanswered(core(clinic_questions), records["browser"]) == []


def core(questions):
    return [row for row in questions if row["kind"] == "core"]
