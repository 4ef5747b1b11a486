import gc
from contextlib import nullcontext
from types import SimpleNamespace

import pytest

from agent.commands import mic
from agent.garbage import set_aside


@pytest.fixture
def collector():
    thresholds = gc.get_threshold()
    yield
    gc.unfreeze()
    gc.set_threshold(*thresholds)


def test_full_collections_are_rare_once_all_is_loaded(collector):
    young, middle, _ = gc.get_threshold()
    set_aside()
    assert gc.get_threshold() == (young, middle, 100)


def test_what_is_loaded_is_set_aside_before_the_call(command, monkeypatch, collector):
    seen = []

    class Call:
        def __init__(self, *_, **__):
            pass

        async def run(self):
            seen.append(("call", gc.get_freeze_count() > 0))

    def prepare(*_):
        gc.unfreeze()
        seen.append(("prepared", gc.get_freeze_count() > 0))

    for name in ("check_devices", "local_transport"):  # no sound device here
        monkeypatch.setattr(mic, name, lambda *_: None)

    async def close():
        seen.append(("closed", True))

    engines = SimpleNamespace(
        voice=None, index=None, policy=SimpleNamespace(refusal=""), close=close
    )
    monkeypatch.setattr("agent.prerender.prepare_own_words", prepare)
    monkeypatch.setattr("agent.prerender.Prerenderer.running", lambda _: nullcontext())
    monkeypatch.setattr("agent.engines.Engines", lambda _: engines)
    monkeypatch.setattr("agent.call.Call", Call)
    code, out, _ = command("mic")
    assert (code, out.startswith("speak now")) == (0, True)
    assert seen == [("prepared", False), ("call", True), ("closed", True)]
