"""Fakes: other people's speech services, speaking their protocols over a real socket.

They hear with our recogniser and speak with eSpeak NG, so that audio which arrives damaged shows.
"""

import asyncio
import io
import json
from contextlib import asynccontextmanager

import numpy as np
import soundfile
from aiohttp import WSMsgType, web

from frontdesk import Spoken
from speech.audio import resample, to_float32
from speech.espeak import EspeakVoice

KEY = "key-of-the-fake"


class FakeServices:
    """``spoken`` are the texts that were asked for, ``sent`` the audio of each."""

    def __init__(self, recogniser):
        self._recogniser, self._voice = recogniser, EspeakVoice()
        self.failing = False
        self.spoken, self.sent = [], []

    @asynccontextmanager
    async def running(self):
        app = web.Application()
        app.add_routes(
            [
                web.post("/v1/audio/transcriptions", self._openai_transcriptions),
                web.post("/v1/audio/speech", self._openai_speech),
                web.post("/v1/speak", self._deepgram_http),
                web.get("/v1/speak", self._deepgram),
                web.get("/stt/websocket", self._cartesia),
            ]
        )
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        self.port = site._server.sockets[0].getsockname()[1]
        try:
            yield self
        finally:
            await runner.cleanup()

    @property
    def http(self):
        return f"http://127.0.0.1:{self.port}"

    @property
    def ws(self):
        return f"ws://127.0.0.1:{self.port}"

    def _hear(self, samples, rate):
        audio = resample(to_float32(np.ascontiguousarray(samples)), rate, 16000)
        return self._recogniser.transcribe(audio).text

    def _say(self, text, rate):
        self.spoken.append(text.strip())
        self.sent.append(resample(self._voice.render(Spoken(text)), 8000, rate).tobytes())
        return self.sent[-1]

    def _check(self, request, header, value):
        if request.headers.get(header) != value:
            raise web.HTTPUnauthorized
        if self.failing:
            raise web.HTTPInternalServerError

    async def _openai_transcriptions(self, request):
        self._check(request, "Authorization", f"Bearer {KEY}")
        form = await request.post()
        samples, rate = soundfile.read(io.BytesIO(form["file"].file.read()), dtype="int16")
        text = await asyncio.to_thread(self._hear, samples, rate)
        return web.json_response({"text": text})

    async def _openai_speech(self, request):
        self._check(request, "Authorization", f"Bearer {KEY}")
        asked = await request.json()
        assert asked["response_format"] == "pcm"
        return web.Response(body=self._say(asked["input"], 24000))

    async def _deepgram_http(self, request):
        self._check(request, "Authorization", f"Token {KEY}")
        text = (await request.json())["text"]
        return web.Response(body=self._say(text, int(request.query["sample_rate"])))

    async def _deepgram(self, request):
        self._check(request, "Authorization", f"Token {KEY}")
        assert request.query["encoding"] == "linear16"
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        text = ""
        async for message in socket:
            told = json.loads(message.data)
            if told["type"] == "Speak":
                text += told["text"]
            elif told["type"] == "Flush":
                audio = self._say(text, int(request.query["sample_rate"]))
                for at in range(0, len(audio), 3200):
                    await socket.send_bytes(audio[at : at + 3200])
                await socket.send_json({"type": "Flushed", "sequence_id": len(self.spoken)})
                text = ""
            elif told["type"] == "Clear":
                text = ""
                await socket.send_json({"type": "Cleared"})
            elif told["type"] == "Close":
                await socket.close()
        return socket

    async def _cartesia(self, request):
        self._check(request, "X-API-Key", KEY)
        assert request.query["encoding"] == "pcm_s16le"
        rate = int(request.query["sample_rate"])
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        audio = bytearray()

        async def tell(*, is_final):
            text = await asyncio.to_thread(self._hear, np.frombuffer(bytes(audio), np.int16), rate)
            if text:
                fields = {"is_final": is_final, "text": text, "language": "en"}
                await socket.send_json({"type": "transcript", **fields})

        async for message in socket:
            if message.type is WSMsgType.BINARY:
                audio += message.data
                if len(audio) == 2 * rate:
                    await tell(is_final=False)
            elif message.data == "finalize":
                await tell(is_final=True)
                audio.clear()
                await socket.send_json({"type": "flush_done"})
            elif message.data == "done":
                await socket.send_json({"type": "done"})
        return socket
