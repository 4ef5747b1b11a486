import re
import tomllib
from pathlib import Path

import pytest
from pydantic import BaseModel

from agent.settings import Settings, load_settings
from frontdesk import ConfigError

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def config(tmp_path, monkeypatch):
    path = tmp_path / "frontdesk.toml"
    monkeypatch.setenv("FRONTDESK_CONFIG", str(path))
    return path


def keys(model: type[BaseModel], prefix: str = "") -> list[str]:
    found = []
    for name, field in model.model_fields.items():
        kind = field.annotation
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            found += keys(kind, f"{prefix}{name}.")
        else:
            found.append(prefix + name)
    return found


def test_file_and_variable(config, monkeypatch):
    config.write_text("[server]\nport = 9001\nmax_calls = 3\n")
    monkeypatch.setenv("FRONTDESK_SERVER__PORT", "9002")
    settings = load_settings()
    assert (settings.server.port, settings.server.max_calls) == (9002, 3)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("prot = 1", r"unknown setting 'prot'"),
        ("[server]\nprot = 1", r"unknown setting 'server\.prot'"),
        ("[server]\nport = 99999", r"bad setting 'server\.port'"),
        ("[server]\nport = 'x'", r"bad setting 'server\.port'"),
        ("[server", "cannot read settings"),
    ],
)
def test_bad_files_are_one_clear_line(config, text, message):
    config.write_text(text)
    with pytest.raises(ConfigError, match=message) as error:
        load_settings()
    assert "\n" not in str(error.value).split(": ")[0]


@pytest.mark.parametrize(
    "name", ["FRONTDESK_PROT", "FRONTDESK_SERVER__PROT", "FRONTDESK_SERVE__PORT"]
)
def test_a_mistyped_variable_is_an_error(monkeypatch, name):
    monkeypatch.setenv(name, "1")
    with pytest.raises(ConfigError, match=f"unknown setting {name}"):
        load_settings()


def test_a_named_file_that_is_missing_is_an_error(config):
    with pytest.raises(ConfigError, match="not a file"):
        load_settings()


def test_the_example_lists_every_key_with_its_default(monkeypatch, tmp_path):
    text = (ROOT / "frontdesk.example.toml").read_text(encoding="utf-8")
    live = re.sub(r"(?m)^# ?(?=[a-z_]+ = )", "", text)
    shown = tomllib.loads(live)

    def flat(table, prefix=""):
        for key, value in table.items():
            if isinstance(value, dict) and value:
                yield from flat(value, f"{prefix}{key}.")
            else:
                yield prefix + key, value

    example = dict(flat(shown))
    assert sorted(example) == sorted(keys(Settings))
    monkeypatch.chdir(tmp_path)
    defaults = load_settings().model_dump(mode="json")
    for key, value in example.items():
        expected = defaults
        for part in key.split("."):
            expected = expected[part]
        if key != "kb":  # shown relative to a checkout
            assert value == expected, key


def test_every_key_is_read():
    code = "\n".join(
        path.read_text(encoding="utf-8")
        for package in ("agent", "bench")
        for path in (ROOT / package).rglob("*.py")
        if path.name != "settings.py"
    )
    for key in keys(Settings):
        leaf = key.split(".")[-1]
        assert re.search(rf"\.{leaf}\b", code), f"setting {key} is never read"
