"""What is wrong with a provider's settings is said before the first call, in one line."""

import pytest

from agent.front_door import check_door, entrances
from agent.provider_accounts import providers_of
from agent.settings import Settings
from frontdesk import ConfigError
from telephony.providers import PROVIDERS

KEY = "11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo="  # RFC 8032, 7.1, test 1
VARIABLES = {
    "TWILIO_AUTH_TOKEN": "12345",
    "TELNYX_PUBLIC_KEY": f" {KEY}\n",
    "TELNYX_API_KEY": "key",
    "PLIVO_AUTH_TOKEN": "12345",
    "EXOTEL_SECRET": "0123456789abcdef",
}


@pytest.fixture(autouse=True)
def variables(monkeypatch):
    for provider in PROVIDERS.values():
        for name in (provider.secrets.secret, provider.secrets.api_key):
            if name:
                monkeypatch.delenv(name, raising=False)
    for name, value in VARIABLES.items():
        monkeypatch.setenv(name, value)
    return monkeypatch


def settings(public_url="https://desk.example.com/phone/", **providers):
    given = {name: {"enabled": True, **fields} for name, fields in providers.items()}
    return Settings.model_validate({"server": {"public_url": public_url}, "providers": given})


def refused(**providers):
    with pytest.raises(ConfigError) as caught:
        check_door(settings(**providers))
    line = str(caught.value)
    assert "\n" not in line
    return line


def entered(chosen):
    return entrances(chosen, providers_of(chosen).values())


def test_what_to_enter_at_each_provider():
    assert entered(settings(twilio={"account": "AC1"}, exotel={})) == [
        "Exotel: Voicebot applet https://frontdesk:SECRET@desk.example.com/phone/exotel/voice "
        "(SECRET: what EXOTEL_SECRET holds)",
        "Twilio: voice webhook https://desk.example.com/phone/twilio/voice, method POST",
    ]
    assert entered(settings(public_url="", plivo={"account": "MA1"})) == [
        "Plivo: voice webhook https://YOUR-HOST/plivo/voice, method POST"
    ]


def test_a_public_url_in_the_clear_is_said_to_be_one():
    first, *_ = entered(settings(public_url="http://10.0.0.5:8080", twilio={"account": "AC1"}))
    assert "not https" in first


def test_a_socket_that_comes_first_is_entered_as_one(variables):
    variables.setenv("ASTERISK_PASSWORD", "12345")
    assert entered(settings(asterisk={})) == [
        "Asterisk (chan_websocket): media socket wss://desk.example.com/phone/asterisk/media"
    ]


def test_an_account_that_hand_overs_need_is_asked_for():
    said = entered(settings(plivo={}))
    assert said[1] == (
        "Plivo: set providers.plivo.account (the auth id, MA…), or no call can be handed over or "
        "placed"
    )


def test_all_that_is_missing_is_named_at_once(variables):
    variables.delenv("TELNYX_PUBLIC_KEY")
    variables.setenv("TELNYX_API_KEY", " \n")
    line = refused(telnyx={})
    assert line == "providers.telnyx is enabled: set TELNYX_PUBLIC_KEY and TELNYX_API_KEY"


def test_white_space_around_a_secret_is_not_part_of_it():
    check_door(settings(telnyx={}))


@pytest.mark.parametrize("value", ["not a key", KEY[:20], "AAAA"])
def test_a_key_that_is_none_is_found_at_once(value, variables):
    variables.setenv("TELNYX_PUBLIC_KEY", value)
    line = refused(telnyx={})
    assert "TELNYX_PUBLIC_KEY" in line
    assert value not in line


@pytest.mark.parametrize(
    ("name", "variable"),
    [("vonage", "VONAGE_PRIVATE_KEY"), ("genesys", "GENESYS_CLIENT_SECRET")],
)
def test_so_is_one_of_another_kind(name, variable, variables):
    for needed in (PROVIDERS[name].secrets.secret, PROVIDERS[name].secrets.api_key):
        variables.setenv(needed, "./private.key")
    line = refused(**{name: {"account": "A1"}})
    assert variable in line
    assert "./private" not in line


def test_a_secret_of_ours_that_anyone_could_guess(variables):
    variables.setenv("EXOTEL_SECRET", "frontdesk")
    assert "openssl" in refused(exotel={})


def test_a_secret_that_was_not_copied_whole(variables):
    variables.setenv("TWILIO_AUTH_TOKEN", "1234…")
    assert "TWILIO_AUTH_TOKEN" in refused(twilio={})


def test_an_option_that_there_is_not():
    line = refused(telnyx={"options": {"aplication": "1"}})
    assert line == "providers.telnyx.options has no 'aplication'; there is application"
    assert "has no 'region'" in refused(twilio={"options": {"region": "ie1"}})


@pytest.mark.parametrize(
    "url",
    [
        "desk.example.com",
        "ftp://desk.example.com",
        "https://",
        "https://desk.example.com/?x=1",
        "https://desk.example.com/#x",
        "https://user:secret@desk.example.com",
        "https://desk.example.com:0",
        "https://desk.example.com:99999",
    ],
)
def test_a_public_url_that_is_none(url):
    with pytest.raises(ValueError, match="public_url"):
        settings(public_url=url)


def test_what_would_hold_up_a_call_is_done_before_the_first():
    one = providers_of(settings(twilio={"account": "AC1"}))
    assert vars(one["twilio"])["_rest"]._client is not None
    assert "_rest" not in vars(one["plivo"]), "nothing is opened for what is not enabled"
