"""Tokens: good once, for one call, for a while; and nothing else passes for one."""

import base64

import pytest

from frontdesk import ForbiddenError
from telephony.tokens import PREFIX, Tokens

SECRET = b"s" * 32


class Clock:
    def __init__(self):
        self.now = 1_800_000_000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def tokens(clock):
    return Tokens(SECRET, clock=clock)


def refused(tokens, token, why, provider="twilio", **how):
    with pytest.raises(ForbiddenError, match=why) as error:
        tokens.spend(token, provider, **how)
    assert str(error.value).isascii()
    assert len(token) < 8 or token not in str(error.value)


def test_a_token_names_its_call_once(tokens):
    token = tokens.mint("twilio", "CA1")
    assert tokens.read(token, "twilio") == "CA1"
    assert tokens.spend(token, "twilio") == "CA1"
    refused(tokens, token, "second time")
    with pytest.raises(ForbiddenError):
        tokens.read(token, "twilio")


def test_no_two_tokens_of_a_call_are_the_same(tokens):
    assert len({tokens.mint("twilio", "CA1") for _ in range(100)}) == 100


def test_a_token_expires(tokens, clock):
    token = tokens.mint("twilio", "CA1", 60)
    clock.now += 59.9
    assert tokens.read(token, "twilio") == "CA1"
    clock.now += 0.2
    refused(tokens, token, "expired")


def test_a_token_is_for_one_provider_and_one_purpose(tokens):
    token = tokens.mint("twilio", "CA1", purpose="return")
    refused(tokens, token, "another kind")
    refused(tokens, token, "another kind", "telnyx", purpose="return")
    assert tokens.spend(token, "twilio", purpose="return") == "CA1"


def test_a_token_of_another_server_is_refused(clock):
    token = Tokens(b"t" * 32, clock=clock).mint("twilio", "CA1")
    refused(Tokens(SECRET, clock=clock), token, "not ours")


def test_servers_that_share_a_secret_take_each_others(clock):
    token = Tokens(SECRET, clock=clock).mint("twilio", "CA1")
    assert Tokens(SECRET, clock=clock).spend(token, "twilio") == "CA1"


def test_no_altered_bit_passes(tokens):
    token = tokens.mint("twilio", "CA1")
    body = token.removeprefix(PREFIX)
    whole = base64.urlsafe_b64decode(body + "=" * (-len(body) % 4))
    for at in range(len(whole)):
        altered = bytearray(whole)
        altered[at] ^= 1
        forged = PREFIX + base64.urlsafe_b64encode(bytes(altered)).decode().rstrip("=")
        refused(tokens, forged, "not ours")
    assert tokens.spend(token, "twilio") == "CA1"


def test_the_same_token_spelt_otherwise_is_not_good_again(tokens):
    """Base64 leaves bits over at its end, which change the text and not the token."""
    token = tokens.mint("twilio", "CA12")  # of a length that leaves some
    tokens.spend(token, "twilio")
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    for last in alphabet:
        with pytest.raises(ForbiddenError):
            tokens.spend(token[:-1] + last, "twilio")


@pytest.mark.parametrize(
    "token",
    ["", "fdt_", "x", "fdt_A", "fdt_" + "A" * 59, "fdt_" + "A" * 10_000, "fdt_é", "fdt_../..",
     "fdt_\n", "FDT_AAAA", "fdt_" + "=" * 40, "fdt_" + "AAAA" * 20],
)  # fmt: skip
def test_nonsense_is_refused(tokens, token):
    refused(tokens, token, "not a token|not ours")


def test_spent_ones_are_forgotten_when_they_would_have_expired(tokens, clock):
    for _ in range(5):
        tokens.spend(tokens.mint("twilio", "CA1", 60), "twilio")
    clock.now += 61
    tokens.spend(tokens.mint("twilio", "CA1", 60), "twilio")
    assert len(tokens._spent) == 1


def test_with_too_many_spent_none_is_taken_until_some_expire(clock):
    tokens = Tokens(SECRET, clock=clock, max_spent=3)
    tokens.spend(tokens.mint("twilio", "CA1", 600), "twilio")
    for _ in range(2):
        tokens.spend(tokens.mint("twilio", "CA1", 60), "twilio")
    refused(tokens, tokens.mint("twilio", "CA2"), "too many")
    clock.now += 61  # the long one is in front, and stays
    assert tokens.spend(tokens.mint("twilio", "CA2"), "twilio") == "CA2"
    assert len(tokens._spent) == 2
