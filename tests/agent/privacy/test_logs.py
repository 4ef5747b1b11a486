"""The second wall: what a library or an exception would log."""

import pytest

from agent.log_privacy import private


@pytest.mark.parametrize(
    ("line", "logged"),
    [
        ("odd text '4111 1111 1111 1111'", "odd text '[card number]'"),
        ("ValueError: jane.doe+x@example.com.", "ValueError: [e-mail address]."),
        ("call from +1 312 555 0144", "call from …44"),
        ("order 4111 1111 1111 1112 of the queue", "order 4111 1111 1111 1112 of the queue"),
        ("call CA64f10dd2653242fda9d5755e1f184853", "call CA64f10dd2653242fda9d5755e1f184853"),
        ("trunk sip:desk@sip.example.com is up", "trunk sip:desk@sip.example.com is up"),
    ],
)
def test_written_forms_are_hidden_and_ids_are_not(line, logged):
    assert private(line) == logged
