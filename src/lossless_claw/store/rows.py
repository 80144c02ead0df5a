"""A conversation's rows in order, as the alignment reads them: by place and by hash, never all.

The rows are those of the specification's K (alignment): noise included, without what a rewind or
a reset took out. Every look-up goes through an index, so its cost follows what is asked for.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from typing import Any

from lossless_claw.model import Outside, Row
from lossless_claw.store.sqlite import Database

_IN_ORDER = "(l.outside IS NULL OR l.outside IN ('noise', 'role'))"
_ROW = "m.message_id, m.seq, l.hash, m.role, l.tokens, l.flags"
_PAGES = (8, 64)
"""Hashes of one look-up: a turn's few, or a page of a long list. Two static statements."""

_KNOWN = {
    size: f"""SELECT DISTINCT hash FROM lossless_message INDEXED BY lossless_message_hash
    WHERE conversation = ? AND hash IN ({", ".join("?" * size)})"""
    for size in _PAGES
}


class Rows:
    """The rows of one conversation."""

    def __init__(self, database: Database, conversation: int):
        self._database = database
        self._conversation = conversation

    def tail(self, count: int) -> list[Row]:
        """Return the newest *count* rows, oldest first."""
        return self._select("m.seq < ? ORDER BY m.seq DESC", 1 << 62, count)[::-1]

    def since(self, seq: int, count: int) -> list[Row]:
        """Return *count* rows from *seq* on, oldest first."""
        return self._select("m.seq >= ? ORDER BY m.seq", seq, count)

    def before(self, seq: int, count: int) -> list[Row]:
        """Return the *count* rows before *seq*, oldest first."""
        return self._select("m.seq < ? ORDER BY m.seq DESC", seq, count)[::-1]

    def places(self, identity: bytes, limit: int) -> list[int]:
        """Return the seqs of at most *limit* rows with this hash, oldest first."""
        with self._database.read() as connection:
            rows = connection.execute(
                f"""SELECT m.seq FROM lossless_message l INDEXED BY lossless_message_hash
                CROSS JOIN messages m ON m.message_id = l.message_id
                WHERE l.conversation = ? AND l.hash = ? AND {_IN_ORDER}
                ORDER BY l.message_id LIMIT ?""",
                (self._conversation, identity, limit),
            ).fetchall()
        return [row[0] for row in rows]

    def known(self, identities: Sequence[bytes]) -> set[bytes]:
        """Return those hashes that any row of the conversation has."""
        found: set[bytes] = set()
        size = _PAGES[0] if len(identities) <= _PAGES[0] else _PAGES[1]
        with self._database.read() as connection:
            for start in range(0, len(identities), size):
                page = list(identities[start : start + size])
                page += [b""] * (size - len(page))
                rows = connection.execute(_KNOWN[size], (self._conversation, *page))
                found.update(row[0] for row in rows)
        return found

    def continuation(self, after: int, identity: bytes) -> Row | None:
        """Return the row that was once taken out right after row id *after*, by its hash."""
        with self._database.read() as connection:
            rows = connection.execute(
                f"""SELECT {_ROW} FROM lossless_message l INDEXED BY lossless_message_hash
                CROSS JOIN messages m ON m.message_id = l.message_id
                WHERE l.conversation = ? AND l.hash = ? AND l.outside = 'rewound' AND l.after = ?
                ORDER BY l.message_id DESC LIMIT 1""",
                (self._conversation, identity, after),
            ).fetchall()
            found = _rows(connection, rows)
        return found[0] if found else None

    def heads(self, identities: Sequence[bytes]) -> dict[bytes, int]:
        """Return the stored system messages with these hashes, by hash."""
        return self._newest(identities, Outside.HEAD)

    def changed(self, identities: Sequence[bytes]) -> dict[bytes, int]:
        """Return those stored under the id of another message with these hashes, by hash."""
        return self._newest(identities, Outside.CHANGED)

    def _newest(self, identities: Sequence[bytes], outside: Outside) -> dict[bytes, int]:
        found: dict[bytes, int] = {}
        with self._database.read() as connection:
            for identity in identities:
                row = connection.execute(
                    """SELECT max(message_id) FROM lossless_message INDEXED BY lossless_message_hash
                    WHERE conversation = ? AND hash = ? AND outside = ?""",
                    (self._conversation, identity, outside),
                ).fetchone()
                if row[0] is not None:
                    found[identity] = row[0]
        return found

    def seq_of(self, message: int) -> int:
        """Return the seq of a message of the conversation."""
        with self._database.read() as connection:
            (seq,) = connection.execute(
                "SELECT seq FROM messages WHERE message_id = ?", (message,)
            ).fetchone()
        return int(seq)

    def unstamped_tail(self, count: int) -> list[Row]:
        """Return the newest rows in order, at most *count*, up to one with an entry id."""
        with self._database.read() as connection:
            rows = connection.execute(
                f"""SELECT {_ROW}, m.transcript_entry_id IS NULL FROM messages m
                CROSS JOIN lossless_message l ON l.message_id = m.message_id
                WHERE m.conversation_id = ? AND {_IN_ORDER} ORDER BY m.seq DESC LIMIT ?""",
                (self._conversation, count),
            ).fetchall()
            bare = []
            for row in rows:
                if not row[-1]:
                    break
                bare.append(row[:-1])
            return _rows(connection, bare[::-1])

    def _select(self, condition: str, seq: int, count: int) -> list[Row]:
        with self._database.read() as connection:
            rows = connection.execute(
                f"""SELECT {_ROW} FROM messages m
                CROSS JOIN lossless_message l ON l.message_id = m.message_id
                WHERE m.conversation_id = ? AND {_IN_ORDER} AND {condition} LIMIT ?""",
                (self._conversation, seq, count),
            ).fetchall()
            return _rows(connection, rows)


def _rows(connection: sqlite3.Connection, rows: Sequence[tuple[Any, ...]]) -> list[Row]:
    tools = tool_ids(connection, [int(row[0]) for row in rows if row[5]])
    return [
        Row(message, seq, identity, role, size, " ".join(tools.get(message, ())))
        for message, seq, identity, role, size, _ in rows
    ]


def tool_ids(connection: sqlite3.Connection, messages: Sequence[int]) -> dict[int, list[str]]:
    """Return the tool call ids in the parts of each of *messages*, in order."""
    found: dict[int, list[str]] = {}
    if messages:
        rows = connection.execute(
            """SELECT p.message_id, coalesce(p.tool_call_id, '') FROM json_each(?) j
            CROSS JOIN message_parts p ON p.message_id = j.value
            WHERE p.part_type = 'tool' ORDER BY p.message_id, p.ordinal""",
            (json.dumps(list(messages)),),
        )
        for message, call_id in rows:
            found.setdefault(message, []).append(call_id)
    return found
