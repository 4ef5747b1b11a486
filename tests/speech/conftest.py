"""One set of engines for all speech tests, and the telephone band."""

import mmap
import warnings
from pathlib import Path

import numpy as np
import pytest

from frontdesk import Spoken
from speech.audio import resample, to_float32

with warnings.catch_warnings():
    # Pipecat 1.14 defines deprecated classes on import and warns about its own; the warning
    # bears the module name "abc", so that no filter by module finds it.
    warnings.simplefilter("ignore", DeprecationWarning)
    from speech.engines import Engines
    from tests.speech.running import Recogniser


@pytest.fixture(scope="session")
def engines() -> Engines:
    return Engines.load()


def resident_bytes() -> int:
    """Memory of this process that is in RAM (Linux)."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * mmap.PAGESIZE


def mu_law(samples: np.ndarray) -> np.ndarray:
    """int16 through 8-bit µ-law (the continuous formula of G.711) and back."""
    x = samples.astype(np.float64) / 32768
    code = np.round(np.sign(x) * np.log1p(255 * np.abs(x)) / np.log1p(255) * 127) / 127
    y = np.sign(code) * (256 ** np.abs(code) - 1) / 255
    return np.clip(np.round(y * 32768), -32768, 32767).astype(np.int16)


@pytest.fixture(scope="session")
def over_telephone(engines):
    """Text -> what our own voice sounds like over the telephone: int16, 8 kHz."""
    return lambda text: mu_law(engines.voice.render(Spoken(text)))


@pytest.fixture(scope="session")
def heard(engines, over_telephone):
    """Text -> what our own recogniser makes of our own voice over the telephone."""

    def hear(text: str) -> str:
        audio = resample(to_float32(over_telephone(text)), 8000, 16000)
        return engines.recogniser.transcribe(audio).text

    return hear


@pytest.fixture
def recogniser():
    recogniser = Recogniser()
    yield recogniser
    recogniser.gate.set()
    recogniser.interim_gate.set()
