"""Events of a record without what is personal."""

from types import SimpleNamespace

from agent.handover import Rule
from agent.privacy import Redactor, kept_values, redact_event
from agent.privacy.documents import DocumentValues
from agent.summary import Told, summary
from rag import rewrite


def test_every_text_is_redacted_but_for_ids():
    verdict = {
        "turn": 1,
        "heard": "My card is 4111 1111 1111 1111.",
        "decision": "refused",
        "query": {
            "raw": "My card is 4111 1111 1111 1111.",
            "text": "my card is 4111",
            "changes": (),
        },
        "hits": [{"id": "fees#1", "sha256": "4111111111111111"}],
        "checks": [{"name": "values", "passed": False, "detail": "4111111111111111 is not in it"}],
        "added_later": "jane@example.com",
    }
    kept = redact_event("verdict", verdict)
    assert kept["heard"] == kept["query"]["raw"] == "My card is [card number]."
    assert kept["checks"][0]["detail"] == "[card number] is not in it"
    assert kept["added_later"] == "[e-mail address]"
    assert kept["hits"] == verdict["hits"]
    assert kept["redacted"] == ["card number", "e-mail address"]
    assert verdict["heard"] == "My card is 4111 1111 1111 1111.", "the call goes on with its own"


def test_nothing_is_added_where_nothing_is_found():
    fields = {"heard": "Are you open?", "more": ("a", 1), "n": None}
    assert redact_event("verdict", fields) == fields


def test_what_is_looked_up_is_redacted_by_what_was_heard():
    def kept(heard):
        fields = {"query": {"raw": heard, "text": rewrite(heard)}}
        redact = Redactor(lambda: kept_values(["The front desk is 555-0110."]))
        return redact("verdict", fields)["query"]["text"]

    assert kept("Write to jane.doe@example.com now") == "write to [e-mail address] now"
    assert kept("I'm Okafor, are you open?") == "i'm [name] are you open"
    assert kept("call five five five oh one four nine") == "call [phone number]"
    assert kept("is it five five five oh one one oh") == "is it 5 5 5 0 1 1"


def test_a_number_is_hidden_where_nothing_beside_it_tells_what_it_is():
    redact = Redactor(lambda: kept_values(["Room 4822."]))
    fields = {"heard": "My PIN is 4821.", "query": {"text": "when do you open 48 21", "n": "4822"}}
    kept = redact("verdict", fields)
    assert kept["query"] == {"text": "when do you open [account number]", "n": "4822"}


def test_the_person_who_takes_the_call_is_told_and_the_record_is_not():
    told = Told(question="My name is Jane Doe, where is my refill?")
    spoken = summary(told, Rule.REFUSALS, whole=True)
    assert "Jane Doe" in spoken
    stored = redact_event("handing_over", {"to": "+15555550123", "summary": spoken})
    assert "My name is [name], where is my refill?" in stored["summary"]
    assert stored["to"] == "+15555550123"


def test_a_name_is_remembered_through_the_call():
    redact = Redactor()
    told = redact("verdict", {"heard": "My name is Zoltan Will.", "query": {"text": "zoltan will"}})
    assert told["query"]["text"] == "[name] will", "will is a word as well"
    assert redact("said", {"say": "Thank you, Zoltan."}) == {
        "say": "Thank you, [name].",
        "redacted": ["name"],
    }
    assert Redactor()("said", {"say": "Thank you, Zoltan."}) == {"say": "Thank you, Zoltan."}


def test_a_number_half_said_is_hidden_while_it_is_said():
    redact = Redactor(lambda: kept_values(["The nurse line is 555-0142."]))
    assert redact("hearing", {"heard": "it's 4111"})["heard"] == "it's [account number]"
    assert redact("hearing", {"heard": "forty one eleven"})["heard"] == "[account number]"
    assert redact("hearing", {"heard": "is 555-0142 right"}) == {"heard": "is 555-0142 right"}
    assert redact("verdict", {"heard": "the 1500 dollars"}) == {"heard": "the 1500 dollars"}


def test_the_documents_in_service_are_kept():
    def of(sha256, text):
        passage = SimpleNamespace(heading="Lines", text=text)
        return SimpleNamespace(kb=SimpleNamespace(sha256=sha256, passages=[passage]))

    index = of("1", "Call 555-0142.")
    values = DocumentValues(lambda: index)
    assert "5550142" in values()
    index = of("2", "Call 555-0143.")
    assert "5550143" in values()
    assert "5550142" not in values()
