"""A store of given texts, written with plain SQL, for the tests of searching."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import lossless_claw.store
from lossless_claw.store.search.indexing import Indexing
from lossless_claw.store.search.search import Search
from lossless_claw.store.sqlite import Database

SQL = Path(lossless_claw.store.__file__).parent / "sql"


def created(path: str = ":memory:", *, has_fts5: bool = True) -> tuple[Database, Search]:
    """An empty database with all tables; without the search tables when there is no FTS5."""
    database = Database(path)
    database.has_fts5 = database.has_fts5 and has_fts5
    database.has_trigram = database.has_trigram and has_fts5
    names = ("schema.sql", "search.sql") if has_fts5 else ("schema.sql",)
    with database.transaction() as connection:
        for name in names:
            for statement in re.sub(r"--.*", "", (SQL / name).read_text()).split(";"):
                connection.execute(statement)
        connection.execute(
            "INSERT INTO conversations(conversation_id, session_id) VALUES (1, 'a'), (2, 'b')"
        )
    return database, Search(database)


def write(
    database: Database,
    texts: Sequence[str],
    *,
    conversation: int = 1,
    times: Sequence[str] | None = None,
) -> list[int]:
    """Store user messages; return their ids."""
    ids = []
    with database.transaction() as connection:
        (seq,) = connection.execute(
            "SELECT coalesce(max(seq), 0) FROM messages WHERE conversation_id = ?", (conversation,)
        ).fetchone()
        for number, text in enumerate(texts):
            time = (
                times[number] if times else f"2026-01-01 00:{number // 60 % 60:02}:{number % 60:02}"
            )
            cursor = connection.execute(
                """INSERT INTO messages(conversation_id, seq, role, content, token_count, created_at)
                VALUES (?, ?, 'user', ?, 1, ?)""",
                (conversation, seq + number + 1, text, time),
            )
            ids.append(cursor.lastrowid)
            connection.execute(
                "INSERT INTO lossless_message(message_id, conversation, hash, tokens) VALUES (?, ?, x'00', 1)",
                (cursor.lastrowid, conversation),
            )
        Indexing(database).add_messages(connection, list(zip(ids, texts, strict=True)))
    return ids


def write_summary(
    database: Database,
    name: str,
    text: str,
    messages: Sequence[int] = (),
    *,
    conversation: int = 1,
) -> None:
    """Store a leaf over *messages*."""
    with database.transaction() as connection:
        connection.execute(
            """INSERT INTO summaries(summary_id, conversation_id, kind, content, token_count, created_at)
            VALUES (?, ?, 'leaf', ?, 1, '2026-01-02 00:00:00')""",
            (name, conversation, text),
        )
        connection.executemany(
            "INSERT INTO summary_messages(summary_id, message_id, ordinal) VALUES (?, ?, ?)",
            [(name, message, place) for place, message in enumerate(messages)],
        )
        Indexing(database).add_summary(connection, name, text)


def fill(database: Database) -> None:
    """Bring the trigram and CJK indexes up to date."""
    while Indexing(database).catch_up(100):
        pass
