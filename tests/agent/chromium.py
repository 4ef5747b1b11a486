"""A real Chromium without a screen, driven by the DevTools protocol.

https://chromedevtools.github.io/devtools-protocol/
"""

import asyncio
import base64
import json
import os
import shutil
from contextlib import asynccontextmanager

import numpy as np
import pytest
import soundfile
from websockets.asyncio.client import connect

CHROMIUM = shutil.which("chromium")
needs_chromium = pytest.mark.skipif(
    CHROMIUM is None, reason="Chromium is not installed; run: apt-get install chromium"
)
_FLAGS = """--headless=new --no-sandbox --disable-gpu --disable-quic --no-first-run
    --disable-background-networking --disable-component-update --disable-sync
    --disable-default-apps --disable-extensions --no-proxy-server --disable-dev-shm-usage
    --autoplay-policy=no-user-gesture-required --use-fake-device-for-media-stream
    --remote-debugging-port=0 --hide-scrollbars""".split()


def microphone_file(path, *parts, rate_hz=16000):
    """Write ``parts`` (int16, or seconds of silence) as what the fake microphone hears, once."""
    pieces = [
        np.zeros(round(part * rate_hz), np.int16) if isinstance(part, (int, float)) else part
        for part in parts
    ]
    soundfile.write(str(path), np.concatenate(pieces), rate_hz, subtype="PCM_16")
    return path


class Page:
    """One tab; every command waits for its answer."""

    def __init__(self, socket):
        self._socket = socket
        self._answers, self._last = {}, 0
        self.errors = []
        self._reader = asyncio.create_task(self._read())

    async def _read(self):
        async for text in self._socket:
            message = json.loads(text)
            if "id" in message:
                self._answers.pop(message["id"]).set_result(message)
            elif message["method"] == "Runtime.exceptionThrown":
                self.errors.append(message["params"]["exceptionDetails"])
            elif message["method"] == "Log.entryAdded":
                entry = message["params"]["entry"]
                if entry["level"] == "error":
                    self.errors.append(f"{entry['text']} {entry.get('url', '')}")

    async def send(self, method, timeout_s=30, **params):
        self._last += 1
        answer = self._answers[self._last] = asyncio.get_running_loop().create_future()
        await self._socket.send(json.dumps({"id": self._last, "method": method, "params": params}))
        message = await asyncio.wait_for(answer, timeout_s)
        assert "error" not in message, message
        return message["result"]

    async def open(self, url):
        for domain in ("Page", "Runtime", "Log"):
            await self.send(f"{domain}.enable")
        await self.send("Page.navigate", url=url)
        await self.until("document.readyState === 'complete'")

    async def value(self, expression, timeout_s=30):
        """What ``expression`` (it may be a promise) comes to."""
        result = await self.send(
            "Runtime.evaluate",
            timeout_s,
            expression=expression,
            awaitPromise=True,
            returnByValue=True,
            userGesture=True,
        )
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    async def until(self, expression, timeout_s=20):
        """Wait in the page until ``expression`` is true; its value."""
        return await self.value(
            "new Promise((done) => { const look = () => {"
            f" const value = ({expression}); if (value) done(value);"
            " else setTimeout(look, 20); }; look(); })",
            timeout_s,
        )

    async def click(self, selector):
        await self.value(f"document.querySelector({selector!r}).click()")

    async def key(self, down):
        """Press or release the space bar."""
        await self.send(
            "Input.dispatchKeyEvent",
            type="keyDown" if down else "keyUp",
            code="Space",
            key=" ",
            windowsVirtualKeyCode=32,
        )

    async def mouse(self, selector, down):
        """Press or release the mouse in the middle of an element."""
        x, y = await self.value(
            f"(() => {{ const box = document.querySelector({selector!r}).getBoundingClientRect();"
            " return [box.x + box.width / 2, box.y + box.height / 2]; })()"
        )
        kind = "mousePressed" if down else "mouseReleased"
        await self.send(
            "Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1
        )

    async def look(self, width, height, scheme="light"):
        """Show the page at that size and in that scheme."""
        await self.send(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=height, deviceScaleFactor=1, mobile=width < 500,
        )  # fmt: skip
        await self.send(
            "Emulation.setEmulatedMedia",
            features=[{"name": "prefers-color-scheme", "value": scheme}],
        )

    async def picture(self, path):
        shot = await self.send("Page.captureScreenshot", format="png")
        path.write_bytes(base64.b64decode(shot["data"]))

    async def close(self):
        self._reader.cancel()
        await asyncio.gather(self._reader, return_exceptions=True)
        await self._socket.close()


@asynccontextmanager
async def chromium(folder, hears=None, *, allow=True):
    """A browser with its one page; its microphone hears the file ``hears``, once.

    ``allow`` says whether the person lets the page use it.
    """
    profile = folder / "profile"
    flags = [*_FLAGS, f"--user-data-dir={profile}"]
    flags.append("--use-fake-ui-for-media-stream" if allow else "--deny-permission-prompts")
    if hears is not None:
        flags.append(f"--use-file-for-fake-audio-capture={hears}%noloop")
    process = await asyncio.create_subprocess_exec(
        CHROMIUM,
        *flags,
        "about:blank",
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
        env=os.environ | {"HOME": str(folder)},
    )
    try:
        port = await asyncio.wait_for(_port(process), 30)
        page = Page(await connect(await _tab(port), max_size=None, proxy=None))
        try:
            yield page
        finally:
            await page.close()
    finally:
        process.terminate()
        await asyncio.wait_for(process.communicate(), 20)


async def _port(process):
    """Chromium says where it listens on its stderr."""
    async for line in process.stderr:
        if b"DevTools listening on" in line:
            return int(line.decode().rsplit(":", 1)[1].split("/")[0])
    raise AssertionError("Chromium did not start")


async def _tab(port):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(f"GET /json/list HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
    head = await reader.readuntil(b"\r\n\r\n")
    size = next(
        int(line.split(b":")[1])
        for line in head.split(b"\r\n")
        if line.lower().startswith(b"content-length")
    )
    tabs = json.loads(await reader.readexactly(size))
    writer.close()
    return next(tab["webSocketDebuggerUrl"] for tab in tabs if tab["type"] == "page")
