"""What the wires say of themselves, and that they keep to it."""

from telephony.capabilities_page import PAGE, page
from telephony.provider import Provider
from telephony.providers import PROVIDERS
from telephony.wires import CAPABILITIES


def test_the_page_is_current():
    """If not: ``python -m telephony.capabilities_page``."""
    assert PAGE.read_text(encoding="utf-8") == page(CAPABILITIES)


def test_every_wire_has_one_row():
    names = [row.name for row in CAPABILITIES]
    assert len(names) == len(set(names))
    assert {one.capabilities.name for one in PROVIDERS.values()} <= set(names)
    assert len(names) == len(PROVIDERS) + 4, "AudioSocket, SIP, microphone, browser"


def overrides(provider, method):
    return getattr(provider, method) is not getattr(Provider, method)


def test_a_provider_that_says_it_dials_does_and_no_other():
    for provider in PROVIDERS.values():
        assert overrides(provider, "dial") == bool(provider.capabilities.dials), provider.name


def test_a_provider_that_says_it_presses_keys_by_rest_does_and_no_other():
    for provider in PROVIDERS.values():
        assert overrides(provider, "press") == (provider.capabilities.digits_out == "REST")


def test_a_provider_that_says_it_transfers_by_rest_does():
    for provider in PROVIDERS.values():
        if provider.capabilities.transfer.startswith("REST"):
            assert overrides(provider, "transfer"), provider.name
            assert overrides(provider, "transferred"), provider.name
        if provider.capabilities.hang_up.startswith("REST"):
            assert overrides(provider, "hang_up"), provider.name


def test_a_summary_needs_a_transfer():
    for row in CAPABILITIES:
        assert row.transfer or not row.summary, row.name


def test_only_this_machine_is_trusted_without_a_check():
    unchecked = {row.name for row in CAPABILITIES if not row.checked_by}
    assert unchecked <= {"Microphone"}
