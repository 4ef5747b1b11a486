"""Webhooks that do not prove where they come from, and those that do."""

import base64
from dataclasses import replace
from urllib.parse import urlencode

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from frontdesk import ForbiddenError
from telephony.far_ends import FAR_ENDS
from telephony.provider import Webhook
from telephony.providers import PROVIDERS
from telephony.providers.plivo_signature import plivo_signature
from telephony.providers.telnyx_signature import SIGNED_WITHIN_S
from telephony.providers.twilio_signature import is_signed, twilio_signature
from tests.telephony.signing import SIGNED, TELNYX_KEY, TOKEN, account, exotel, signed, telnyx

URL = "https://agent.example/{}/voice"
OTHER = {"telnyx": Ed25519PrivateKey.from_private_bytes(bytes(32))}
ID = {
    "exotel": "a" * 32,
    "plivo": "3e82ae9d-2c78-4d85-b1a4-6eae7dbafb36",
    "telnyx": "v3:MdI91X4lWFEs7IgbBEOT9M4AigoY08M0WWZFISt1Yw2axZ_IiE4pqg",
    "twilio": "CA" + "0" * 28 + "fb36",
}
HEADERS = {
    "exotel": ["authorization"],
    "plivo": ["x-plivo-signature-v3", "x-plivo-signature-v3-nonce"],
    "telnyx": ["telnyx-signature-ed25519", "telnyx-timestamp"],
    "twilio": ["x-twilio-signature"],
}

every_signed = pytest.mark.parametrize("name", SIGNED)
signs_what_it_says = pytest.mark.parametrize("name", ["plivo", "telnyx", "twilio"])


def form_of(name):
    request = FAR_ENDS[name](ID[name], caller="+15555550100", called="+15555550101").request()
    form = request.form or {"CallSid": ID[name], "CallFrom": "+15555550100"}
    return {**form, **({"AccountSid": "AC1"} if "AccountSid" in form else {})}


def provider(name, **fields):
    return PROVIDERS[name](account(name, **fields))


def hook(name, **options):
    return signed(name, URL.format(name), form_of(name), **options)


def refused(name, request, **fields):
    with pytest.raises(ForbiddenError) as caught:
        provider(name, **fields).check(request)
    line = str(caught.value)
    assert "\n" not in line
    assert TOKEN not in line
    assert "+1555" not in line
    return line


@every_signed
def test_the_providers_own_signature_is_taken(name):
    request = hook(name)
    provider(name).check(request)
    call = provider(name).incoming(request)
    assert (call.call_id, call.caller) == (ID[name].replace(":", "-"), "+15555550100")


@every_signed
def test_each_header_is_needed(name):
    request = hook(name)
    for header in HEADERS[name]:
        left = {key: value for key, value in request.headers.items() if key != header}
        refused(name, replace(request, headers=left))
        refused(name, replace(request, headers={**left, header: ""}))


@every_signed
def test_another_key_is_refused(name):
    refused(name, hook(name, secret=OTHER.get(name, "54321")))


@every_signed
def test_headers_of_any_bytes_are_refused(name):
    request = hook(name)
    for odd in ("é", "\ud800", "\x00", "A" * 10_000, "=", "Basic", "Basic é", "Basic AAAA"):
        for header in HEADERS[name]:
            refused(name, replace(request, headers={**request.headers, header: odd}))


@every_signed
def test_without_a_secret_nobody_is_let_in(name):
    request = hook(name) if name == "telnyx" else hook(name, secret=None)
    refused(name, request, secret="")
    if name != "telnyx":  # signed with the empty key that a forgotten variable would make
        forged = signed(name, URL.format(name), form_of(name), secret="\x00")
        refused(name, forged, secret="")


@signs_what_it_says
def test_a_signature_does_not_carry_over_to_another_body(name):
    request = hook(name)
    form = {**request.form, "From": "+15555550199"}
    refused(name, replace(request, form=form, body=urlencode(form).encode()))
    form = {**request.form, "More": "1"}
    refused(name, replace(request, form=form, body=urlencode(form).encode()))


@pytest.mark.parametrize("name", ["plivo", "telnyx"])
def test_a_signature_counts_once(name):
    """Twilio's holds neither time nor nonce: there the front door refuses a call it has seen."""
    one, request = provider(name), hook(name)
    one.check(request)
    with pytest.raises(ForbiddenError, match="second time"):
        one.check(request)


def test_a_telnyx_signature_written_in_another_way_counts_once_too():
    one, request = provider("telnyx"), hook("telnyx")
    one.check(request)
    given = request.headers["telnyx-signature-ed25519"]
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    last = letters[letters.index(given[-3]) ^ 1]  # of this letter only two bits count
    other = f"{given[:-3]}{last}=="
    assert base64.b64decode(other, validate=True) == base64.b64decode(given)
    with pytest.raises(ForbiddenError, match="second time"):
        one.check(replace(request, headers={**request.headers, "telnyx-signature-ed25519": other}))


