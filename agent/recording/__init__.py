"""The recording of a call: stereo, the caller left and the agent right, as they were heard.

``docs/recording.md`` says what is in it and how it is kept true. What runs in a call's pipeline is
in :mod:`agent.recording.of_call`: commands that only read recordings need none of Pipecat.
"""

from __future__ import annotations

from agent.recording.checking import check_recording, mend, seal
from agent.recording.recording import Recording
from agent.recording.wave import read_recording

__all__ = ["Recording", "check_recording", "mend", "read_recording", "seal"]
