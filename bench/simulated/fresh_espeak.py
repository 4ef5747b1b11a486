"""eSpeak NG's words from a process of their own: ``python -m bench.simulated.fresh_espeak ACCENT``.

The library keeps the phase of its pitch's flutter from one text to the next, and nothing resets it
(1.52): what a text sounds like depends on all those before it. The first text of a process is
always the same samples.
"""

from __future__ import annotations

import subprocess
import sys

import numpy as np
from numpy.typing import NDArray

from frontdesk import SpeechError, Spoken

_TIMEOUT_S = 60


def spoken_afresh(accent: str, words: str) -> NDArray[np.int16]:
    """``words`` as int16 at 8 kHz, one-dimensional, in eSpeak NG's voice ``accent``.

    Raises:
        SpeechError: if the process fails; the line is its last.
    """
    done = subprocess.run(
        [sys.executable, "-m", "bench.simulated.fresh_espeak", accent],
        input=words.encode(),
        capture_output=True,
        timeout=_TIMEOUT_S,
        check=False,
    )
    if done.returncode:
        last = (done.stderr.decode(errors="replace").strip().splitlines() or ["no message"])[-1]
        raise SpeechError(f"eSpeak NG did not say {words!r}: {last}")
    return np.frombuffer(done.stdout, np.int16)


def main() -> int:
    """Say what is on standard input."""
    from speech.espeak import EspeakVoice

    words = sys.stdin.buffer.read().decode()
    sys.stdout.buffer.write(EspeakVoice((sys.argv[1],)).render(Spoken(words)).tobytes())
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
