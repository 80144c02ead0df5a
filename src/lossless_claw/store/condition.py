"""What tells a database's state at flat cost: counts kept beside it, and what was read of files."""

from __future__ import annotations

import sqlite3

from msgspec import Struct

from lossless_claw.store.search.indexing import Indexing
from lossless_claw.store.sources import Source
from lossless_claw.store.sqlite import Database


class FullContext(Struct, frozen=True):
    """A conversation whose context is larger than the budget last given for it, in tokens."""

    conversation: int
    tokens: int
    budget: int


class Condition(Struct, frozen=True):
    """The facts that a verdict is made of. `search_lag` counts messages scanned, not indexed."""

    has_full_text: bool
    search_lag: int
    ambiguous: int
    conflicts: int
    over_budget: tuple[FullContext, ...]
    sources: tuple[Source, ...]


def _is_ours(connection: sqlite3.Connection) -> bool:
    row = connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'lossless_context'")
    return row.fetchone() is not None


def condition(database: Database) -> Condition:
    """Return the facts; the cost follows the number of conversations and transcripts."""
    with database.read() as connection:
        if not _is_ours(connection):
            return Condition(database.has_fts5, 0, 0, 0, (), ())
        ambiguous, conflicts = connection.execute(
            "SELECT coalesce(sum(ambiguous), 0), coalesce(sum(conflicts), 0) FROM lossless_context"
        ).fetchone()
        over = connection.execute(
            """SELECT conversation, tokens + overhead, budget FROM lossless_context
            WHERE budget IS NOT NULL AND tokens + overhead > budget ORDER BY conversation"""
        ).fetchall()
        sources = connection.execute(
            """SELECT path, conversation, format, size, mtime_ms, processed, messages, read_at
            FROM lossless_sources ORDER BY path, conversation"""
        ).fetchall()
    return Condition(
        database.has_fts5,
        Indexing(database).lag(),
        ambiguous,
        conflicts,
        tuple(FullContext(*row) for row in over),
        tuple(Source(*row) for row in sources),
    )
