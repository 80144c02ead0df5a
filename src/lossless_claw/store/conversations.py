"""Rows of `conversations`, and the one row of ours beside each (spec store-and-ingest 4.1)."""

from __future__ import annotations

import sqlite3
from typing import Any

from msgspec import Struct

from lossless_claw.errors import ConversationNotFoundError, UsageError
from lossless_claw.message.encoding import storable
from lossless_claw.model import Conversation
from lossless_claw.store.sqlite import Database

_COLUMNS = """conversation_id, session_id, session_key, active, archived_at, archive_cause, title,
 bootstrapped_at, created_at, updated_at"""


class Running(Struct, frozen=True):
    """What a turn needs to know of a conversation: running totals and the settings of its context.

    `tokens` and `items` are of the context items (head excluded), `stored` counts all messages.
    """

    tokens: int = 0
    items: int = 0
    stored: int = 0
    first: int = 0
    head: str = "[]"
    cut: int | None = None
    cut_budget: int | None = None
    budget: int | None = None
    overhead: int = 0
    ambiguous: int = 0
    conflicts: int = 0
    head_tokens: int = 0

    @property
    def context_tokens(self) -> int:
        """Tokens of the whole context: items, system head and overhead."""
        return self.tokens + self.head_tokens + self.overhead


class Conversations:
    """The conversations of one database."""

    def __init__(self, database: Database):
        self._database = database

    def get(self, conversation: int) -> Conversation:
        """Return the conversation.

        Raises:
            ConversationNotFoundError: If there is none with this id.
        """
        with self._database.read() as connection:
            row = connection.execute(
                f"SELECT {_COLUMNS} FROM conversations WHERE conversation_id = ?", (conversation,)
            ).fetchone()
        if row is None:
            raise ConversationNotFoundError(
                f"no conversation {conversation}", conversationId=conversation
            )
        return _conversation(row)

    def newest(self, session_key: str) -> Conversation | None:
        """Return the conversation of the key, active or not: active first, then the newest."""
        with self._database.read() as connection:
            row = connection.execute(
                f"""SELECT {_COLUMNS} FROM conversations WHERE session_key = ?
                ORDER BY active DESC, created_at DESC, conversation_id DESC LIMIT 1""",
                (storable(session_key),),
            ).fetchone()
        return None if row is None else _conversation(row)

    def get_or_create(self, session_key: str | None, session_id: str | None) -> Conversation:
        """Return the active conversation of the key or id; it exists afterwards.

        A row of the key follows the session id it is asked for with. A row of the id without a
        key takes the key; one with another key is left alone. Blank counts as absent.

        Raises:
            UsageError: If neither is given: conversations without a name would be one family.
        """
        session_key, session_id = _name(session_key), _name(session_id)
        if session_key is None and session_id is None:
            raise UsageError("a conversation needs a session key or a session id")
        with self._database.writing() as connection:
            row = _find(connection, session_key, session_id)
            found = _insert(connection, session_key, session_id) if row is None else row[:3]
            _settle(connection, found, session_key, session_id)
            return self.get(found[0])

    def family(self, conversation: int) -> tuple[int, ...]:
        """Return all conversations of the same key (or id, without a key): active, then newest."""
        one = self.get(conversation)
        column, value = (
            ("session_key", one.session_key) if one.session_key else ("session_id", one.session_id)
        )
        with self._database.read() as connection:
            rows = connection.execute(
                f"""SELECT conversation_id FROM conversations WHERE {column} = ?
                ORDER BY active DESC, created_at DESC, conversation_id DESC""",
                (value,),
            ).fetchall()
        return tuple(row[0] for row in rows)

    def all_ids(self) -> list[int]:
        """Return the ids of all conversations, oldest first."""
        with self._database.read() as connection:
            rows = connection.execute(
                "SELECT conversation_id FROM conversations ORDER BY conversation_id"
            ).fetchall()
        return [row[0] for row in rows]

    def running(self, conversation: int) -> Running:
        """Return the running totals and context settings of the conversation."""
        with self._database.read() as connection:
            row = connection.execute(
                """SELECT tokens, items, stored, first, head, cut, cut_budget, budget, overhead,
                ambiguous, conflicts, CASE head WHEN '[]' THEN 0 ELSE (SELECT
                coalesce(sum(l.tokens), 0) FROM json_each(head) j CROSS JOIN lossless_message l
                ON l.message_id = j.value) END FROM lossless_context WHERE conversation = ?""",
                (conversation,),
            ).fetchone()
        return Running() if row is None else Running(*row)

    def set_title(self, conversation: int, title: str) -> None:
        """Name the conversation, unless it has a title."""
        with self._database.writing() as connection:
            connection.execute(
                "UPDATE conversations SET title = ? WHERE conversation_id = ? AND title IS NULL",
                (title, conversation),
            )

    def set_budget(self, conversation: int, budget: int) -> None:
        """Remember the budget last given for the conversation, in tokens (design 5)."""
        with self._database.writing() as connection:
            connection.execute(
                "UPDATE lossless_context SET budget = ? WHERE conversation = ?",
                (budget, conversation),
            )

    def set_overhead(self, conversation: int, overhead: int) -> None:
        """Remember what a request holds beside our list, in tokens (design 5)."""
        with self._database.writing() as connection:
            connection.execute(
                "UPDATE lossless_context SET overhead = ? WHERE conversation = ?",
                (overhead, conversation),
            )

    def set_cut(self, conversation: int, cut: int | None, budget: int | None) -> None:
        """Store the cut, an ordinal, and the budget in tokens that it was made for (design 6)."""
        with self._database.writing() as connection:
            connection.execute(
                "UPDATE lossless_context SET cut = ?, cut_budget = ? WHERE conversation = ?",
                (cut, budget, conversation),
            )

    def count(self, conversation: int, *, ambiguous: int = 0, conflicts: int = 0) -> None:
        """Add to the counts that status shows."""
        if ambiguous or conflicts:
            with self._database.writing() as connection:
                connection.execute(
                    """UPDATE lossless_context SET ambiguous = ambiguous + ?,
                    conflicts = conflicts + ? WHERE conversation = ?""",
                    (ambiguous, conflicts, conversation),
                )