@pytest.mark.parametrize("name", ["plivo", "twilio"])
def test_a_signature_does_not_carry_over_to_another_url(name):
    request = hook(name)
    for url in (
        "https://agent.example/other/voice",
        "https://evil.example/" + name + "/voice",
        URL.format(name) + "?dial=%2B15555550199",
        URL.format(name) + "/",
        URL.format(name).replace("https", "http"),
    ):
        refused(name, replace(request, url=url))


@pytest.mark.parametrize("name", ["plivo", "twilio"])
def test_behind_a_proxy_the_public_url_is_what_counts(name):
    """The front door puts ``server.public_url`` in place of what the proxy asked for."""
    public = "https://agent.example:8443/phone/" + name + "/voice?x=1"
    request = signed(name, public, form_of(name))
    provider(name).check(request)
    refused(name, replace(request, url=f"http://127.0.0.1:8080/{name}/voice?x=1"))


def test_the_webhook_of_another_account_is_refused():
    for name in ("telnyx", "twilio"):
        form = {**form_of(name), "AccountSid": "AC2"}
        assert "another" in refused(name, signed(name, URL.format(name), form))


@pytest.mark.parametrize(("name", "field"), [("plivo", "CallUUID"), ("twilio", "CallSid")])
def test_a_field_moved_into_the_calls_id_makes_no_other_call(name, field):
    """What is signed has no bounds between the fields: these forms have one signature."""
    form = form_of(name)
    (after, *rest) = sorted(one for one in form if one > field)
    request = signed(name, URL.format(name), form)
    longer = {key: value for key, value in form.items() if key != after}
    longer[field] = f"{form[field]}{after}{form[after]}"
    shorter = {key: value for key, value in form.items() if key <= field}
    tail = "".join(one + form[one] for one in (after, *rest))
    shorter[field], moved = form[field].removesuffix("fb36"), "fb36" + tail
    shorter[moved] = ""
    for odd in (longer, shorter):
        again = replace(request, form=odd, body=urlencode(odd).encode())
        assert "Call" in refused(name, again)


def test_a_twilio_get_is_refused_since_its_form_would_be_the_query():
    assert "POST" in refused("twilio", replace(hook("twilio"), method="GET"))


# Telnyx


def test_telnyx_signatures_grow_old(monkeypatch):
    now = 1_700_000_000
    monkeypatch.setattr("telephony.providers.telnyx.time.time", lambda: now)
    request = hook("telnyx")
    for age in (SIGNED_WITHIN_S, -SIGNED_WITHIN_S, 0):
        headers = telnyx(TELNYX_KEY, request.body, str(now - age))
        provider("telnyx").check(replace(request, headers=headers))
    for age in (SIGNED_WITHIN_S + 1, -SIGNED_WITHIN_S - 1):
        headers = telnyx(TELNYX_KEY, request.body, str(now - age))
        refused("telnyx", replace(request, headers=headers))


def test_a_telnyx_time_that_was_not_signed_is_refused():
    request = hook("telnyx")
    stamp = int(request.headers["telnyx-timestamp"])
    headers = {**request.headers, "telnyx-timestamp": str(stamp - 1)}
    assert "match" in refused("telnyx", replace(request, headers=headers))
    for odd in ("NaN", "1e9", "-1", "１７", "9" * 400, " "):
        refused("telnyx", replace(request, headers={**request.headers, "telnyx-timestamp": odd}))


def test_a_telnyx_get_is_refused_since_its_query_is_not_signed():
    headers = telnyx(TELNYX_KEY, b"")
    form = form_of("telnyx")
    url = f"{URL.format('telnyx')}?{urlencode(form)}"
    for method in ("GET", "POST"):
        assert "POST" in refused("telnyx", Webhook(method, url, headers, form=form))


@pytest.mark.parametrize("key", ["", "not base64", "AAAA"])
def test_a_telnyx_key_that_is_none_lets_nobody_in(key):
    refused("telnyx", hook("telnyx"), secret=key)


# Vectors that the providers publish

