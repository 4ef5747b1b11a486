"""All calls are made from one set of models."""

from speech.vad import DEFAULT_PARAMS


def test_calls_share_models_and_nothing_else(engines):
    one, other = engines.stt(), engines.stt()
    assert one is not other
    assert one._moonshine is other._moonshine is engines.moonshine
    assert engines.tts()._voice is engines.tts()._voice is engines.voice
    vads = [engines.vad_analyzer(8000) for _ in range(2)]
    assert vads[0]._model.session is vads[1]._model.session
    assert vads[0]._model is not vads[1]._model
    assert vads[0].params == DEFAULT_PARAMS
