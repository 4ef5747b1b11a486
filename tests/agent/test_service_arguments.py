"""Arguments of a service: secrets only by variable."""

import pytest

from agent.service_arguments import resolved
from agent.settings import load_settings
from agent.speech_settings import hearing_of, speaking_of
from frontdesk import ConfigError


@pytest.fixture
def config(tmp_path, monkeypatch):
    path = tmp_path / "frontdesk.toml"
    monkeypatch.setenv("FRONTDESK_CONFIG", str(path))
    return path


def test_a_service_and_its_key(config, monkeypatch):
    config.write_text(
        '[recogniser]\nengine = "pkg.mod:Ear"\nlanguages = ["hi", "en"]\nbudget_ms = 700\n'
        'arguments = { api_key = "$EAR_KEY", settings = { model = "m", keyterm = '
        '["Okafor", "$EAR_KEY"] } }\n'
        '[voice]\nengine = "pkg.mod:Mouth"\narguments = { headers = { X-API-Key = "$EAR_KEY" } }\n'
    )
    monkeypatch.setenv("EAR_KEY", "k1")
    hearing, speaking = hearing_of(load_settings()), speaking_of(load_settings())
    assert (hearing.engine, hearing.languages, hearing.budget_ms) == (
        "pkg.mod:Ear", ("hi", "en"), 700,
    )  # fmt: skip
    assert hearing.arguments == {
        "api_key": "k1", "settings": {"model": "m", "keyterm": ["Okafor", "k1"]},
    }  # fmt: skip
    assert speaking.arguments == {"headers": {"X-API-Key": "k1"}}


def test_arguments_by_variable(config, monkeypatch):
    config.write_text("")
    monkeypatch.setenv("FRONTDESK_VOICE__ARGUMENTS", '{"api_key": "$EAR_KEY"}')
    monkeypatch.setenv("FRONTDESK_VOICE__LANGUAGES", '["hi"]')
    monkeypatch.setenv("EAR_KEY", "k1")
    speaking = speaking_of(load_settings())
    assert (speaking.arguments, speaking.languages) == ({"api_key": "k1"}, ("hi",))


@pytest.mark.parametrize(
    "arguments",
    [
        '{ api_key = "sk-123" }',
        '{ headers = { Authorization = "Bearer x" } }',
        '{ access_token = "t" }',
        '{ accessToken = "t" }',
        '{ fallbacks = [{ api_key = "sk-123" }] }',
        '{ "client-secret" = "s" }',
        "{ password = 5 }",
    ],
)
def test_a_secret_in_the_file_is_refused_and_not_repeated(config, arguments):
    config.write_text(f"[recogniser]\narguments = {arguments}\n")
    with pytest.raises(ConfigError, match=r"recogniser\.arguments.* is a secret") as error:
        load_settings()
    assert not any(secret in str(error.value) for secret in ("sk-123", "Bearer"))


def test_a_variable_that_is_not_set_is_named(monkeypatch):
    monkeypatch.delenv("EAR_KEY", raising=False)
    with pytest.raises(ConfigError, match=r"voice\.arguments\.headers\.key .*export EAR_KEY"):
        resolved({"headers": {"key": "$EAR_KEY"}}, "voice.arguments")
