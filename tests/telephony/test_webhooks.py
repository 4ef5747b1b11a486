"""What providers are answered, and what is made of webhooks whose fields are anything."""

import json
import random
from xml.etree import ElementTree

import pytest

from frontdesk import WireError
from telephony.provider import Incoming, Webhook
from telephony.providers import PROVIDERS
from tests.telephony.contract import MARKER, far_end_of, provider_of

XML = ("plivo", "telnyx", "twilio")
EVIL = "a\"b<c>&'d\n\x00\x0b\ufffe\ud800é</Stream><Dial>+15555550199</Dial>"
WITH_WEBHOOK = sorted(name for name in PROVIDERS if far_end_of(name).request() is not None)

of_xml = pytest.mark.parametrize("name", XML)
with_webhook = pytest.mark.parametrize("name", WITH_WEBHOOK)


@with_webhook
def test_what_a_caller_sends_cannot_break_out_of_the_answer(name):
    answer = provider_of(name).connect("wss://h.example/m?a=1&b=<2>", Incoming("CA1", EVIL, EVIL))
    assert answer.status == 200
    if name in XML:
        root = ElementTree.fromstring(answer.body)
        assert [one.tag for one in root.iter()].count("Dial") == 0
        assert len(root.findall(".//Stream")) == 1
    else:
        json.loads(answer.body)
    where = far_end_of(name).dialled(answer.body)
    assert where.url == "wss://h.example/m?a=1&b=<2>"


@of_xml
def test_the_other_answers_are_xml_that_cannot_be_broken_out_of(name):
    provider = provider_of(name)
    for answer, verbs in (
        (provider.refuse(EVIL), 2),
        (provider.whisper(EVIL), 1),
        (provider.hung_up(), 1),
    ):
        assert answer.media_type == "application/xml"
        root = ElementTree.fromstring(answer.body)
        assert root.tag == "Response"
        assert len(root) == verbs
        assert len(list(root.iter())) == verbs + 1


@pytest.mark.parametrize("name", ["jambonz", "vonage"])
def test_what_is_said_is_not_read_as_markup(name):
    """Both take SSML in the same field: a summary holds what a caller said."""
    said = provider_of(name).whisper("<speak><audio src='https://evil.example/a.mp3'/></speak>")
    assert not {"<", ">"} & set(said.body)


@with_webhook
def test_a_refusal_offers_no_socket(name):
    answer = provider_of(name).refuse("All our lines are busy.")
    with pytest.raises(WireError):
        far_end_of(name).dialled(answer.body)


@with_webhook
def test_the_call_that_is_announced(name):
    request = far_end_of(name).request()
    form = dict(request.form or {})
    if "?" in request.path:
        form = {"CallSid": "CA1", "CallFrom": "+15555550100", "CallTo": "+15555550101"}
    hook = Webhook(request.method, "https://h.example", {}, b"", form, dict(request.json or {}))
    call = provider_of(name).incoming(hook)
    assert ":" not in call.call_id
    assert "15555550100" in call.caller
    assert "15555550101" in call.called


def anything(rng, depth=0):
    kind = rng.randrange(8)
    if kind == 0 and depth < 3:
        return [anything(rng, depth + 1) for _ in range(rng.randrange(3))]
    if kind == 1 and depth < 3:
        return {rng.choice("abc"): anything(rng, depth + 1)}
    return rng.choice([None, True, -1, 1e400, "", MARKER, "../..", "é", "\ud800", "x" * 300])


@with_webhook
def test_fields_of_any_kind_are_a_call_or_one_wire_error(name):
    """Signed or not: what is in a webhook may still be anything, and ends its own request."""
    rng, provider = random.Random(name), provider_of(name)
    request = far_end_of(name).request()
    fields = {**(request.form or {}), **(request.json or {}), "CallSid": "CA1", "status": "busy"}
    fields |= {"DialStatus": "busy", "DialCallStatus": "busy", "dial_call_status": "busy"}
    for _ in range(500):
        odd = {key: anything(rng) if rng.random() < 0.4 else fields[key] for key in fields}
        form = {key: value for key, value in odd.items() if isinstance(value, str)}
        hook = Webhook("POST", "https://h.example/return?dial=" + MARKER, {}, b"", form, odd)
        for ask in (
            provider.incoming,
            provider.transferred,
            provider.transfer_problem,
            provider.meanwhile,
        ):
            line = error_of(ask, hook, can_transfer=bool(provider.capabilities.transfer))
            assert "EVIL" not in line
            assert "\n" not in line


def error_of(ask, hook, *, can_transfer):
    """The one line of what a webhook is refused with; empty if it is not."""
    try:
        ask(hook)
    except WireError as error:
        return str(error)
    except NotImplementedError:
        return "" if not can_transfer else "EVIL"
    return ""
