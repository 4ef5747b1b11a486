"""Conversations again: records, transcripts, recordings and cases, against what came of them.

What a language model said is judged again, by today's checks on today's passages; no server is
asked, unless one is given. What a second recogniser heard is asked again as it was recorded.
Nothing here needs the pipeline but :mod:`agent.replay.audio`.
"""

from agent.replay.case import Case, Pins, Turn, read_case, write_case
from agent.replay.inputs import Conversation, conversation, record_paths
from agent.replay.models import Models
from agent.replay.recorded import cut_of
from agent.replay.replaying import Ears, replay, replay_audio, replay_text
from agent.replay.types import Change, Replayed

__all__ = [
    "Case",
    "Change",
    "Conversation",
    "Ears",
    "Models",
    "Pins",
    "Replayed",
    "Turn",
    "conversation",
    "cut_of",
    "read_case",
    "record_paths",
    "replay",
    "replay_audio",
    "replay_text",
    "write_case",
]
