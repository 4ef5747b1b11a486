"""Random conversations from a seed: what callers of a business do, with what would be right.

Call number n of a seed is the same whatever other calls there are.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from agent.keypad_settings import KeySettings
from bench.simulated.plan import Conversation, Ending, Expect, Gold, Noise, Turn
from bench.simulated.voices import MADE, Cast
from frontdesk import ConfigError
from rag.conversation import recognise
from rag.questions import Question
from rag.types import Decision, Reason
from telephony.bad_line import BadLine

NOISES = ("hum", "traffic", "music", "babble", "hiss")
SNRS_DB = (20.0, 15.0, 10.0, 5.0)
LINES = (
    BadLine(loss_percent=2),
    BadLine(loss_percent=5, jitter_ms=40),
    BadLine(jitter_ms=80),
    BadLine(gap_ms=60),
    BadLine(gain_db=-15, noise_db=-60),
    BadLine(gain_db=12),
    BadLine(noise_db=-45),
)
_WEIGHTS = {
    "answer": 40,
    "refuse": 18,
    "follow-up": 14,
    "changed mind": 10,
    "talk": 8,
    "prompt": 4,
    "typed": 3,
    "repeat key": 3,
}
_ENDINGS: dict[Ending, int] = {"goodbye": 40, "hangs up": 40, "abruptly": 20}
_RECORDED = 2 / 3
_PERSON = 0.1
_CUTS_IN = 0.2
_CUTS_MS = (400.0, 800.0, 1500.0)
_PAUSES_MS = (150.0, 300.0, 500.0)
_MOST_TURNS = 4
_TRIES = 9
_BUT = ("No, wait. {}", "Oh, sorry, I mean, {}", "Actually, never mind that. {}")
_PERSON_WORDS = ("Can I talk to a person?", "I want to talk to a human.")
_BYE_WORDS = ("Okay, goodbye.", "That's all, thanks, bye bye.")
_TALK_WORDS = ("Can you repeat that, please?", "Thank you so much.", "Hold on a second.")
# What is acknowledged is answered with nothing; a greeting by its words may be half a question.
_NO_TURN = (Reason.ACKNOWLEDGED, Reason.GREETING, Reason.GOODBYE, Reason.PERSON)


@dataclass(frozen=True, slots=True)
class Material:
    """What conversations are made of; ``before`` maps a follow-up's id to the row it follows."""

    answer: tuple[Question, ...]
    refuse: tuple[Question, ...]
    before: dict[str, Question]
    follow: tuple[Question, ...]
    talk: tuple[str, ...]
    person: tuple[str, ...]
    goodbye: tuple[str, ...]
    cast: Cast
    keys: KeySettings
    prompt_after_s: float
    voice: str = ""

    def only(self, voice: str) -> Material:
        """What ``voice`` can say of it."""

        def rows(questions: tuple[Question, ...]) -> tuple[Question, ...]:
            return tuple(q for q in questions if self.cast.says(voice, q.text))

        def words(texts: tuple[str, ...]) -> tuple[str, ...]:
            return tuple(text for text in texts if self.cast.says(voice, text))

        follow = (q for q in rows(self.follow) if self.cast.says(voice, self.before[q.id].text))
        return replace(
            self,
            voice=voice,
            answer=rows(self.answer),
            refuse=rows(self.refuse),
            follow=tuple(follow),
            talk=words(self.talk),
            person=words(self.person),
            goodbye=words(self.goodbye),
        )


def material(
    rows: Sequence[Question], cast: Cast, keys: KeySettings, prompt_after_s: float
) -> Material:
    """Sort the gold questions by what is right to do.

    Raises:
        ConfigError: if there are none to be answered.
    """
    by_text = {row.text: row for row in rows}
    alone = [row for row in rows if not row.context]
    follow = [row for row in rows if row.context in by_text and not by_text[row.context].context]
    said = {
        row.text: recognised.reason
        for row in rows
        if row.decision is Decision.CONVERSATION and (recognised := recognise(row.text))
    }

    def of(reason: Reason, else_: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*(t for t, r in said.items() if r is reason), *else_)))

    answer = tuple(row for row in alone if row.decision is Decision.ANSWERED)
    if not answer:
        raise ConfigError(
            "questions.jsonl has no question that is answerable, so no caller can be made; "
            "write some, or name a --script"
        )
    talk = tuple(text for text, reason in said.items() if reason not in _NO_TURN)
    return Material(
        answer=answer,
        refuse=tuple(row for row in alone if row.decision is Decision.REFUSED),
        before={row.id: by_text[row.context or ""] for row in follow},
        follow=tuple(follow),
        talk=talk or _TALK_WORDS,
        person=of(Reason.PERSON, _PERSON_WORDS),
        goodbye=of(Reason.GOODBYE, _BYE_WORDS),
        cast=cast,
        keys=keys,
        prompt_after_s=prompt_after_s,
    )


def gold_of(question: Question) -> Gold:
    """What is right to do about a row of questions.jsonl."""
    expect = {
        Decision.ANSWERED: Expect.ANSWER,
        Decision.REFUSED: Expect.REFUSE,
        Decision.CONVERSATION: Expect.TALK,
    }[question.decision]
    return Gold(expect, question.facts, question.relevant, question.id)


