"""docker-compose.yml: valid, every image pinned, no secret in it, nothing that runs as root."""

import re
import shutil
import subprocess

import pytest
import yaml

from tests.isolation import ROOT

COMPOSE = ROOT / "docker-compose.yml"
SERVICES = yaml.safe_load(COMPOSE.read_text(encoding="utf-8"))["services"]
NEEDED = {
    "EXTERNAL_ADDRESS": "192.0.2.10",
    "ASTERISK_PASSWORD": "one",
    "ASTERISK_ARI_PASSWORD": "two",
    "PHONE_201_PASSWORD": "three",
    "PHONE_202_PASSWORD": "four",
}
each = pytest.mark.parametrize("name", sorted(SERVICES))


def config(**variables):
    """What docker-compose makes of the file; it needs no engine for that."""
    if not shutil.which("docker-compose"):
        pytest.skip("no docker-compose here: apt-get install docker-compose")
    return subprocess.run(
        ["docker-compose", "--project-directory", ".", "-f", str(COMPOSE), "config"],
        cwd=ROOT,
        env={"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", **variables},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_docker_compose_takes_it():
    done = config(**NEEDED)
    assert done.returncode == 0, done.stderr
    services = yaml.safe_load(done.stdout)["services"]
    assert services["agent"]["environment"]["ASTERISK_PASSWORD"] == "one"
    assert services["asterisk"]["environment"]["PHONE_202_PASSWORD"] == "four"


@pytest.mark.parametrize("name", sorted(NEEDED))
def test_without_a_secret_it_says_which(name):
    done = config(**{key: value for key, value in NEEDED.items() if key != name})
    assert done.returncode != 0
    assert name in done.stderr or NEEDED_WORDS[name] in done.stderr


NEEDED_WORDS = dict.fromkeys(NEEDED, "openssl rand") | {"EXTERNAL_ADDRESS": "phones reach"}


@each
def test_every_image_is_pinned(name):
    service = SERVICES[name]
    if "build" in service:
        folder = ROOT / service["build"]
        bases = re.findall(r"^FROM (\S+)", (folder / "Dockerfile").read_text(), re.MULTILINE)
        assert bases
        for base in bases:
            assert re.fullmatch(r"\S+:\S+@sha256:[0-9a-f]{64}", base), base
    else:
        assert re.search(r":\S*\d\S*$", service["image"]), "a tag that moves"
        assert not service["image"].endswith(":latest")


@each
def test_nothing_runs_as_root_or_writes_to_its_image(name):
    service = SERVICES[name]
    user, group = service["user"].split(":")
    assert int(user) > 0
    assert int(group) > 0
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert "privileged" not in service
    assert service["healthcheck"]["test"][0] == "CMD"
    assert not any("docker.sock" in str(volume) for volume in service.get("volumes", ()))


@each
def test_no_secret_stands_in_it(name):
    for variable, value in SERVICES[name].get("environment", {}).items():
        if re.search("PASSWORD|SECRET|TOKEN|KEY", variable) and variable != "TLS_KEY":
            assert value == f"${{{variable}:-}}" or value.startswith(f"${{{variable}:?"), variable


def test_only_what_must_be_reached_is_published():
    published = {name: one["ports"] for name, one in SERVICES.items() if "ports" in one}
    assert set(published) == {"agent", "asterisk", "prometheus"}
    for name in ("agent", "prometheus"):
        assert all(port.startswith("127.0.0.1:") for port in published[name])
    assert not any("8088" in port for port in published["asterisk"])  # ARI


def test_every_variable_of_asterisk_is_one_that_its_start_knows():
    folder = ROOT / "deploy" / "asterisk"
    text = (folder / "start").read_text() + "".join(
        path.read_text() for path in sorted((folder / "etc").glob("*.conf"))
    )
    for variable in SERVICES["asterisk"]["environment"]:
        assert re.search(rf"\b{variable}\b", text), variable
    given = set(SERVICES["asterisk"]["environment"])
    for variable in set(re.findall(r"@([A-Z][A-Z0-9_]*)@", text)):
        assert variable in given or f"{variable}=" in text or f"@if {variable}" in text, variable


def test_the_example_names_every_variable_that_has_no_value():
    example = (ROOT / "deploy" / "env.example").read_text()
    for variable in set(re.findall(r"\$\{([A-Z_0-9]+):\?", COMPOSE.read_text())):
        assert re.search(rf"^{variable}=$", example, re.MULTILINE), variable


# deploy/asterisk


def rendered(tmp_path, **variables):
    """The configuration that ``start`` makes; a stand-in for the program itself ends at once."""
    (tmp_path / "asterisk").write_text("#!/bin/sh\nexit 0\n")
    (tmp_path / "asterisk").chmod(0o755)
    done = subprocess.run(
        [str(ROOT / "deploy" / "asterisk" / "start")],
        env={"PATH": f"{tmp_path}:/usr/bin:/bin", "STATE": str(tmp_path / "state"), **variables},
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    return done, tmp_path / "state" / "etc"


PHONES = {name: value for name, value in NEEDED.items() if name != "EXTERNAL_ADDRESS"}


def test_start_fills_in_what_is_set_and_leaves_out_the_rest(tmp_path):
    done, folder = rendered(tmp_path, **PHONES, AGENT_HTTP="https://agent.example")
    assert done.returncode == 0, done.stderr
    sockets = (folder / "websocket_client.conf").read_text()
    assert "uri = wss://agent.example/asterisk/media" in sockets
    assert "tls_enabled = yes" in sockets
    phones = (folder / "pjsip.conf").read_text()
    assert "password = three" in phones
    assert "[trunk]" not in phones
    assert "protocol = tls" not in phones
    assert "external_media_address" not in phones
    assert not re.search(r"@[A-Z_]+@", "".join(p.read_text() for p in folder.iterdir()))
    assert (folder / "pjsip.conf").stat().st_mode & 0o077 == 0


def test_start_has_a_trunk_and_nat_where_they_are_set(tmp_path):
    trunk = {
        "TRUNK_HOST": "sip.example",
        "TRUNK_ADDRESSES": "192.0.2.0/24",
        "TRUNK_USER": "u",
        "TRUNK_PASSWORD": "p&a\\1s",
        "TRUNK_REGISTER": "yes",
        "EXTERNAL_ADDRESS": "198.51.100.7",
        "TLS_CERT": "/tls/cert.pem",
        "TLS_KEY": "/tls/key.pem",
    }
    done, folder = rendered(tmp_path, **PHONES, **trunk)
    assert done.returncode == 0, done.stderr
    phones = (folder / "pjsip.conf").read_text()
    assert "client_uri = sip:u@sip.example" in phones
    assert "password = p&a\\1s" in phones
    assert "external_media_address = 198.51.100.7" in phones
    assert "protocol = tls" in phones


@pytest.mark.parametrize("value", ["", "a;b", "a\nb"])
def test_start_refuses_a_password_that_is_missing_or_breaks_the_file(tmp_path, value):
    done, _ = rendered(tmp_path, **{**PHONES, "PHONE_201_PASSWORD": value})
    assert done.returncode != 0
    assert "PHONE_201_PASSWORD" in done.stderr
    assert "a;b" not in done.stderr


def test_no_password_stands_in_deploy():
    for path in (ROOT / "deploy").rglob("*"):
        if path.is_file():
            for line in path.read_text(encoding="utf-8").splitlines():
                found = re.match(r"\s*(?:password|secret)\s*=\s*(\S+)", line, re.IGNORECASE)
                assert not found or re.fullmatch(r"@\w+@", found.group(1)), f"{path}: {line}"
