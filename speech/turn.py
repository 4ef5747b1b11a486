"""End of turn: Smart Turn v3.2 on one model session for all calls, with a last layer of ours."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from pipecat.audio.turn.smart_turn._whisper_features import compute_whisper_log_mel_features

from frontdesk.models import verified
from frontdesk.odds import probability
from speech import sessions
from speech.audio import Float32
from speech.recogniser import SAMPLE_RATE_HZ, last_part

WINDOW_SECS = 8
HEAD = Path(__file__).with_name("turn_head.json")

_SAMPLES = WINDOW_SECS * SAMPLE_RATE_HZ
# The model was trained on turns with 0.2 s of silence at their end, and is asked after 0.1 s.
_TAIL = np.zeros(SAMPLE_RATE_HZ // 5, np.float32)
_TAIL_FRAMES = 10  # of 20 ms
# What the model's last layers are given: 8 s as one vector, and a vector for each 20 ms.
_WHOLE, _FRAMES = "sum_1", "layer_norm_8"


class Heard(NamedTuple):
    """What the model makes of a turn: its own probability, and what that is made from (size,)."""

    own: float
    features: Float32


class SmartTurn:
    """How likely the caller has finished; safe to call from several threads.

    One thread, 47 ms a decision (idle two-core EPYC), the features 1.8 ms of it whatever the
    audio's length: transforming the padding once instead of frame by frame gave the same bits
    and saved 0.9 ms, so Pipecat's function does it all.

    Smart Turn's own last layers hear little 0.1 s into a telephone caller's silence. They are
    replaced by one logistic layer on the same inner vectors, at no cost: see ``docs/patience.md``
    for what it was fitted on (``tools/fit_turn.py``) and what it gained.
    """

    def __init__(self) -> None:
        """Open the shared session.

        Raises:
            frontdesk.ModelFileError: if the model file is missing or altered.
        """
        path = verified("smart-turn")
        (self._session,) = sessions.built_sessions(
            ("smart-turn",), lambda: [_with_outputs(path.read_bytes(), (_WHOLE, _FRAMES))]
        )
        self._weights, self._bias = _head()

    def warm(self) -> None:
        """Run the model once, so that a call's first turn is as fast as its second."""
        self.probability(np.zeros(SAMPLE_RATE_HZ, np.float32))

    def probability(self, audio: Float32) -> float:
        """Probability in 0 to 1 that the turn which ``audio`` holds is complete.

        ``audio`` is the turn so far, mono float32 at 16 kHz, with about 0.1 s of the silence that
        follows it. Its last 8 s count, zeros stand in front of less. Samples that are not finite
        count as silence.

        Raises:
            SpeechError: if the audio is not one-dimensional float32, or the model fails.
        """
        return probability(float(self.listen(audio).features @ self._weights) + self._bias)

    def listen(self, audio: Float32) -> Heard:
        """What the model hears in ``audio``; as for ``probability``."""
        audio = np.concatenate((last_part(audio), _TAIL))[-_SAMPLES:]
        with sessions.failing("turn model failed"):
            mel = compute_whisper_log_mel_features(np.pad(audio, (_SAMPLES - audio.size, 0)))
            own, whole, frames = self._session.run(None, {"input_features": mel[np.newaxis]})
            end = frames[0, -_TAIL_FRAMES:].mean(axis=0)
            pause = frames[0, -3 * _TAIL_FRAMES // 2 : -_TAIL_FRAMES].mean(axis=0)
            return Heard(float(own[0, 0]), np.concatenate((whole.ravel(), end, pause)))


@cache
def _head() -> tuple[Float32, float]:
    """The weights of the last layer and its bias."""
    rows = json.loads(HEAD.read_text(encoding="utf-8"))
    return np.asarray(rows["weights"], np.float32), float(rows["bias"])


def _with_outputs(model: bytes, names: tuple[str, ...]) -> bytes:
    """The ONNX ``model`` with inner values among its outputs.

    Protocol buffers that are joined are merged: lists grow, so a graph that is nothing but
    outputs (``ModelProto.graph`` = 7, ``GraphProto.output`` = 12, ``ValueInfoProto.name`` = 1)
    adds them to the first.
    """
    return model + _field(7, b"".join(_field(12, _field(1, name.encode())) for name in names))


def _field(number: int, value: bytes) -> bytes:
    """A length-delimited field; for numbers up to 15 and lengths under 128."""
    return bytes((number << 3 | 2, len(value))) + value