def conversation(found: Material, number: int, seed: int, again: str = "") -> Conversation:
    """Random call ``number`` of ``seed``."""
    rng = random.Random(f"{seed} {number}")
    voice = _voice(rng, found)
    noise, line = _conditions(rng, found)
    own = found.only(voice)
    turns: list[Turn] = []
    wanted = rng.randint(1, _MOST_TURNS)
    while len(turns) < wanted:
        turns += _next(rng, own, {turn.label for turn in turns})
    turns = [_cutting(rng, turns, at) for at in range(len(turns))]
    ends: Ending = rng.choices(list(_ENDINGS), list(_ENDINGS.values()))[0]
    turns += _last(rng, own, ends)
    if ends == "goodbye" and turns[-1].gold.expect is not Expect.GOODBYE:
        ends = "hangs up"
    return Conversation(
        name=f"random {number}",
        number=number,
        voice=voice,
        turns=tuple(turns),
        noise=noise,
        line=replace(line, seed=rng.randrange(2**31)),
        ends=ends,
        hangs_up_s=rng.uniform(1.5, 6 + 6 * len(turns)) if ends == "abruptly" else None,
        seed=rng.randrange(2**31),
        again=again,
    )


def _voice(rng: random.Random, found: Material) -> str:
    """A recorded one for two calls of three, where there are any that ask something."""
    recorded = [v for v in found.cast.voices if v not in MADE and found.only(v).answer]
    of = recorded if recorded and rng.random() < _RECORDED else [*MADE]
    return rng.choice(of)


def _conditions(rng: random.Random, found: Material) -> tuple[Noise | None, BadLine]:
    """Half of the callers call from a quiet place on a good line."""
    kinds = NOISES if found.cast.recorded else [k for k in NOISES if k != "babble"]
    noise, line = Noise(rng.choice(kinds), rng.choice(SNRS_DB)), rng.choice(LINES)
    which = rng.random()
    return (
        noise if 0.5 <= which < 0.75 or which >= 0.95 else None,
        line if which >= 0.75 else BadLine(),
    )


def _next(rng: random.Random, own: Material, done: set[str]) -> list[Turn]:
    """What is done next; nobody does a thing twice, if there is another."""
    turns: list[Turn] = []
    for _ in range(_TRIES):
        kind = rng.choices(list(_WEIGHTS), list(_WEIGHTS.values()))[0]
        turns = _MAKERS[kind](rng, own) or _asked(rng, own)
        if not done & {turn.label for turn in turns}:
            break
    return turns


def _asked(rng: random.Random, own: Material) -> list[Turn]:
    question = rng.choice(own.answer)
    return [Turn(gold_of(question), question.text)]


def _refused(rng: random.Random, own: Material) -> list[Turn]:
    if not own.refuse:
        return []
    question = rng.choice(own.refuse)
    return [Turn(gold_of(question), question.text)]


def _followed(rng: random.Random, own: Material) -> list[Turn]:
    if not own.follow:
        return []
    question = rng.choice(own.follow)
    before = own.before[question.id]
    return [
        Turn(gold_of(before), before.text),
        Turn(gold_of(question), question.text, follows=True),
    ]


def _changed(rng: random.Random, own: Material) -> list[Turn]:
    """One thing, then another: a recorded voice goes on with the follow-up it has recorded."""
    pause_ms = rng.choice(_PAUSES_MS)
    first, second = rng.choice(own.answer), rng.choice(own.answer)
    but = rng.choice(_BUT).format(second.text)
    if own.voice in MADE:
        return [Turn(gold_of(second), first.text, but=but, pause_ms=pause_ms)]
    answered = [q for q in own.follow if q.decision is Decision.ANSWERED]
    if not answered:
        return []
    question = rng.choice(answered)
    before = own.before[question.id]
    return [Turn(gold_of(question), before.text, but=question.text, pause_ms=pause_ms)]


def _talk(rng: random.Random, own: Material) -> list[Turn]:
    return [Turn(Gold(Expect.TALK), rng.choice(own.talk))] if own.talk else []


def _silent(_: random.Random, own: Material) -> list[Turn]:
    """Up to the prompt: the reply before was over a second ago."""
    return [Turn(Gold(Expect.PROMPT), silent_s=max(0.5, own.prompt_after_s - 0.5))]


def _typed(rng: random.Random, own: Material) -> list[Turn]:
    if not own.keys.numbers:
        return []
    digits = "".join(rng.choice("123456789") for _ in range(rng.randint(4, 8)))
    return [Turn(Gold(Expect.TYPED), keys=f"{digits}#")]


def _again(_: random.Random, own: Material) -> list[Turn]:
    return [Turn(Gold(Expect.TALK), keys=own.keys.repeat)] if own.keys.repeat else []


_MAKERS: dict[str, Callable[[random.Random, Material], list[Turn]]] = {
    "answer": _asked,
    "refuse": _refused,
    "follow-up": _followed,
    "changed mind": _changed,
    "talk": _talk,
    "prompt": _silent,
    "typed": _typed,
    "repeat key": _again,
}


def _cutting(rng: random.Random, turns: Sequence[Turn], at: int) -> Turn:
    """One turn in five cuts into the reply before it; nobody is silent over it."""
    cuts, after_ms = rng.random() < _CUTS_IN, rng.choice(_CUTS_MS)
    turn = turns[at]
    return replace(turn, cuts_in_ms=after_ms) if cuts and at and not turn.silent_s else turn


def _last(rng: random.Random, own: Material, ends: Ending) -> list[Turn]:
    """A person asked for, or goodbye; a recorded voice may have neither."""
    person = rng.random() < _PERSON
    if person and own.person:
        if own.keys.person and rng.random() < 0.3:
            return [Turn(Gold(Expect.PERSON), keys=own.keys.person)]
        return [Turn(Gold(Expect.PERSON), rng.choice(own.person))]
    if ends == "goodbye" and own.goodbye:
        return [Turn(Gold(Expect.GOODBYE), rng.choice(own.goodbye))]
    return []
