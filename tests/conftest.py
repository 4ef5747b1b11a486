"""What tests of several packages share: the sample index and one set of engines."""

import json
import warnings

import pytest

from tests.isolation import away_from_settings

with warnings.catch_warnings():
    # Pipecat 1.14 defines deprecated classes on import and warns about its own; the warning
    # bears the module name "abc", so that no filter by module finds it.
    warnings.simplefilter("ignore", DeprecationWarning)
    import agent.server  # noqa: F401

from agent.cli import main
from agent.settings import SAMPLE_KB, Settings, load_settings
from rag import Index, open_index


@pytest.fixture(scope="session")
def clinic() -> Index:
    """The sample knowledge base's index, on the real embedder."""
    return open_index(SAMPLE_KB)


@pytest.fixture(scope="session")
def clinic_questions() -> list[dict]:
    """The gold questions, in file order."""
    text = (SAMPLE_KB / "questions.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


@pytest.fixture(scope="session")
def call_engines(tmp_path_factory):
    """Every model, loaded once for all calls of all tests."""
    from agent.engines import Engines

    with pytest.MonkeyPatch.context() as patch:
        away_from_settings(patch, tmp_path_factory.mktemp("engines"))
        return Engines(load_settings())


@pytest.fixture
def command(capsys, monkeypatch, tmp_path_factory):
    """Run ``frontdesk`` in a folder of its own; exit code, stdout and stderr."""
    away_from_settings(monkeypatch, tmp_path_factory.mktemp("away"))

    def run(*arguments):
        try:
            code = main([str(argument) for argument in arguments])
        except SystemExit as stopped:  # argparse
            code = stopped.code
        return code, *capsys.readouterr()

    return run


@pytest.fixture
def settings(tmp_path, monkeypatch):
    """``settings(server={…}, …)``: defaults, whatever this machine has set; records in a folder
    of the test's own.
    """
    away_from_settings(monkeypatch, tmp_path)

    def make(**overrides) -> Settings:
        return load_settings(**{"records": {"folder": tmp_path / "calls"}, **overrides})

    return make
