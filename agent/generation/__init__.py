"""Answers put into words by a language model: opt-in, and never more than a draft.

Any OpenAI-compatible server. The model is asked only where the extractive path has an answer, so
it can never turn a refusal into one; whatever it sends is judged against the passages that it was
shown, and where anything fails, the extractive answer is spoken.

    generator = generator_of(settings, index)
    generated = await generator.generate(verdict)
    verdict = as_verdict(verdict, generated)
"""

from agent.generation.again import Recorded
from agent.generation.configured import generator_of, rewriter_of
from agent.generation.draft_checks import draft_checks
from agent.generation.generator import Generator
from agent.generation.outcome import Generated, GenerationError, Outcome
from agent.generation.policy import GenerationPolicy
from agent.generation.rewriting import RecordedRewriter, Rewriter, Rewritten, rewritten_json
from agent.generation.verdict import as_verdict, generated_json

__all__ = [
    "Generated",
    "GenerationError",
    "GenerationPolicy",
    "Generator",
    "Outcome",
    "Recorded",
    "RecordedRewriter",
    "Rewriter",
    "Rewritten",
    "as_verdict",
    "draft_checks",
    "generated_json",
    "generator_of",
    "rewriter_of",
    "rewritten_json",
]
