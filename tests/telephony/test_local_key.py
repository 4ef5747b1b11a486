"""The key that programs of the same user on this machine find."""

import os

import pytest

from frontdesk import ConfigError
from telephony import local_key


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    return tmp_path / "frontdesk"


def test_it_is_there_while_the_server_runs_and_for_its_user_only(folder):
    key = local_key.new()
    assert local_key.read(8080) == ""
    with local_key.published(key, 8080):
        assert local_key.read(8080) == key
        assert local_key.headers_for("http://127.0.0.1:8080/x") == {local_key.HEADER: key}
        assert local_key.headers_for("ws://localhost:8080") == {local_key.HEADER: key}
        assert local_key.headers_for("http://127.0.0.1:8081") == {}
        assert (folder.stat().st_mode & 0o777, (folder / "8080").stat().st_mode & 0o777) == (
            0o700,
            0o600,
        )
    assert local_key.read(8080) == ""
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("url", ["https://example.com:8080", "http://127.0.0.1.example.com:8080"])
def test_it_is_sent_to_no_other_machine(url):
    with local_key.published(local_key.new(), 8080):
        assert local_key.headers_for(url) == {}


def test_the_key_of_a_server_that_was_killed_is_replaced(folder):
    folder.mkdir(mode=0o700)
    (folder / "8080").write_text("fdk_old")
    with local_key.published("fdk_new", 8080):
        assert local_key.read(8080) == "fdk_new"


def test_a_server_takes_away_its_own_key_only(folder):
    with local_key.published("fdk_one", 8080):
        (folder / "8080").write_text("fdk_two")
    assert local_key.read(8080) == "fdk_two"


def test_a_folder_open_to_others_is_not_used(folder):
    folder.mkdir()
    os.chmod(folder, 0o755)
    (folder / "8080").write_text("fdk_planted")
    assert local_key.read(8080) == ""
    with (
        pytest.raises(ConfigError, match="not this user's alone"),
        local_key.published("fdk_x", 8080),
    ):
        pass


def test_a_link_in_its_place_is_not_followed(folder, tmp_path):
    folder.mkdir(mode=0o700)
    target = tmp_path / "target"
    target.write_text("precious")
    (folder / "8080").symlink_to(target)
    assert local_key.read(8080) == ""
    with local_key.published("fdk_x", 8080):
        assert local_key.read(8080) == "fdk_x"
    assert target.read_text() == "precious"
