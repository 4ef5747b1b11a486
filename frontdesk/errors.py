"""One root exception and its leaves.

FrontdeskError
 ├── ConfigError             settings, arguments, ports: exit 2, the line says how to mend it
 ├── ModelFileError          a model file is missing or altered: exit 2
 ├── KnowledgeBaseError      documents, index or floors cannot be used: exit 2
 ├── EmbedderError           the server that makes vectors failed: that text or build only
 ├── QuestionError           the model that makes questions failed: the rules make them
 ├── SpeechError             recogniser or voice failed on one utterance
 │    └── CitationInSpeechError   text for a voice still carries a [kb-id] (frontdesk.spoken)
 └── WireError               the far end broke its protocol: ends that call only
      ├── ForbiddenError          no valid signature, token or address: no call begins
      └── TransferError           the caller could not be handed over: the call goes on
"""

from __future__ import annotations

from typing import Literal


class FrontdeskError(Exception):
    """Anything Frontdesk raises on purpose.

    ``stage`` names where it happened and ``retryable`` says whether trying again may help.
    The message is one line that a person can act on.
    """

    stage = "frontdesk"
    retryable = False


class ConfigError(FrontdeskError):
    """A setting, an argument or the environment is wrong."""

    stage = "configuration"


class ModelFileError(FrontdeskError):
    """A model file is missing or does not match the manifest."""

    stage = "models"


class KnowledgeBaseError(FrontdeskError):
    """A knowledge base, its index or its floors cannot be used."""

    stage = "knowledge base"


class EmbedderError(FrontdeskError):
    """The server that makes vectors cannot be reached, refuses or answers nonsense."""

    stage = "embed"
    retryable = True


class SpeechError(FrontdeskError):
    """A recogniser or a voice failed on one utterance; the call goes on."""

    stage = "speech"
    retryable = True


class WireError(FrontdeskError):
    """The far end broke its protocol; its call ends, the others go on."""

    stage = "wire"


class ForbiddenError(WireError):
    """A request that does not prove where it comes from. The line holds nothing it brought."""

    stage = "front door"


TransferProblem = Literal[
    "busy", "no answer", "refused", "unreachable", "timeout", "unsupported", "failed"
]


class TransferError(WireError):
    """A caller could not be handed over, and is still on the line; ``problem`` says why."""

    stage = "transfer"

    def __init__(self, problem: TransferProblem, detail: str = "") -> None:
        super().__init__(detail or problem)
        self.problem = problem
