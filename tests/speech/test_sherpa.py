"""A model folder on the real sherpa-onnx runtime. The model is made up, see ``made_zipformer``."""

from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from unittest.mock import Mock

import numpy as np
import pytest

from frontdesk import ConfigError, ModelFileError, SpeechError
from speech.noise import is_speech
from tests.speech import made_zipformer

pytest.importorskip("sherpa_onnx", reason="needs the sherpa extra")

from speech.recognisers import recogniser_for
from speech.sherpa import Zipformer

LOUD = np.random.default_rng(0).normal(0, 0.2, 16000).astype(np.float32)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("zipformer")
    made_zipformer.write(folder)
    return folder


@pytest.fixture(scope="module")
def zipformer(folder):
    return recogniser_for("sherpa", str(folder), ["hi"])


def test_a_model_folder_hears(zipformer):
    zipformer.warm()
    utterance = zipformer.transcribe(LOUD)
    assert (utterance.text, utterance.language) == ("HELLO", "hi")
    assert -0.1 < utterance.confidence <= 0
    assert utterance.audio_ms == 1000


@pytest.mark.parametrize(
    "audio", [np.zeros(0), np.zeros(16000), np.ones(1000), LOUD * 0.003, np.full(16000, np.nan)]
)
def test_what_is_too_short_or_quiet_is_empty(zipformer, audio):
    utterance = zipformer.transcribe(audio.astype(np.float32))
    assert (utterance.text, utterance.confidence) == ("", float("-inf"))


def test_words_without_probabilities_are_no_noise(zipformer, monkeypatch):
    result = SimpleNamespace(text="HELLO", ys_probs=[])
    recogniser = Mock(wraps=zipformer._recogniser, get_result_all=lambda _: result)
    monkeypatch.setattr(zipformer, "_recogniser", recogniser)
    assert is_speech(LOUD, zipformer.transcribe(LOUD))


def test_threads_hear_the_same(zipformer):
    with ThreadPoolExecutor(4) as threads:
        assert {u.text for u in threads.map(zipformer.transcribe, [LOUD] * 8)} == {"HELLO"}


def test_other_audio_is_an_error(zipformer):
    with pytest.raises(SpeechError, match="1-d float32"):
        zipformer.transcribe(np.zeros((2, 8000), np.float32))


def test_the_int8_file_is_taken(folder, tmp_path):
    made_zipformer.write(tmp_path)
    (tmp_path / "encoder-epoch-99-avg-1.int8.onnx").write_bytes(b"not a network")
    with pytest.raises(ModelFileError, match=r"int8\.onnx is no network"):
        Zipformer(tmp_path)


@pytest.mark.parametrize("name", ["tokens.txt", "joiner-epoch-99-avg-1.onnx"])
def test_a_missing_file_is_named(tmp_path, name):
    made_zipformer.write(tmp_path)
    (tmp_path / name).unlink()
    with pytest.raises(ConfigError, match=name.split("-")[0]):
        Zipformer(tmp_path)


def test_networks_of_another_kind_do_not_end_the_process(tmp_path):
    made_zipformer.write(tmp_path)
    encoder = tmp_path / "encoder-epoch-99-avg-1.onnx"
    encoder.write_bytes((tmp_path / "joiner-epoch-99-avg-1.onnx").read_bytes())
    with pytest.raises(ModelFileError, match="not a streaming"):
        Zipformer(tmp_path)
