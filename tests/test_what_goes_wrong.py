"""Every row of docs/what-goes-wrong.md names tests that exist."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ROWS = [
    line
    for line in (ROOT / "docs" / "what-goes-wrong.md").read_text(encoding="utf-8").splitlines()
    if line.startswith("| ") and not line.startswith("| behaviour")
]


def _functions_of(path):
    return {
        node.name
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }


def test_each_behaviour_has_tests_that_exist():
    assert len(ROWS) == 20
    for row in ROWS:
        named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", row)
        assert named, row
        for path, name in named:
            assert name in _functions_of(ROOT / path), f"{path} has no {name}"
