"""One set of models for all replays of a worker."""

import warnings

import pytest
from loguru import logger

from agent.replay import Ears
from agent.replay.engines import ReplayEngines
from agent.settings import load_settings
from rag import Policy
from tests.isolation import away_from_settings


@pytest.fixture(scope="session", autouse=True)
def _quiet():
    """Pipecat tells of every frame, which takes longer than the frame."""
    logger.disable("pipecat")
    yield
    logger.enable("pipecat")


@pytest.fixture(scope="session")
def ears(clinic, tmp_path_factory):
    """What hears, on the sample documents, under default settings."""
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        away_from_settings(patch, tmp_path_factory.mktemp("ears"))
        return Ears(ReplayEngines.load(load_settings(), clinic, Policy()))
