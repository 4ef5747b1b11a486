"""The same questions with the answers put into words by the configured language model."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from agent.generation import Generated, Outcome, as_verdict
from rag.confusion import figures, judged
from rag.evaluate import Answers, answers_json
from rag.types import Verdict


class Generates(Protocol):
    """What an :class:`agent.generation.Generator` does."""

    async def generate(self, extractive: Verdict) -> Generated:
        """A draft for an answered verdict, or why there is none."""
        ...

    async def close(self) -> None:
        """Close the connections."""
        ...


async def generate_all(
    generator: Generates,
    verdicts: Sequence[Verdict],
    *,
    at_once: int,
    progress: Callable[[int, int], None] | None = None,
) -> list[Generated]:
    """What is generated for each verdict, in their order, ``at_once`` at a time at most.

    The generator is closed at the end.
    """
    gate = asyncio.Semaphore(at_once)
    done = 0

    async def one(verdict: Verdict) -> Generated:
        nonlocal done
        async with gate:
            generated = await generator.generate(verdict)
        done += 1
        if progress:
            progress(done, len(verdicts))
        return generated

    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one(verdict)) for verdict in verdicts]
    finally:
        await generator.close()
    return [task.result() for task in tasks]


def generated_json(answers: Answers, generated: Sequence[Generated]) -> dict[str, Any]:
    """What a caller would hear with the model on, in the shape of ``eval answers --json``.

    Where nothing was accepted that is the quoted answer. ``outcomes`` counts what became of the
    requests, ``accepted`` judges the model's own words alone, and the milliseconds are those of
    requests that ended. ``generated`` is in the order of the other voices, then the held-out one.
    """
    verdicts = [verdict for _, verdict in (*answers.others, *answers.held_out)]
    spoken = [as_verdict(*pair) for pair in zip(verdicts, generated, strict=True)]
    first = len(answers.others)
    heard = answers.with_verdicts(spoken[:first], spoken[first:])
    own = [
        pair
        for pair, one in zip((*heard.others, *heard.held_out), generated, strict=True)
        if one.outcome is Outcome.ACCEPTED
    ]
    outcomes = Counter(one.outcome.value for one in generated)
    return {
        "outcomes": dict(outcomes.most_common()),
        "asked": sum(one.tries > 0 for one in generated),
        "requests": sum(one.tries for one in generated),
        "accepted": figures(judged(own, fillers=answers.fillers)),
        "first_token_ms": [ms for one in generated if (ms := one.first_token_ms) is not None],
        "full_ms": [ms for one in generated if (ms := one.full_ms) is not None],
        **answers_json(heard),
    }
