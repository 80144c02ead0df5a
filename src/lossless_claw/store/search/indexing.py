"""Filling the search indexes: full text with every message, the substring indexes by a job.

Apart from `search`, which asks: a turn pays for no import of what only questions need.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from lossless_claw.message.encoding import storable
from lossless_claw.store.search import cjk
from lossless_claw.store.search import rows as search_rows
from lossless_claw.store.search.rows import Indexes
from lossless_claw.store.search.text import indexed_text
from lossless_claw.store.sqlite import Database

MERGE_PAGES = 1_000
"""Pages of the full-text index that one `catch_up` writes at most while it merges."""


class Indexing:
    """What goes into the search indexes of one database. Safe to share between threads."""

    def __init__(self, database: Database):
        self._database = database

    def add_messages(self, connection: sqlite3.Connection, rows: Sequence[tuple[int, str]]) -> None:
        """Index messages for full text: id and search text, inside the caller's transaction."""
        if not self._database.has_fts5:
            return
        indexed = [(message, indexed_text(storable(text))) for message, text in rows]
        connection.executemany(
            "INSERT INTO messages_fts(rowid, content) VALUES (?, ?)",
            [(message, text) for message, text in indexed if text],
        )

    def add_summary(self, connection: sqlite3.Connection, summary: str, text: str) -> None:
        """Index a summary, inside the caller's transaction."""
        if not self._database.has_fts5:
            return
        content = storable(text)
        connection.execute(
            "INSERT INTO summaries_fts(summary_id, content) VALUES (?, ?)", (summary, content)
        )
        if self._database.has_trigram:
            connection.execute(
                "INSERT INTO summaries_fts_cjk(summary_id, content) VALUES (?, ?)",
                (summary, _for_trigrams(content)),
            )

    def catch_up(self, limit: int = 256) -> int:
        """Index the next *limit* messages by trigram and CJK token; return the lag left.

        The full-text index, which grows with every commit, is merged a bounded step further.

        The lag is a distance of message ids: 0 when nothing is left, else at least the number of
        messages left. A search is complete at any lag, only slower.
        """
        if not self._database.has_fts5:
            return 0
        with self._database.transaction() as connection:
            found = search_rows.usable(connection, self._database)
            if not found.grams:
                return 0
            reached = _fill(connection, found, limit)
            if found.words:
                connection.execute(
                    "INSERT INTO messages_fts(messages_fts, rank) VALUES ('merge', ?)",
                    (MERGE_PAGES,),
                )
            return max(0, search_rows.newest(connection) - reached)

    def lag(self) -> int:
        """Return how far the trigram and CJK indexes are behind, as `catch_up` does; fills none."""
        with self._database.read() as connection:
            found = search_rows.usable(connection, self._database)
            return max(0, search_rows.newest(connection) - found.watermark) if found.grams else 0


def _fill(connection: sqlite3.Connection, found: Indexes, limit: int) -> int:
    """Index the next messages above the watermark and move it; return where it is now."""
    rows = connection.execute(
        "SELECT message_id FROM messages WHERE message_id > ? ORDER BY message_id LIMIT ?",
        (found.watermark, limit),
    ).fetchall()
    if not rows:
        return found.watermark
    loaded = search_rows.load(connection, [row[0] for row in rows]).values()
    if found.trigrams:
        connection.executemany(
            "INSERT INTO lossless_trigram(rowid, c) VALUES (?, ?)",
            [(row.id, _for_trigrams(row.text)) for row in loaded],
        )
    tokens = [(row.id, cjk.index_tokens(row.text)) for row in loaded]
    connection.executemany(
        "INSERT INTO lossless_cjk(rowid, c) VALUES (?, ?)", [pair for pair in tokens if pair[1]]
    )
    connection.execute(
        "INSERT OR REPLACE INTO lossless_meta(name, value) VALUES (?, ?)",
        (search_rows.WATERMARK, rows[-1][0]),
    )
    return int(rows[-1][0])


def _for_trigrams(text: str) -> str:
    # The trigram tokenizer stops at a NUL.
    return text.replace("\0", "\ufffd")
