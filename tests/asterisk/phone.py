"""A real baresip as one of the phones: it registers, answers or calls, and records."""

import signal
import subprocess
import threading

import numpy as np
import soundfile

from tests.asterisk.pbx import free_ports

_MODULES = "/usr/lib/baresip/modules"
_REGISTERED_S = 20


class Phone:
    """``number``'s phone. ``plays`` is what its person says (int16, 8 kHz), from the answer on."""

    def __init__(self, pbx, number, folder, *, plays=None, dials="", password=None, tls=False):
        folder.mkdir()
        self._folder = folder
        silence = np.zeros(8000 * 60, np.int16)
        soundfile.write(folder / "plays.wav", silence if plays is None else plays, 8000)
        sip, rtp = free_ports(2)
        (folder / "config").write_text(
            f"sip_listen 127.0.0.1:{sip}\nmodule_path {_MODULES}\n"
            + "".join(f"module {name}.so\n" for name in ("g711", "aufile", "sndfile", "srtp"))
            + "".join(f"module_app {name}.so\n" for name in ("account", "menu"))
            + f"audio_source aufile,{folder}/plays.wav\naudio_player aufile,{folder}/heard.wav\n"
            + f"audio_srate 8000-8000\nrtp_ports {min(rtp, 65000)}-{min(rtp, 65000) + 100}\n"
        )
        secret = password or f"secret of {number}"
        where = f"127.0.0.1:{pbx.tls_port};transport=tls" if tls else pbx.sip
        (folder / "accounts").write_text(
            f'<sip:{number}@{where}>;auth_user={number};auth_pass="{secret}";'
            f"answermode=auto;regint=300{';mediaenc=srtp-mand' if tls else ''}\n"
        )
        (folder / "contacts").write_text("")
        self.lines = []
        self._changed = threading.Condition()
        self._process = subprocess.Popen(
            ["baresip", "-f", str(folder)] + (["-e", f"/dial {dials}"] if dials else []),
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def wait_for(self, words, timeout_s=_REGISTERED_S, show=lambda: ""):
        """Until baresip says ``words``; ``show`` is asked what else to say where it does not."""
        with self._changed:
            found = self._changed.wait_for(
                lambda: any(words in line for line in self.lines), timeout_s
            )
        assert found, f"baresip did not say {words!r}: {self.lines[-15:]} {show()}"

    def registered(self):
        """Itself, once Asterisk has accepted its password."""
        self.wait_for("200 OK")
        return self

    def stop(self):
        """Hang up and end; baresip writes its recording then."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._reader.join(5)
        self._process.stdout.close()

    @property
    def heard(self):
        """What came to its ear, int16; ask when it is stopped."""
        (path, *_) = self._folder.glob("dump*dec.wav")
        audio, rate = soundfile.read(path, dtype="int16")
        assert rate == 8000
        return audio

    def _read(self):
        for text in self._process.stdout:
            with self._changed:
                self.lines += [line for line in text.split("\r") if "bit/s" not in line]
                self._changed.notify_all()
