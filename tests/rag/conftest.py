"""The shop's index on the real embedder."""

import pytest

from rag import documents
from rag.building import build
from rag.embed import default_embedder
from tests.rag.shop_kb import HOURS, REPAIRS, floors, write_kb


@pytest.fixture(scope="session")
def embedder():
    return default_embedder()


@pytest.fixture(scope="session")
def shop(tmp_path_factory):
    return write_kb(tmp_path_factory.mktemp("shop"), hours=HOURS, repairs=REPAIRS)


@pytest.fixture(scope="session")
def index(shop, embedder):
    return build(documents.load(shop), embedder, {"en": floors(embedder.hash)})
