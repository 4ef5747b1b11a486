"""A certificate that nobody signed, made by openssl."""

import shutil
import subprocess

import pytest


@pytest.fixture(scope="session")
def certificate(tmp_path_factory):
    """A PEM file with a key and a certificate for 127.0.0.1."""
    if not shutil.which("openssl"):
        pytest.skip("needs openssl: apt-get install openssl")
    folder = tmp_path_factory.mktemp("certificate")
    subprocess.run(
        [
            "openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
            "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1",
            "-keyout", "key.pem", "-out", "cert.pem",
        ],
        cwd=folder, check=True, capture_output=True,
    )  # fmt: skip
    both = folder / "both.pem"
    both.write_text((folder / "key.pem").read_text() + (folder / "cert.pem").read_text())
    return both
