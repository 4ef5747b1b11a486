"""The generator and the rewriter that the settings ask for."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from agent.generation.draft_checks import draft_checks
from agent.generation.generator import Generator, Run
from agent.generation.policy import GenerationPolicy
from agent.generation.rewriting import Rewriter
from agent.remote import Server
from agent.settings import Settings
from rag import Index


def generator_of(
    settings: Settings, index: Index | Callable[[], Index], *, run: Run = asyncio.to_thread
) -> Generator | None:
    """One for all calls; None if ``[generation]`` is off.

    ``index`` may be a function that gives the one of the moment.

    Raises:
        ConfigError: if the address or the model is missing, or the key's variable is not set.
    """
    server = server_of(settings)
    if server is None:
        return None
    return Generator(server, policy_of(settings), more_checks=draft_checks(index), run=run)


def rewriter_of(settings: Settings) -> Rewriter | None:
    """One for all calls; None if it is not switched on.

    Raises:
        ConfigError: if the address or the model is missing, or the key's variable is not set.
    """
    server, generation = server_of(settings), settings.generation
    if server is None or not generation.rewrite:
        return None
    return Rewriter(server, budget_ms=generation.rewrite_budget_ms)


def policy_of(settings: Settings) -> GenerationPolicy:
    """How long the model is waited for, and what it is shown."""
    generation = settings.generation
    return GenerationPolicy(
        budget_ms=generation.budget_ms,
        fast_score=generation.fast_score,
        passages=generation.passages,
        temperature=generation.temperature,
        max_tokens=generation.max_tokens,
    )


def server_of(settings: Settings) -> Server | None:
    """Where the model is served; None if nothing is set."""
    generation = settings.generation
    if not (generation.base_url or generation.model):
        return None
    return Server(
        generation.base_url, generation.model, generation.key_variable, generation.timeout_s
    )