PLIVO_TOKEN = "Y2Q2ZDgxZmY5YWRiOTI5YmQ1Njg0MTAxZWIyOTc4"
PLIVO_NONCE = "31627761595286130198"
PLIVO_URL = "https://plivobin.non-prod.plivops.com/api/v1/validate_signature03.xml"
_LEG = "3e82ae9d-2c78-4d85-b1a4-6eae7dbafb36"
_NAME = "PlivoSignature382029104058171078704104"
PLIVO_FORM = {
    "Direction": "outbound",
    "From": "19792014278",
    "ALegUUID": _LEG,
    "CallStatus": "in-progress",
    "BillRate": "0.002",
    "ParentAuthID": "MANWVLYTK4ZWU1YTY4QA",
    "To": f"sip:{_NAME}@phone-qa.voice.plivodev.com",
    "ALegRequestUUID": _LEG,
    "CallUUID": _LEG,
    "RequestUUID": _LEG,
    "SIP-H-To": f"<sip:{_NAME}@52.9.11.55;transport=udp>;tag=1",
    "SessionStart": "2020-04-08 11:34:33.238707",
    "Event": "StartApp",
}


@pytest.mark.parametrize(
    ("method", "url", "due"),
    [
        ("POST", PLIVO_URL + "/?a=b&c=d", "k7Pusd4OxCIjR5IfA9iedDNu/h/gbdYqdzG/MiYtd1c="),
        ("GET", PLIVO_URL + "/?a=b&c=d", "UBq8jAtd32wR8EK9VgxbBn4n5rpI/l1H9iN4WfSEHFQ="),
        ("POST", PLIVO_URL, "iAjE5QqI37mbkYe4w3jTMudqEzbDufdqi7sYwTu64e0="),
        ("GET", PLIVO_URL, "i/MQsaQSAd6fiKhOh2qeeeLHZ9faldADSb3/7+Akfbc="),
    ],
)
def test_plivo_signs_as_its_go_library_does(method, url, due):
    """https://github.com/plivo/plivo-go, ``TestValidateSignatureV3Pass1`` to ``4``."""
    assert plivo_signature(PLIVO_TOKEN, method, url, PLIVO_NONCE, PLIVO_FORM) == due


def test_plivo_sends_one_signature_for_each_of_its_tokens():
    request = hook("plivo")
    good = request.headers["x-plivo-signature-v3"]
    for header in ("x-plivo-signature-v3", "x-plivo-signature-ma-v3"):
        nonce = {"x-plivo-signature-v3-nonce": request.headers["x-plivo-signature-v3-nonce"]}
        headers = {**nonce, header: f"AAAA,{good} ,BBBB"}
        provider("plivo").check(replace(request, headers=headers))
    refused("plivo", replace(request, headers={**request.headers, "x-plivo-signature-v3": ","}))


def test_a_plivo_nonce_that_was_not_signed_is_refused():
    request = hook("plivo")
    headers = {**request.headers, "x-plivo-signature-v3-nonce": "1"}
    refused("plivo", replace(request, headers=headers))


def test_a_plivo_get_is_signed_over_its_query():
    url = URL.format("plivo") + f"?CallUUID={ID['plivo']}&From=%2B15555550100"
    form = {"CallUUID": ID["plivo"], "From": "+15555550100"}
    headers = {
        "x-plivo-signature-v3": plivo_signature(TOKEN, "GET", url, "1", {}),
        "x-plivo-signature-v3-nonce": "1",
    }
    request = Webhook("GET", url, headers, form=form)
    provider("plivo").check(request)
    refused("plivo", replace(request, url=url.replace("3e82", "3e83")))


def test_twilio_signs_as_its_documentation_does():
    """https://www.twilio.com/docs/usage/security, the worked example; the value is that of
    Twilio's own library (``tests/unit/test_request_validator.py``)."""
    form = {
        "CallSid": "CA1234567890ABCDE",
        "Caller": "+14158675309",
        "Digits": "1234",
        "From": "+14158675309",
        "To": "+18005551212",
    }
    url = "https://mycompany.com/myapp.php?foo=1&bar=2"
    assert twilio_signature("12345", url, form) == "RSOYDt4T1cUTdK1PDd93/VVr8B8="
    for port in (":443", ""):
        asked = url.replace(".com/", f".com{port}/")
        assert is_signed("12345", asked, form, twilio_signature("12345", url, form))
    assert not is_signed(
        "12345", url.replace(".com/", ".com:8443/"), form, "RSOYDt4T1cUTdK1PDd93/VVr8B8="
    )


# Exotel


def test_exotels_secret_may_stand_in_the_query():
    form = {**form_of("exotel"), "key": TOKEN}
    request = Webhook("GET", URL.format("exotel"), {}, form=form)
    provider("exotel").check(request)
    refused("exotel", replace(request, form={**form, "key": "54321"}))


def test_exotels_wrong_password_is_not_made_good_by_the_query():
    form = {**form_of("exotel"), "key": TOKEN}
    refused("exotel", Webhook("GET", URL.format("exotel"), exotel("54321"), form=form))
