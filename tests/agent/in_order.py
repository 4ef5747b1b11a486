"""Which of the questions asked in a call were not answered rightly, by its record."""

from tests.agent.test_core_questions import is_right
from tests.agent.test_wires import as_decided


def unanswered(rows, events):
    """Ids of ``rows`` without a right verdict, each behind the one of the row before.

    A pause may split a question; what the agent said to its first half it has taken back.
    """
    verdicts = [as_decided(event) for event in events if event["event"] == "verdict"]
    wrong = []
    for row in rows:
        right = [at for at, verdict in enumerate(verdicts) if is_right(row, verdict)]
        if right:
            del verdicts[: right[0] + 1]
        else:
            wrong.append(row["id"])
    return wrong
