"""The baseline: the voice bot that Pipecat's documentation leads to, with the same local models.

Moonshine through its own library, Piper as it loads, Silero VAD and Smart Turn made for every
call, one step after the other, nothing shared, kept or prepared. The answer comes from the same
documents by the same answer path, so that both sides say the same words.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator
from pathlib import Path
from typing import Any

import moonshine_voice
import numpy as np
import uvicorn
from fastapi import FastAPI, Request, Response, WebSocket
from moonshine_voice.transcriber import Transcriber
from pipecat.audio.vad.silero import SileroVADAnalyzer
from pipecat.audio.vad.vad_analyzer import VADParams
from pipecat.frames.frames import (
    Frame,
    TranscriptionFrame,
    TTSSpeakFrame,
    UserStoppedSpeakingFrame,
)
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineParams, PipelineWorker
from pipecat.processors.audio.vad_processor import VADProcessor
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor
from pipecat.serializers.twilio import TwilioFrameSerializer
from pipecat.services.settings import STTSettings, TTSSettings
from pipecat.services.stt_service import SegmentedSTTService
from pipecat.services.tts_service import TTSService
from pipecat.transports.websocket.fastapi import FastAPIWebsocketParams, FastAPIWebsocketTransport
from pipecat.turns.user_turn_processor import UserTurnProcessor
from pipecat.utils.time import time_now_iso8601
from pipecat.workers.runner import WorkerRunner
from piper import PiperVoice

from agent.cli import quiet_logs
from agent.server import listen
from agent.session import Session
from agent.settings import load_settings
from frontdesk import models
from rag import Policy, open_index
from telephony.providers.xml_calls import stream, xml


class MoonshineLibrarySTT(SegmentedSTTService):
    """Moonshine's own library on each VAD segment."""

    def __init__(self, transcriber: Transcriber) -> None:
        super().__init__(settings=STTSettings(model="tiny-en", language=None))
        self._transcriber = transcriber

    @property
    def wants_wav_segments(self) -> bool:
        """Raw PCM, as local models take it."""
        return False

    async def run_stt(self, audio: bytes) -> AsyncGenerator[Frame | None, None]:
        """One transcript a segment."""
        samples = np.frombuffer(audio, np.int16).astype(np.float32) / 32768
        result = await asyncio.to_thread(
            self._transcriber.transcribe_without_streaming, samples.tolist(), 16000
        )
        text = " ".join(line.text for line in result.lines).strip()
        if text:
            yield TranscriptionFrame(text, "caller", time_now_iso8601())


class PiperTTS(TTSService):
    """Piper, a whole answer at a time."""

    def __init__(self, voice: PiperVoice) -> None:
        super().__init__(
            push_start_frame=True,
            push_stop_frames=True,
            settings=TTSSettings(model="joe", voice="joe", language=None),
        )
        self._voice = voice

    async def run_tts(self, text: str, context_id: str) -> AsyncGenerator[Frame | None, None]:
        """Audio of ``text``."""

        async def chunks() -> AsyncIterator[bytes]:
            for chunk in await asyncio.to_thread(lambda: list(self._voice.synthesize(text))):
                yield chunk.audio_int16_bytes

        async for frame in self._stream_audio_frames_from_iterator(
            chunks(), in_sample_rate=self._voice.config.sample_rate, context_id=context_id
        ):
            yield frame


class Answer(FrameProcessor):
    """The answer path, asked once a turn."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._heard: list[str] = []

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        """Collect transcripts; answer when the turn ends."""
        await super().process_frame(frame, direction)
        if isinstance(frame, TranscriptionFrame):
            self._heard.append(frame.text)
            return
        await self.push_frame(frame, direction)
        if isinstance(frame, UserStoppedSpeakingFrame) and self._heard:
            text, self._heard = " ".join(self._heard), []
            reply = await asyncio.to_thread(self._session.reply, text)
            self._session.accept(reply)
            await self.push_frame(TTSSpeakFrame(reply.say.text))


def build_app(kb: Path, greeting: str) -> FastAPI:
    """The bot behind the same two paths as ours."""
    index = open_index(kb)
    policy = Policy()
    folder = Path(moonshine_voice.__file__).parent / "assets" / "tiny-en"
    transcriber = Transcriber(model_path=str(folder), model_arch=moonshine_voice.ModelArch.TINY)
    voice = PiperVoice.load(models.locate("piper-joe"), models.locate("piper-joe-config"))
    app = FastAPI()

    @app.post("/twilio/voice")
    async def answer_call(request: Request) -> Response:
        url = str(request.base_url).rstrip("/").replace("http", "ws", 1) + "/twilio/media"
        return Response(xml(stream(url, {})).body, media_type="application/xml")

    @app.websocket("/twilio/media")
    async def media(websocket: WebSocket) -> None:
        await websocket.accept()
        await websocket.receive_text()
        start: dict[str, Any] = json.loads(await websocket.receive_text())["start"]
        transport = FastAPIWebsocketTransport(
            websocket,
            FastAPIWebsocketParams(
                audio_in_enabled=True,
                audio_out_enabled=True,
                serializer=TwilioFrameSerializer(
                    start["streamSid"],
                    params=TwilioFrameSerializer.InputParams(auto_hang_up=False),
                ),
            ),
        )
        pipeline = Pipeline(
            [
                transport.input(),
                VADProcessor(vad_analyzer=SileroVADAnalyzer(params=VADParams(stop_secs=0.2))),
                MoonshineLibrarySTT(transcriber),
                UserTurnProcessor(),
                Answer(Session(index, policy)),
                PiperTTS(voice),
                transport.output(),
            ]
        )
        worker = PipelineWorker(
            pipeline,
            params=PipelineParams(audio_in_sample_rate=16000, audio_out_sample_rate=8000),
        )

        @worker.event_handler("on_pipeline_started")
        async def greet(*_: object) -> None:
            await worker.queue_frame(TTSSpeakFrame(greeting))

        @transport.event_handler("on_client_disconnected")
        async def gone(*_: object) -> None:
            await worker.cancel()

        runner = WorkerRunner(handle_sigint=False)
        await runner.add_workers(worker)
        await runner.run()

    return app


def main() -> None:
    """Serve until stopped."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    args = parser.parse_args()
    quiet_logs("ERROR")
    settings = load_settings()
    sock = listen("127.0.0.1", args.port)
    app = build_app(settings.kb, settings.voice.greeting)
    print("listening on http://{}:{}".format(*sock.getsockname()[:2]), flush=True)
    asyncio.run(uvicorn.Server(uvicorn.Config(app, log_level="error")).serve(sockets=[sock]))


if __name__ == "__main__":
    main()