def _name(given: str | None) -> str | None:
    return storable(given).strip() or None if given else None


def _find(
    connection: sqlite3.Connection, session_key: str | None, session_id: str | None
) -> tuple[Any, ...] | None:
    if session_key:
        row = connection.execute(
            f"SELECT {_COLUMNS} FROM conversations WHERE session_key = ? AND active = 1",
            (session_key,),
        ).fetchone()
        if row is not None:
            return tuple(row)
    if not session_id:
        return None
    rows = connection.execute(
        f"""SELECT {_COLUMNS} FROM conversations WHERE session_id = ? AND active = 1
        ORDER BY created_at DESC, conversation_id DESC""",
        (session_id,),
    ).fetchall()
    fitting = (row for row in rows if session_key is None or row[2] in (None, session_key))
    return next(fitting, None)


def _insert(
    connection: sqlite3.Connection, session_key: str | None, session_id: str | None
) -> tuple[Any, ...]:
    name = session_id or session_key or ""
    cursor = connection.execute(
        "INSERT INTO conversations(session_id, session_key) VALUES (?, ?)", (name, session_key)
    )
    return cursor.lastrowid, name, session_key


def _settle(
    connection: sqlite3.Connection,
    row: tuple[Any, ...],
    session_key: str | None,
    session_id: str | None,
) -> None:
    conversation, old_id, old_key = row
    if session_key and old_key is None:
        connection.execute(
            "UPDATE conversations SET session_key = ? WHERE conversation_id = ?",
            (session_key, conversation),
        )
    if session_id and session_id != old_id:
        connection.execute(
            """UPDATE conversations SET session_id = ?, updated_at = datetime('now')
            WHERE conversation_id = ?""",
            (session_id, conversation),
        )
    connection.execute(
        "INSERT OR IGNORE INTO lossless_context(conversation) VALUES (?)", (conversation,)
    )


def _conversation(row: tuple[Any, ...]) -> Conversation:
    i, session_id, session_key, active, *rest = row
    return Conversation(i, session_id, session_key, bool(active), *rest)
