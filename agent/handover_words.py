"""What is said about a person to talk to, and of a hand-over that failed. Pure."""

from __future__ import annotations

import re

from agent.handover_rules import Rules
from frontdesk import Spoken

NOT_SURE = "I'm not sure about that."
NO_PERSON = "I'm sorry, I can't connect you to a person. What can I help you with?"
CALL_THEM = "You can reach a person at {}."
ROBOT = "I'm an automated assistant. I answer from our documents."
VOICEMAIL = "I'll connect you to the voicemail, where you can leave a message."
HOLD = Spoken("Please hold. I'm still trying to connect you.")
# The words that ask are not the last: what comes back as an echo is more than them.
ASK_FOR_A_PERSON = f"{NOT_SURE} Say front desk to talk to a person, or ask me something else."
AS_YOU_LIKE = "All right. What can I help you with?"
STILL_NOBODY = "I'm sorry, I couldn't reach anybody. Please try again later."

_FAILED: dict[str, str] = {
    "busy": "I'm sorry, the line is busy.",
    "no answer": "I'm sorry, nobody picked up.",
    "timeout": "I'm sorry, nobody picked up.",
    "refused": "I'm sorry, nobody can take your call right now.",
    "unsupported": "I'm sorry, I can't connect you from here.",
}
_FAILED_ELSE = "I'm sorry, I couldn't connect you."
INSTEAD = "Is there anything I can help you with?"
_NUMBER = re.compile(r"\+?\d[\d().-]{5,}\d")


def joined(*sentences: str) -> Spoken:
    """``sentences`` one after another, the empty ones left out."""
    return Spoken(" ".join(sentence for sentence in sentences if sentence))


def failed(problem: str, danger: str = "") -> Spoken:
    """What the agent says when it is back; ``problem`` is a :data:`frontdesk.TransferProblem`.

    Who seems in ``danger`` hears again what was said to that, in place of a question.
    """
    return joined(_FAILED.get(problem, _FAILED_ELSE), danger or INSTEAD)


def sentences(rules: Rules) -> tuple[str, ...]:
    """Everything that may be said of a hand-over, to be rendered before it is needed."""
    said = [rules.unsure, NO_PERSON, ROBOT, HOLD.text, rules.emergency]
    if number := spoken_number(rules.to):
        said += [f"{NOT_SURE} {CALL_THEM.format(number)}"]
    if rules.to or rules.emergency_to:
        problems = (*_FAILED.values(), _FAILED_ELSE)
        behind = [INSTEAD, rules.emergency] if rules.emergency else [INSTEAD]
        said += [f"{problem} {words}" for problem in problems for words in behind]
        said += [STILL_NOBODY, AS_YOU_LIKE, ASK_FOR_A_PERSON]
        said += [f"{NOT_SURE} {rules.closed} {VOICEMAIL}"]
    return tuple(dict.fromkeys(words for words in said if words))


def spoken_number(number: str) -> str:
    """A phone number in groups, as people read it: "+15555550123" is "+1 555 555 0123"; '' for what
    is none, such as an extension.
    """
    if not _NUMBER.fullmatch(number):
        return ""
    digits = re.sub(r"\D", "", number)
    tail: list[str] = [digits[-4:]]
    digits = digits[:-4]
    while digits:
        tail.insert(0, digits[-3:])
        digits = digits[:-3]
    return ("+" if number.startswith("+") else "") + " ".join(tail)
