"""One set of columns over every released layout, for lists that must read any file as it is.

Upstream added columns release by release, and our own tables may be absent; a read-only handle
can add neither. A view here is the text of a common table expression that gives a missing
column its neutral value (design G10). Reads table definitions, never rows.
"""

from __future__ import annotations

import sqlite3

from msgspec import Struct

_CONVERSATION = {
    "conversation_id": "0",
    "session_id": "''",
    "session_key": "NULL",
    "active": "1",
    "archived_at": "NULL",
    "title": "NULL",
    "bootstrapped_at": "NULL",
    "created_at": "''",
    "updated_at": "''",
}
_MESSAGE = {
    "message_id": "0",
    "conversation_id": "0",
    "seq": "0",
    "role": "''",
    "content": "''",
    "created_at": "''",
    "large_content": "NULL",
}
_SUMMARY = {
    "summary_id": "''",
    "conversation_id": "0",
    "kind": "''",
    "depth": "0",
    "content": "''",
    "earliest_at": "NULL",
    "latest_at": "NULL",
    "descendant_count": "0",
    "descendant_token_count": "0",
    "source_message_token_count": "0",
    "created_at": "''",
    "file_ids": "'[]'",
    "model": "'unknown'",
}
_ITEM = {"conversation_id": "0", "ordinal": "0", "message_id": "NULL", "summary_id": "NULL"}
_MAINTENANCE = {"pending": "0", "running": "0", "last_failure_summary": "NULL"}


class Views(Struct, frozen=True):
    """Common table expressions named `conversation`, `message`, `summary`, `item`, `maintenance`.

    `message` and `summary` carry `tokens`: our estimate where we stored one, else upstream's
    column (design 3). `has_totals` says whether running totals are kept in `lossless_context`.
    """

    conversation: str
    message: str
    summary: str
    item: str
    maintenance: str
    has_totals: bool


def read(connection: sqlite3.Connection) -> Views:
    """Return the views for the file behind *connection*."""
    return Views(
        conversation=_plain(connection, "conversation", "conversations", _CONVERSATION),
        message=_counted(connection, "message", "messages", _MESSAGE),
        summary=_counted(connection, "summary", "summaries", _SUMMARY),
        item=_plain(connection, "item", "context_items", _ITEM),
        maintenance=_plain(
            connection, "maintenance", "conversation_compaction_maintenance", _MAINTENANCE
        ),
        has_totals=bool(_columns(connection, "lossless_context")),
    )


def _plain(connection: sqlite3.Connection, view: str, table: str, wanted: dict[str, str]) -> str:
    present = _columns(connection, table)
    source = f"FROM {table} AS t" if present else "WHERE 0"
    return f"{view} AS (SELECT {_select(wanted, present)} {source})"


def _counted(connection: sqlite3.Connection, view: str, table: str, wanted: dict[str, str]) -> str:
    present = _columns(connection, table)
    if not present:
        return f"{view} AS (SELECT {_select(wanted, present)}, 0 AS tokens WHERE 0)"
    columns, key = _select(wanted, present), f"{view}_id"
    if not _columns(connection, f"lossless_{view}"):
        return f"{view} AS (SELECT {columns}, t.token_count AS tokens FROM {table} AS t)"
    return (
        f"{view} AS (SELECT {columns}, coalesce(own.tokens, t.token_count) AS tokens"
        f" FROM {table} AS t LEFT JOIN lossless_{view} AS own ON own.{key} = t.{key})"
    )


def _columns(connection: sqlite3.Connection, table: str) -> frozenset[str]:
    rows = connection.execute("SELECT name FROM pragma_table_info(?)", (table,))
    return frozenset(name for (name,) in rows)


def _select(wanted: dict[str, str], present: frozenset[str]) -> str:
    return ", ".join(
        f"t.{name}" if name in present else f"{neutral} AS {name}"
        for name, neutral in wanted.items()
    )
