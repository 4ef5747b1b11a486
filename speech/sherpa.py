"""Recogniser from a model folder: a streaming zipformer (or its kin) on sherpa-onnx.

Method: Yao et al., "Zipformer: A faster and better encoder for automatic speech recognition"
(arXiv 2310.11230), decoded as a transducer by ``sherpa-onnx`` (Apache-2.0, an extra of its own).
"""

from __future__ import annotations

import math
import re
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import onnxruntime as ort

from frontdesk import ConfigError, ModelFileError
from speech import sessions
from speech.audio import Float32, levels
from speech.recogniser import SAMPLE_RATE_HZ, is_audible, last_part
from speech.types import Hint, Utterance

if TYPE_CHECKING:
    from sherpa_onnx import OnlineRecognizer

_SURE = 0.0  # where the model tells no probabilities
_KINDS = ("zipformer2", "zipformer", "conformer", "lstm")
# The model looks this far ahead, and says nothing of what it has not seen the end of.
_TAIL = SAMPLE_RATE_HZ * 66 // 100


class Zipformer:
    """Speech to text for one piece of audio at a time; safe to call from several threads."""

    def __init__(self, folder: str | Path, *, language: str = "en", threads: int = 1) -> None:
        """Load ``tokens.txt`` and the ``encoder``, ``decoder`` and ``joiner`` of ``folder``.

        The networks are ``*.onnx`` files whose names begin so, as in the releases of sherpa-onnx;
        of several the int8 one is taken. ``language`` is what the folder's model hears.

        Raises:
            ConfigError: if a file is missing from the folder.
            ModelFileError: if the extra is missing or the files are no streaming transducer.
        """
        self._recogniser = _load(Path(folder), threads)
        self._language = language

    def warm(self) -> None:
        """Run the model once, so that a call's first turn is as fast as its second."""
        self._decode(np.zeros(SAMPLE_RATE_HZ, np.float32))

    def transcribe(self, audio: Float32, *, hint: Hint = Hint.NONE) -> Utterance:
        """What was said in ``audio``: mono float32 at 16 kHz, of which the last 30 s are heard.

        Audio under 0.1 s or with no 20 ms window above -60 dBFS is ''. ``hint`` has no effect.

        Raises:
            SpeechError: if the audio is not one-dimensional float32, or the model fails.
        """
        start = time.perf_counter()
        audio = last_part(audio)
        audio_ms = audio.size * 1000 / SAMPLE_RATE_HZ
        text, confidence = "", -math.inf
        if is_audible(audio_ms, levels(audio, SAMPLE_RATE_HZ)[0]):
            with sessions.failing("recogniser failed"):
                text, confidence = self._decode(audio)
        took_ms = (time.perf_counter() - start) * 1000
        return Utterance(text, audio_ms, took_ms, confidence, self._language)

    def _decode(self, audio: Float32) -> tuple[str, float]:
        stream = self._recogniser.create_stream()
        stream.accept_waveform(SAMPLE_RATE_HZ, np.concatenate((audio, np.zeros(_TAIL, np.float32))))
        stream.input_finished()
        while self._recogniser.is_ready(stream):
            self._recogniser.decode_stream(stream)
        result = self._recogniser.get_result_all(stream)
        text = " ".join(result.text.split())
        if not text:
            return "", -math.inf
        return text, float(np.mean(result.ys_probs)) if result.ys_probs else _SURE


def _load(folder: Path, threads: int) -> OnlineRecognizer:
    try:
        from sherpa_onnx import OnlineRecognizer
    except ImportError:
        raise ModelFileError(
            "sherpa needs its extra; run: pip install 'frontdesk[sherpa]'"
        ) from None
    tokens = folder / "tokens.txt"
    if not tokens.is_file():
        raise ConfigError(f"recogniser.model: no tokens.txt in {str(folder)!r}")
    networks = {part: str(_network(folder, part)) for part in ("encoder", "decoder", "joiner")}
    _check(networks)
    try:
        return OnlineRecognizer.from_transducer(
            tokens=str(tokens), num_threads=threads, provider="cpu", **networks
        )
    except Exception as error:
        raise ModelFileError(f"{str(folder)!r} is no streaming transducer: {error}") from error


def _check(networks: dict[str, str]) -> None:
    """sherpa-onnx ends the process on a file that it cannot read, so they are opened here first."""
    options = ort.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    for part, path in networks.items():
        try:
            network = ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        except Exception as error:
            raise ModelFileError(f"{path} is no network that can be read: {error}") from error
        kind = network.get_modelmeta().custom_metadata_map.get("model_type")
        if part == "encoder" and kind not in _KINDS:
            raise ModelFileError(
                f"{path} is of the kind {kind!r}, not a streaming {', '.join(_KINDS)}"
            )


def _network(folder: Path, part: str) -> Path:
    found = sorted(folder.glob(f"{part}*.onnx"))
    if not found:
        raise ConfigError(f"recogniser.model: no {part}*.onnx in {str(folder)!r}")
    return next((path for path in found if re.search(r"\bint8\b", path.name)), found[0])
