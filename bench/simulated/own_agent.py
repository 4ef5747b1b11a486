"""A ``frontdesk serve`` of the callers' own: the settings in force, but apart from everything else.

Its records go to a folder that is thrown away, its console and its other listeners are off, so
that neither a running agent nor a business's records are touched.
"""

from __future__ import annotations

import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from agent.settings import Settings
from bench.process import serving

_APART = {
    "console.enabled": "false",
    "records.database_variable": "",
    "records.key_variable": "",
    "records.recording": "off",
    "records.keep_numbers": "true",
    "sip.listen": "",
    "audiosocket.listen": "",
    "audiosocket.expected_only": "false",
    "outbound.enabled": "false",
    "server.calls_per_address": "10000",
    "server.calls_per_number": "100",
}


@contextmanager
def own_agent(kb: Path, wire: str, at_once: int) -> Iterator[tuple[str, Path]]:
    """Where it is called by ``wire``, and the folder of its records.

    Raises:
        ConfigError: if it does not start; the line says why.
    """
    with tempfile.TemporaryDirectory() as folder:
        variables = {variable(key): value for key, value in _APART.items() if _is_known(key)}
        variables |= {
            variable("kb"): str(kb.resolve()),
            variable("records.folder"): folder,
            variable("server.max_calls"): str(at_once + 2),
        }
        url = ""
        if wire == "sip":
            port = _free_port(socket.SOCK_DGRAM)
            variables[variable("sip.listen")] = f"udp:127.0.0.1:{port}"
            url = f"sip:agent@127.0.0.1:{port}"
        if wire == "audiosocket":
            port = _free_port(socket.SOCK_STREAM)
            variables[variable("audiosocket.listen")] = f"127.0.0.1:{port}"
            url = f"tcp://127.0.0.1:{port}"
        with serving(("agent.cli", "serve", "--port", "0"), variables) as server:
            yield url or server.url, Path(folder)


def variable(key: str) -> str:
    """The variable that sets ``key``: "records.folder" is FRONTDESK_RECORDS__FOLDER."""
    return f"FRONTDESK_{key.upper().replace('.', '__')}"


def _is_known(key: str) -> bool:
    section, name = key.split(".")
    field = Settings.model_fields.get(section)
    known = getattr(field.annotation, "model_fields", {}) if field else {}
    return name in known


def _free_port(kind: socket.SocketKind) -> int:
    with socket.socket(socket.AF_INET, kind) as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])
