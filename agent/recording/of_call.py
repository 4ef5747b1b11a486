"""The recording of one call, by its settings: its ears at the wire, and its end."""

from __future__ import annotations

from loguru import logger

from agent.recording.recorder import Recorder
from agent.recording.recording import Recording
from agent.recording.silencer import Silencer
from agent.records import CallRecord
from agent.records_settings import RecordSettings
from frontdesk import ConfigError
from telephony.wire import Line


class CallRecording:
    """Nothing is recorded where the settings say so, nor where the file cannot be made:
    then the record has an event ``recording_stopped``, and the call is held all the same.
    """

    def __init__(self, settings: RecordSettings, record: CallRecord, line: Line) -> None:
        self._recording: Recording | None = None
        self._recorder: Recorder | None = None
        self._silencer: Silencer | None = None
        if settings.recording == "off":
            return

        def stopped(problem: str) -> None:
            record.event("recording_stopped", problem=problem)

        path = record.path.with_suffix(".wav")
        try:
            recording = Recording(path, line.rate_hz, record.now_ms, stopped)
        except ConfigError as error:
            logger.error("call {} is not recorded: {}", record.path.stem, error)
            stopped(str(error))
            return
        self._recording = record.recording = recording
        if settings.redact and settings.silence_audio:
            self._silencer = Silencer(recording, record)
        record.event(
            "recording",
            path=path.name,
            rate_hz=line.rate_hz,
            announced=settings.recording == "announced",
        )
        drops = bool(line.capabilities.clear)
        ends = line.transport.input(), line.transport.output()
        self._recorder = Recorder(recording, *ends, drops=drops, silencer=self._silencer)

    def close(self) -> None:
        """The call is over: the file ends here. Close its record behind it."""
        if self._recorder is not None:
            self._recorder.close()
        if self._silencer is not None:
            self._silencer.finish()
        if self._recording is not None:
            self._recording.close()
