"""Bring a file to the layout of `sql/schema.sql`: everything of it, or nothing.

Runs in one exclusive transaction, so that two first starts cannot interleave. It only adds.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from lossless_claw.errors import StoreOpenError, StoreVersionError
from lossless_claw.store.sqlite import Database

SCHEMA_VERSION = 1
"""Version of the `lossless_` tables. Upstream's tables have none."""

_STEPS = (
    ("repairOpenClawMetadataIdentityState", 2),
    ("backfillSummaryDepths", 1),
    ("backfillSummaryMetadata", 1),
    ("backfillToolCallColumns", 1),
)
_OURS = frozenset({
    "lossless_meta", "lossless_message", "lossless_context", "lossless_summary",
    "lossless_sources",
})  # fmt: skip

_NEWEST_COLUMNS = {
    "conversations": "archive_cause",
    "messages": "stable_event_key",
    "summaries": "model",
    "large_files": "line_count",
    "conversation_bootstrap_state": "soft_reset_pruned_at",
    "conversation_compaction_maintenance": "maintenance_revision",
}
"""The last column that upstream added to a table: without it the file is of an older release."""


def migrate(database: Database) -> None:
    """Create what is missing in the file.

    Raises:
        StoreVersionError: If a newer lossless-claw wrote the file.
        StoreOpenError: If an older upstream release wrote it.
    """
    with database.read() as connection:
        if is_current(connection):
            return
    with database.transaction() as connection:
        check_version(connection, database.path)
        _check_release(connection, database.path)
        _run(connection, _script("schema.sql"))
        if database.has_fts5:
            _run(connection, _search_script(has_trigram=database.has_trigram))
        connection.executemany(
            "INSERT OR IGNORE INTO lcm_migration_state(step_name, algorithm_version) VALUES (?, ?)",
            _STEPS,
        )
        connection.execute(
            "INSERT OR IGNORE INTO lossless_meta(name, value) VALUES ('schema', ?)",
            (SCHEMA_VERSION,),
        )


def is_current(connection: sqlite3.Connection) -> bool:
    """Whether the file has our tables, all of them, in this version."""
    return _version(connection) == SCHEMA_VERSION and _tables(connection) >= _OURS


def check_version(connection: sqlite3.Connection, path: str) -> None:
    """Refuse a file of a newer schema of ours.

    Raises:
        StoreVersionError: Naming the version that the file needs.
    """
    found = _version(connection)
    if found is not None and found > SCHEMA_VERSION:
        raise StoreVersionError(
            f"{path} has schema {found}; this version knows up to {SCHEMA_VERSION}",
            path=path, found=found, known=SCHEMA_VERSION,
        )  # fmt: skip


def check_tables(database: Database) -> None:
    """Refuse a file that holds no conversations.

    Raises:
        StoreOpenError: If it is empty or a database of something else.
    """
    with database.read() as connection:
        if "messages" not in _tables(connection):
            raise StoreOpenError(
                f"{database.path} holds no conversations",
                hint="`lcm import PATH --db FILE` makes a database.",
                path=database.path,
            )


def _version(connection: sqlite3.Connection) -> int | None:
    if "lossless_meta" not in _tables(connection):
        return None
    with closing(
        connection.execute("SELECT value FROM lossless_meta WHERE name = 'schema'")
    ) as rows:
        row = rows.fetchone()
    return row[0] if row is not None and isinstance(row[0], int) else None


def _tables(connection: sqlite3.Connection) -> set[str]:
    rows = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
    return {name for (name,) in rows}


def _check_release(connection: sqlite3.Connection, path: str) -> None:
    present = _tables(connection)
    if "messages" not in present:
        if present - {"sqlite_sequence"}:
            raise StoreOpenError(
                f"{path} is a database of something else: it has no table of messages",
                hint="Choose another path with --db.",
                path=path,
            )
        return
    for table, column in _NEWEST_COLUMNS.items():
        columns = {row[1] for row in connection.execute(f"PRAGMA table_info({table})")}
        if column not in columns:
            raise StoreOpenError(
                f"{path} was written by an older release of upstream: {table}.{column} is missing",
                hint="Open it once with lossless-claw v0.15.3, which brings it up to date.",
                path=path,
            )


def _script(name: str) -> str:
    return (Path(__file__).parent / "sql" / name).read_text("utf-8")


def _search_script(*, has_trigram: bool) -> str:
    script = _script("search.sql")
    if has_trigram:
        return script
    return "\n".join(part + ";" for part in _statements(script) if "'trigram'" not in part)


def _run(connection: sqlite3.Connection, script: str) -> None:
    # executescript() would commit the transaction first.
    for statement in _statements(script):
        connection.execute(statement)
    if "messages_fts" in script:
        # Merging belongs to the indexing job: at a commit it would land on single turns.
        connection.execute("INSERT INTO messages_fts(messages_fts, rank) VALUES ('automerge', 0)")


def _statements(script: str) -> list[str]:
    lines = [line for line in script.splitlines() if not line.lstrip().startswith("--")]
    return [part.strip() for part in "\n".join(lines).split(";") if part.strip()]
