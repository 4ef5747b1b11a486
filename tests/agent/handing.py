"""What the tests of hand-overs share: what is said, and to whom a caller goes."""

from agent.handover import Standing
from agent.handover_rules import Rules
from agent.session import Session
from rag import Policy

DESK = "+15555550123"
PROMISE = "Of course. Let me connect you to the front desk."
PIZZA = "Do you deliver pizza with pineapple on it?"
VISAS = "Can you help me with a visa for Brazil?"
SATURDAY = "What time do you guys open on Saturday?"
PERSON = "let me talk to a person"
CHOKING = "my baby is choking"
WRITTEN = "Hang up now and call nine one one."
BUSY = "I'm sorry, the line is busy. Is there anything I can help you with?"


def talking_to(clinic):
    """A function ``talking(rules…, can_transfer=…, is_open=…)`` that begins a conversation: what it
    returns says something, and gives the reply.
    """

    def begin(can_transfer=True, is_open=True, **rules):
        standing = Standing(Rules(**{"to": DESK, **rules}), can_transfer, lambda: is_open)
        session = Session(clinic, Policy(), standing)

        def say(*heard):
            for text in heard:
                reply = session.reply(text)
                session.accept(reply)
            return reply

        say.session = session
        return say

    return begin
