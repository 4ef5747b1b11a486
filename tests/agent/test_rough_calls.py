"""What callers say on rough calls, as it was heard in some: short commands, a word misheard."""

import pytest

from agent.patience import patience_ms
from agent.service_arguments import without_secrets
from agent.turns import TurnPolicy
from rag.conversation import recognise
from rag.types import Reason


@pytest.mark.parametrize("words", ["Go on.", "Hold on.", "Hang on.", "Carry on.", "Repeat that."])
def test_a_command_that_ends_in_a_small_word_is_whole(words):
    policy = TurnPolicy()
    assert patience_ms(words, 0.9, policy) <= policy.unsure_ms


@pytest.mark.parametrize("words", ["Go on and", "Hold on to the", "Repeat that or", "I'd like to"])
def test_one_that_goes_on_is_not(words):
    policy = TurnPolicy()
    assert patience_ms(words, 0.9, policy) == policy.dangling_ms


@pytest.mark.parametrize("words", ["I went to talk to a person.", "I wanted to talk to a person"])
def test_who_wants_a_person_gets_one_though_a_word_was_misheard(words):
    said = recognise(words)
    assert said is not None
    assert said.reason is Reason.PERSON


@pytest.mark.parametrize(
    "arguments",
    [
        {"accessToken": "abc"},
        {"clientSecret": "abc"},
        {"headers": [{"Authorization": "abc"}]},
    ],
)
def test_no_secret_stands_in_the_settings_however_it_is_spelled(arguments):
    with pytest.raises(ValueError, match="is a secret"):
        without_secrets(arguments)


def test_the_path_of_a_file_of_credentials_is_no_secret():
    arguments = {"credentials_path": "/etc/frontdesk/google.json"}
    assert without_secrets(arguments) == arguments
