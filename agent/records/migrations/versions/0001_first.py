"""Calls, turns, events, evidence, marks, and what was removed.

A step is never changed once it was released: this says what the tables were, and
:mod:`agent.records.tables` what they are.
"""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

_ID = sa.BigInteger().with_variant(sa.Integer, "sqlite")
_TIME = sa.DateTime(timezone=True)


def upgrade() -> None:
    """Make them."""
    op.create_table(
        "calls",
        sa.Column("id", sa.Text, primary_key=True),
        *(_text(name) for name in ("call_id", "wire", "caller", "caller_key", "called")),
        sa.Column("started_at", _TIME, nullable=False),
        sa.Column("ended_at", _TIME),
        _text("ended"),
        sa.Column("seconds", sa.Float, nullable=False),
        *(_count(name) for name in ("turns", "answered", "refused")),
        sa.Column("transferred", sa.Boolean, nullable=False),
        _text("hung_up_by"),
        sa.Column("reply_p50_ms", sa.Float),
        sa.Column("reply_p95_ms", sa.Float),
        _text("kb"),
        _text("versions"),
        sa.Column("recording", sa.Text),
        _count("events"),
        _text("head"),
    )
    op.create_table(
        "turns",
        sa.Column("id", _ID, primary_key=True, autoincrement=True),
        _text("call"),
        *(_count(name) for name in ("turn", "seq")),
        sa.Column("at", _TIME, nullable=False),
        *(_text(name) for name in ("heard", "question")),
        sa.Column("context", sa.Text),
        *(_text(name) for name in ("decision", "reason")),
        sa.Column("score", sa.Float),
        sa.Column("floor", sa.Float),
        *(_text(name) for name in ("say", "citations", "answered_by")),
        sa.Column("reply_ms", sa.Float),
        sa.UniqueConstraint("call", "seq"),
    )
    op.create_table(
        "events",
        sa.Column("call", sa.Text, primary_key=True),
        sa.Column("seq", sa.Integer, primary_key=True, autoincrement=False),
        *(_text(name) for name in ("event", "line")),
    )
    op.create_table(
        "evidence",
        sa.Column("call", sa.Text, primary_key=True),
        sa.Column("seq", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("place", sa.Integer, primary_key=True, autoincrement=False),
        *(_text(name) for name in ("passage", "sha256")),
        sa.Column("score", sa.Float),
        sa.Column("cited", sa.Boolean, nullable=False),
    )
    op.create_table(
        "marks",
        sa.Column("id", _ID, primary_key=True, autoincrement=True),
        _text("call"),
        _count("turn"),
        *(_text(name) for name in ("label", "note", "by")),
        sa.Column("at", _TIME, nullable=False),
    )
    op.create_table(
        "removed",
        sa.Column("call", sa.Text, primary_key=True),
        sa.Column("at", _TIME, nullable=False),
        _text("why"),
        _count("events"),
        _text("head"),
    )
    for name, table, columns in _INDEXES:
        op.create_index(name, table, columns)
    for statement in _FULL_TEXT[op.get_bind().dialect.name]:
        op.execute(sa.text(statement))


def _text(name: str) -> sa.Column[str]:
    return sa.Column(name, sa.Text, nullable=False)


def _count(name: str) -> sa.Column[int]:
    return sa.Column(name, sa.Integer, nullable=False)


_INDEXES = (
    ("calls_by_time", "calls", ["started_at", "id"]),
    ("calls_by_wire", "calls", ["wire", "started_at", "id"]),
    ("calls_by_caller", "calls", ["caller_key"]),
    # Of the outcomes only the rare ones: where most calls are it, the time is the better index.
    ("calls_transferred", "calls", ["transferred", "started_at", "id"]),
    ("turns_by_decision", "turns", ["decision", "at"]),
    ("turns_by_time", "turns", ["at"]),
    ("evidence_by_passage", "evidence", ["passage"]),
    ("marks_by_call", "marks", ["call", "turn"]),
)

_FULL_TEXT = {
    # https://www.sqlite.org/fts5.html#external_content_tables
    "sqlite": (
        "CREATE VIRTUAL TABLE IF NOT EXISTS turns_text USING fts5(heard, question, say, "
        "content='turns', content_rowid='id', prefix='2 3', "
        "tokenize='unicode61 remove_diacritics 2')",
        "CREATE TRIGGER IF NOT EXISTS turns_text_in AFTER INSERT ON turns BEGIN "
        "INSERT INTO turns_text(rowid, heard, question, say) "
        "VALUES (new.id, new.heard, new.question, new.say); END",
        "CREATE TRIGGER IF NOT EXISTS turns_text_out AFTER DELETE ON turns BEGIN "
        "INSERT INTO turns_text(turns_text, rowid, heard, question, say) "
        "VALUES ('delete', old.id, old.heard, old.question, old.say); END",
        "CREATE TRIGGER IF NOT EXISTS turns_text_new AFTER UPDATE OF heard, question, say "
        "ON turns BEGIN "
        "INSERT INTO turns_text(turns_text, rowid, heard, question, say) "
        "VALUES ('delete', old.id, old.heard, old.question, old.say); "
        "INSERT INTO turns_text(rowid, heard, question, say) "
        "VALUES (new.id, new.heard, new.question, new.say); END",
    ),
    "postgresql": (
        "CREATE INDEX IF NOT EXISTS turns_text ON turns USING gin "
        "(to_tsvector('simple', heard || ' ' || question || ' ' || say))",
    ),
}
