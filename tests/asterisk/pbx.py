"""Asterisk in its chroot, started by ``deploy/asterisk/start`` on ports of its own."""

import os
import shutil
import signal
import socket
import subprocess
import threading
import time
from pathlib import Path

from tests.isolation import ROOT

PASSWORD = "the sockets' password"
ARI_PASSWORD = "the interface's password"
_READY_S = 60


class Pbx:
    """``agent_port`` is where it dials the agent, ``sip`` where it is called."""

    def __init__(self, chroot: Path):
        self._chroot = chroot
        self._name = f"frontdesk-{os.getpid()}"
        self._config = f"/tmp/{self._name}/etc/asterisk.conf"
        self.agent_port, self.audiosocket_port, self.http_port = free_ports(3)
        self.sip_port, self.tls_port = free_ports(2)
        self.sip = f"127.0.0.1:{self.sip_port}"
        self.ari_url = f"http://127.0.0.1:{self.http_port}"
        self.trunk = f"sip:+15555550199@{self.sip}"
        self.lines = []

    def __enter__(self):
        code = self._chroot / "opt" / self._name
        shutil.rmtree(code, ignore_errors=True)
        shutil.copytree(ROOT / "deploy" / "asterisk", code)
        certificate = code / "tls.pem"
        make_certificate(certificate)
        (rtp,) = free_ports(1)
        rtp = min(rtp, 65000)
        variables = {
            "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
            "STATE": f"/tmp/{self._name}",
            "SIP_BIND": "127.0.0.1",
            "SIP_PORT": str(self.sip_port),
            "RTP_START": str(rtp),
            "RTP_END": str(rtp + 400),
            "SIP_TLS_PORT": str(self.tls_port),
            "TLS_CERT": f"/opt/{self._name}/tls.pem",
            "TLS_KEY": f"/opt/{self._name}/tls.pem",
            "HTTP_PORT": str(self.http_port),
            "AGENT_HTTP": f"http://127.0.0.1:{self.agent_port}",
            "AGENT_AUDIOSOCKET": f"127.0.0.1:{self.audiosocket_port}",
            "ASTERISK_PASSWORD": PASSWORD,
            "ASTERISK_ARI_PASSWORD": ARI_PASSWORD,
            "PHONE_201_PASSWORD": "secret of 201",
            "PHONE_202_PASSWORD": "secret of 202",
            "TRUNK_HOST": "127.0.0.1:9",
            "TRUNK_ADDRESSES": "127.0.0.1/32",
        }
        self._process = subprocess.Popen(
            ["chroot", str(self._chroot), f"/opt/{self._name}/start"],
            env=variables,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        )
        self._ready = threading.Event()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        if not self._ready.wait(_READY_S) or self._process.poll() is not None:
            self.__exit__()
            raise RuntimeError("Asterisk did not start:\n" + "\n".join(self.lines[-30:]))
        return self

    def __exit__(self, *exc):
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
        try:
            self._process.wait(15)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._reader.join(5)
        self._process.stdout.close()
        for folder in ("opt", "tmp"):
            shutil.rmtree(self._chroot / folder / self._name, ignore_errors=True)

    def _read(self):
        for line in self._process.stdout:
            self.lines.append(line.rstrip())
            if "Asterisk Ready" in line:
                self._ready.set()
        self._ready.set()  # it has ended

    def ask(self, command):
        """What Asterisk's console answers."""
        asked = subprocess.run(
            ["chroot", str(self._chroot), "asterisk", "-C", self._config, "-rx", command],
            capture_output=True,
            text=True,
            timeout=20,
            check=True,
        )
        return asked.stdout

    @property
    def channels(self):
        """How many calls' legs there are."""
        return int(self.ask("core show channels count").split()[0])

    def wait_for_quiet(self, timeout_s=15):
        """Until there are none; the console is asked again and again, it tells of nothing."""
        until = time.monotonic() + timeout_s
        while self.channels:
            assert time.monotonic() < until, self.ask("core show channels verbose")
            time.sleep(0.1)


def make_certificate(path):
    """A key and a certificate that it signed itself, in one file."""
    key = path.with_suffix(".key")
    asked = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=127.0.0.1".split()
    subprocess.run(
        [*asked, "-keyout", str(key), "-out", str(path)],
        check=True,
        capture_output=True,
    )
    path.write_text(key.read_text() + path.read_text())


def free_ports(count):
    """Ports of this machine that nobody listens on, for UDP and TCP."""
    sockets = []
    try:
        while len(sockets) < 2 * count:
            udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            tcp = socket.socket()
            udp.bind(("127.0.0.1", 0))
            try:
                tcp.bind(("127.0.0.1", udp.getsockname()[1]))
            except OSError:
                udp.close()
                tcp.close()
                continue
            sockets += [udp, tcp]
        return [one.getsockname()[1] for one in sockets[::2]]
    finally:
        for one in sockets:
            one.close()
