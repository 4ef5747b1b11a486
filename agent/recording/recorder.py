"""The recording's two ears at a call's pipeline."""

from __future__ import annotations

import asyncio

from pipecat.frames.frames import (
    Frame,
    InputAudioRawFrame,
    InterruptionFrame,
    OutputAudioRawFrame,
    StartFrame,
    UserStartedSpeakingFrame,
    UserStoppedSpeakingFrame,
    VADUserStartedSpeakingFrame,
)
from pipecat.processors.frame_processor import FrameProcessor

from agent.recording.recording import Recording
from agent.recording.silencer import Silencer

_TICK_S = 0.02
"""While the agent is heard and nothing comes from the caller: on hold, or in silence."""
_LOOK_S = 0.06
"""While the agent is heard, in case that nothing comes any more."""
_IDLE_S = 1.0


class Recorder:
    """Hears what the wire's input pushes (``source``), and what its output has sent (``sink``).

    It is no processor: one more for each 20 ms of each call costs more than the recording does.
    ``drops`` says that the far end drops on an interruption all that it has not played. An
    output passes a piece on once it has waited for the next one's time, so one that comes right
    after an interruption had been sent before it. ``silencer`` is told when the caller speaks.
    """

    def __init__(
        self,
        recording: Recording,
        source: FrameProcessor,
        sink: FrameProcessor,
        *,
        drops: bool,
        silencer: Silencer | None = None,
    ) -> None:
        source.add_event_handler("on_before_push_frame", self._heard)
        sink.add_event_handler("on_before_push_frame", self._keep)
        self._recording = recording
        self._drops = drops
        self._silencer = silencer
        self._timer: asyncio.TimerHandle | None = None

    def close(self) -> None:
        """The call is over."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _heard(self, source: FrameProcessor, frame: Frame) -> None:
        if isinstance(frame, InputAudioRawFrame):
            self._recording.heard(frame.audio)

    def _keep(self, sink: FrameProcessor, frame: Frame) -> None:
        match frame:
            case OutputAudioRawFrame():
                was_behind = self._recording.is_behind
                self._recording.played(frame.audio)
                if not was_behind and self._timer is not None:
                    self._wait()
            case InterruptionFrame():
                self._recording.cut(drops=self._drops)
            case StartFrame():
                self._wait()
            case _ if self._silencer is not None:
                _tell(self._silencer, frame)

    def _wait(self, since_s: float = _TICK_S) -> None:
        self.close()
        wait_s = since_s if self._recording.is_behind else _IDLE_S
        self._timer = asyncio.get_running_loop().call_later(wait_s, self._tick)

    def _tick(self) -> None:
        self._wait(_TICK_S if self._recording.flush() else _LOOK_S)


def _tell(silencer: Silencer, frame: Frame) -> None:
    match frame:
        case VADUserStartedSpeakingFrame():
            silencer.sounds()
        case UserStartedSpeakingFrame():
            silencer.begins()
        case UserStoppedSpeakingFrame():
            silencer.ends()
