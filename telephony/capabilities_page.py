"""``python -m telephony.capabilities_page``: writes ``docs/wires.md`` from the capability rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from telephony.capabilities import Capabilities

PAGE = Path(__file__).resolve().parent.parent / "docs" / "wires.md"

_HEAD = """\
# Wires

What each way to call can do. This page is written by `python -m telephony.capabilities_page` from
the `Capabilities` in the code; a test fails where the two differ.

A wire that can't do something is not asked to: without a transfer the agent never offers one, and
without digits there are no menus.
"""
_TESTED = """
"Tested against" says what stands at the other end in this repository's tests: the real peer, or
our fake of it, which speaks the documented protocol over a real socket. Frames as the provider's
documentation shows them are in `tests/telephony/frames/`, and one contract test runs over all of
the media sockets.
"""
_AUDIO: tuple[tuple[str, Callable[[Capabilities], str]], ...] = (
    ("wire", lambda row: row.name),
    ("audio", lambda row: row.audio),
    ("cut short by", lambda row: row.clear),
    ("says what was played", lambda row: _yes(row.marks)),
    ("digits in", lambda row: row.digits_in),
    ("digits out", lambda row: row.digits_out),
)
_CALLS: tuple[tuple[str, Callable[[Capabilities], str]], ...] = (
    ("wire", lambda row: row.name),
    ("hangs up by", lambda row: row.hang_up),
    ("transfers by", lambda row: row.transfer),
    ("person hears a summary", lambda row: _yes(row.summary)),
    ("dials by", lambda row: row.dials),
    ("caller's number", lambda row: _yes(row.caller_number)),
)
_TRUST: tuple[tuple[str, Callable[[Capabilities], str]], ...] = (
    ("wire", lambda row: row.name),
    ("checked by", lambda row: row.checked_by),
    ("tested against", lambda row: row.tested),
)


def page(rows: Iterable[Capabilities]) -> str:
    """The page as Markdown, ``rows`` in the order given."""
    rows = tuple(rows)
    return (
        "\n".join(
            [
                _HEAD,
                "## Audio\n",
                _table(_AUDIO, rows),
                "## Calls\n",
                _table(_CALLS, rows),
                "## Trust\n",
                _table(_TRUST, rows),
            ]
        )
        + _TESTED
    )


def _table(
    columns: tuple[tuple[str, Callable[[Capabilities], str]], ...], rows: tuple[Capabilities, ...]
) -> str:
    lines = [
        "| " + " | ".join(title for title, _ in columns) + " |",
        "|" + "---|" * len(columns),
        *("| " + " | ".join(_cell(of(row)) for _, of in columns) + " |" for row in rows),
    ]
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|") or "–"


def _yes(true: bool) -> str:
    return "yes" if true else ""


def main() -> None:
    """Write the page."""
    from telephony.wires import CAPABILITIES

    PAGE.write_text(page(CAPABILITIES), encoding="utf-8")


if __name__ == "__main__":
    main()
