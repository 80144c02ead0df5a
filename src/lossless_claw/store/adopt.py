"""Rows that upstream wrote get what is ours beside them (G10).

Runs when a file is opened for writing and only looks at what is newer than the last time. The
original of such a row is rebuilt from its parts and marked inexact.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable

from lossless_claw.message.projection import INEXACT, project
from lossless_claw.model import Entry, Message, Outside
from lossless_claw.store.messages import Messages
from lossless_claw.store.sqlite import Database
from lossless_claw.tokens import summary_item_tokens

PAGE = 500

# What is shown: raw in the context, or under a summary that stands there.
_SHOWN = """WITH RECURSIVE shown(id) AS (
 SELECT summary_id FROM context_items WHERE summary_id IS NOT NULL
 UNION SELECT p.parent_summary_id FROM summary_parents p JOIN shown ON p.summary_id = shown.id)
 SELECT message_id FROM context_items WHERE message_id IS NOT NULL
 UNION SELECT e.message_id FROM shown JOIN summary_messages e ON e.summary_id = shown.id"""


def adopt(database: Database, messages: Messages) -> int:
    """Give every row that upstream wrote its identity and estimate; return how many there were.

    Reads two ends of the file when there are none. Each page is a transaction of its own.
    """
    adopted = 0
    while _has_news(database):
        with database.transaction() as connection:
            rows = _unknown(connection)
            _add(connection, messages.load(rows))
            if len(rows) < PAGE:
                _finish(connection)
            adopted += len(rows)
    return adopted


def _has_news(database: Database) -> bool:
    # Both programs append, one after the other: what upstream added is newer than all of ours.
    with database.read() as connection:
        row = connection.execute(
            """SELECT coalesce((SELECT max(message_id) FROM messages), 0)
            > coalesce((SELECT max(message_id) FROM lossless_message), 0) OR EXISTS
            (SELECT 1 FROM summaries s WHERE s.rowid = (SELECT max(rowid) FROM summaries) AND
            NOT EXISTS (SELECT 1 FROM lossless_summary h WHERE h.summary_id = s.summary_id))"""
        ).fetchone()
    return bool(row[0])


def _unknown(connection: sqlite3.Connection) -> list[int]:
    found = connection.execute(
        """SELECT message_id FROM messages WHERE message_id >
        (SELECT coalesce(max(message_id), 0) FROM lossless_message)
        ORDER BY message_id LIMIT ?""",
        (PAGE,),
    ).fetchall()
    return [row[0] for row in found]


def _finish(connection: sqlite3.Connection) -> None:
    """Give new summaries their estimate and count the contexts again, once for all pages."""
    rows = connection.execute(
        """SELECT s.summary_id, s.content, s.depth, (SELECT count(*) FROM summary_parents p
        WHERE p.summary_id = s.summary_id) FROM summaries s LEFT JOIN lossless_summary h
        ON h.summary_id = s.summary_id WHERE h.summary_id IS NULL"""
    ).fetchall()
    connection.executemany(
        "INSERT INTO lossless_summary(summary_id, tokens, level) VALUES (?, ?, 'unknown')",
        [(i, summary_item_tokens(text, n if depth else 0)) for i, text, depth, n in rows],
    )
    _recount(connection, connection.execute("SELECT conversation_id FROM conversations"))


def _add(connection: sqlite3.Connection, rows: list[Message]) -> None:
    page = json.dumps([row.id for row in rows])
    shown = {
        row[0]
        for row in connection.execute(
            f"SELECT value FROM json_each(?) WHERE value IN ({_SHOWN})", (page,)
        )
    }
    connection.executemany(
        """INSERT INTO lossless_message(message_id, conversation, hash, tokens, flags, outside)
        VALUES (?, ?, ?, ?, ?, ?)""",
        [_values(row, is_shown=row.id in shown) for row in rows],
    )


def _values(row: Message, *, is_shown: bool) -> tuple[object, ...]:
    made = project(Entry(row.original, row.entry_id))
    outside = None if is_shown else (made.outside or Outside.RESET)
    return (row.id, row.conversation, made.hash, made.tokens, made.flags | INEXACT, outside)


def _recount(connection: sqlite3.Connection, conversations: Iterable[tuple[int]]) -> None:
    for (conversation,) in list(conversations):
        connection.execute(
            "INSERT OR IGNORE INTO lossless_context(conversation) VALUES (?)", (conversation,)
        )
        connection.execute(
            """UPDATE lossless_context SET (stored, stored_tokens) = (SELECT count(*),
            coalesce(sum(tokens), 0) FROM lossless_message WHERE conversation = ?1),
            (tokens, items) = (SELECT coalesce(sum(coalesce(l.tokens, h.tokens, 0)), 0), count(*)
            FROM context_items c LEFT JOIN lossless_message l ON l.message_id = c.message_id
            LEFT JOIN lossless_summary h ON h.summary_id = c.summary_id
            WHERE c.conversation_id = ?1) WHERE conversation = ?1""",
            (conversation,),
        )
