"""Dependencies point one way; every setting is read; no file grows past reading."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("frontdesk", "rag", "speech", "telephony", "agent")
MAY_IMPORT = {
    "frontdesk": set(),
    "rag": {"frontdesk"},
    "speech": {"frontdesk"},
    "telephony": {"frontdesk"},
    "agent": {"frontdesk", "rag", "speech", "telephony", "bench"},
}


def imported(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            names.add((node.module or "").split(".")[0])
    return names


@pytest.mark.parametrize("package", PACKAGES)
def test_dependencies_point_one_way(package):
    files = list((ROOT / package).rglob("*.py"))
    assert files
    for path in files:
        ours = imported(path) & {*PACKAGES, "bench", "tests"} - {package}
        assert ours <= MAY_IMPORT[package], f"{path} imports {ours - MAY_IMPORT[package]}"


def test_rag_touches_no_socket_and_no_sleep():
    for path in (ROOT / "rag").rglob("*.py"):
        assert not imported(path) & {"socket", "asyncio", "httpx", "requests", "websockets"}, path
        assert "time.sleep" not in path.read_text(encoding="utf-8"), path


def test_files_stay_small():
    for package in (*PACKAGES, "bench"):
        for path in (ROOT / package).rglob("*.py"):
            lines = len(path.read_text(encoding="utf-8").splitlines())
            assert lines <= 400, f"{path} has {lines} lines"


def test_no_machine_path_is_committed():
    pattern = re.compile(r"(?<![\w.])/(work|root|home)/[a-z]")
    for path in ROOT.rglob("*"):
        if path.suffix in {".py", ".md", ".toml", ".yml", ".jsonl", ".json"} and not {
            ".venv",
            ".git",
            "out",
            "calls",
            "build",
        } & set(path.relative_to(ROOT).parts):
            text = path.read_text(encoding="utf-8")
            assert path == Path(__file__) or not pattern.search(text), path
