"""What every kind of search reads: who may be seen, which indexes there are, rows and texts.

Nothing here decides what matches.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from datetime import UTC, datetime
from itertools import islice
from typing import Any

from msgspec import Struct

from lossless_claw.model import Match
from lossless_claw.store.search import ranking
from lossless_claw.store.search.text import Columns, joined
from lossless_claw.store.sqlite import Database

CHUNK = 128
END = 1 << 62
"""Larger than every message id."""

WATERMARK = "search_watermark"

_PART = """p.message_id, CASE p.part_type WHEN 'reasoning' THEN NULL ELSE p.text_content END,
 p.tool_input, p.tool_output"""
_HOLDS_TEXT = """(p.tool_input IS NOT NULL OR p.tool_output IS NOT NULL
 OR (p.text_content IS NOT NULL AND p.part_type <> 'reasoning'))"""


class Indexes(Struct, frozen=True):
    """Which search tables can be used, and up to which message ours are filled."""

    words: bool = False
    grams: bool = False
    trigrams: bool = False
    summary_words: bool = False
    summary_trigrams: bool = False
    has_side_table: bool = False
    watermark: int = 0


class Reach(Struct, frozen=True):
    """Which rows a search may see.

    `scope` is a JSON list of conversations, None for all of them; times are in UTC as SQLite
    writes them, from `since` on and before `before`.
    """

    scope: str | None = None
    since: str | None = None
    before: str | None = None

    @property
    def is_timed(self) -> bool:
        return self.since is not None or self.before is not None

    @property
    def is_everything(self) -> bool:
        return self.scope is None and not self.is_timed

    def parameters(self) -> dict[str, Any]:
        return {"scope": self.scope, "since": self.since, "before": self.before}

    def of_index(self, indexes: Indexes) -> tuple[str, str]:
        """Return join and condition for an index `f` whose rowid is a message id.

        The joins keep the index outside: the other order costs a search per message.
        """
        if self.is_everything:
            return "", ""
        if self.is_timed or not indexes.has_side_table:
            join = "CROSS JOIN messages m ON m.message_id = f.rowid"
            return join, self.of_messages()
        # A row that upstream wrote has no side row until it is caught up.
        return (
            "LEFT JOIN lossless_message l ON l.message_id = f.rowid",
            """AND coalesce(l.conversation,
            (SELECT conversation_id FROM messages WHERE message_id = f.rowid))
            IN (SELECT value FROM json_each(:scope))""",
        )

    def of_messages(self, *, by_conversation: bool = False) -> str:
        """Return the condition on `messages m`, to be driven by its conversation or by its id."""
        sign = "" if by_conversation else "+"
        return self._condition(f"{sign}m.conversation_id", "m.created_at")

    def of_summaries(self) -> str:
        """Return the condition on `summaries s`: a summary's time is its newest message's."""
        return self._condition("s.conversation_id", "coalesce(s.latest_at, s.created_at)")

    def _condition(self, conversation: str, time: str) -> str:
        pieces = []
        if self.scope is not None:
            pieces.append(f"AND {conversation} IN (SELECT value FROM json_each(:scope))")
        if self.since is not None:
            pieces.append(f"AND julianday({time}) >= julianday(:since)")
        if self.before is not None:
            pieces.append(f"AND julianday({time}) < julianday(:before)")
        return " ".join(pieces)


class Row(Struct, frozen=True):
    """A message with its search text."""

    id: int
    conversation: int
    seq: int
    role: str
    created_at: str
    text: str


def usable(connection: sqlite3.Connection, database: Database) -> Indexes:
    """Return which of the search tables are in this file and can be read by this SQLite."""
    has_fts5, has_trigram = database.has_fts5, database.has_trigram
    rows = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    names = {row[0] for row in rows}
    ours = has_fts5 and "lossless_meta" in names
    return Indexes(
        words=has_fts5 and "messages_fts" in names,
        grams=ours and "lossless_cjk" in names,
        trigrams=ours and has_trigram and "lossless_trigram" in names,
        summary_words=has_fts5 and "summaries_fts" in names,
        summary_trigrams=has_trigram and "summaries_fts_cjk" in names,
        has_side_table="lossless_message" in names,
        watermark=watermark(connection) if ours else 0,
    )


def watermark(connection: sqlite3.Connection) -> int:
    """Return the newest message that our indexes hold."""
    row = connection.execute(
        "SELECT value FROM lossless_meta WHERE name = ?", (WATERMARK,)
    ).fetchone()
    return int(row[0]) if row else 0


def newest(connection: sqlite3.Connection) -> int:
    """Return the newest message id; 0 without messages."""
    row = connection.execute("SELECT max(message_id) FROM messages").fetchone()
    return int(row[0] or 0)


def reach(
    connection: sqlite3.Connection,
    conversations: Sequence[int] | None,
    since: datetime | None,
    before: datetime | None,
) -> Reach:
    """Return the reach; a scope that holds every conversation is no restriction."""
    scope = None if conversations is None else json.dumps(sorted(set(conversations)))
    if scope is not None:
        row = connection.execute(
            """SELECT 1 FROM conversations
            WHERE conversation_id NOT IN (SELECT value FROM json_each(?)) LIMIT 1""",
            (scope,),
        ).fetchone()
        scope = scope if row or not conversations else None
    return Reach(scope, _stored(since), _stored(before))


def load(connection: sqlite3.Connection, ids: Iterable[int]) -> dict[int, Row]:
    """Return the messages with these ids, in that order, without those that are gone."""
    listed = json.dumps(list(ids))
    rows = connection.execute(
        """SELECT m.message_id, m.conversation_id, m.seq, m.role, m.created_at, m.content
        FROM json_each(?) i CROSS JOIN messages m ON m.message_id = i.value""",
        (listed,),
    ).fetchall()
    parts = _parts(connection, listed)
    return {
        i: Row(i, conversation, seq, role, time, joined(text, parts[i]) if i in parts else text)
        for i, conversation, seq, role, time, text in rows
    }


def texts_of(connection: sqlite3.Connection, ids: Iterator[int]) -> Iterator[tuple[int, str]]:
    """Yield id and search text of messages in the order of *ids*, reading a chunk at a time."""
    while chunk := list(islice(ids, CHUNK)):
        listed = json.dumps(chunk)
        rows = connection.execute(
            """SELECT m.message_id, m.content
            FROM json_each(?) i CROSS JOIN messages m ON m.message_id = i.value""",
            (listed,),
        ).fetchall()
        yield from _with_parts(rows, _parts(connection, listed))


def every_text(
    connection: sqlite3.Connection, within: Reach, *, below: int
) -> Iterator[tuple[int, str]]:
    """Yield id and search text of all messages within reach below an id, newest first.

    One statement over the messages in the order of their ids: for a reach without a scope.
    """
    statement = f"""SELECT m.message_id, m.content FROM messages m
        WHERE m.message_id < :below {within.of_messages()} ORDER BY m.message_id DESC"""
    with closing(connection.execute(statement, {**within.parameters(), "below": below})) as cursor:
        while rows := cursor.fetchmany(4 * CHUNK):
            yield from _with_parts(rows, _parts_between(connection, rows[-1][0], rows[0][0]))


def scan(connection: sqlite3.Connection, within: Reach, *, below: int, above: int) -> Iterator[int]:
    """Yield the messages within reach, newest first: above < id < below.

    The fallback of every search that no index answers, and its way through the rows that are
    not indexed yet. The statement reads no text.
    """
    # Without a scope, and for the short way above the watermark, ids in order; else the
    # conversations' own index, which is sorted once.
    is_short = within.scope is None or above > 0
    statement = f"""SELECT m.message_id FROM messages m
        WHERE {"" if is_short else "+"}m.message_id < :below AND m.message_id > :above
        {within.of_messages(by_conversation=not is_short)}
        ORDER BY m.message_id DESC"""
    values = {**within.parameters(), "below": below, "above": above}
    return stream(connection, statement, values)


def stream(
    connection: sqlite3.Connection, statement: str, values: Mapping[str, Any]
) -> Iterator[int]:
    """Yield the first column of a statement; the statement ends when the iterator is closed."""
    with closing(connection.execute(statement, values)) as cursor:
        for row in cursor:
            yield row[0]


def texts(connection: sqlite3.Connection, ids: Iterator[int], size: int = CHUNK) -> Iterator[Row]:
    """Yield the rows of *ids* in order, reading a chunk at a time."""
    while chunk := list(islice(ids, size)):
        yield from load(connection, chunk).values()


def _with_parts(
    rows: Iterable[tuple[int, str]], parts: Mapping[int, Sequence[Columns]]
) -> Iterator[tuple[int, str]]:
    if not parts:
        return iter(rows)
    return (row if row[0] not in parts else (row[0], joined(row[1], parts[row[0]])) for row in rows)


def _parts(connection: sqlite3.Connection, listed: str) -> dict[int, list[Columns]]:
    """Return the columns of the parts that hold text, by message, of a JSON list of ids."""
    return _by_message(
        connection.execute(
            f"""SELECT {_PART} FROM json_each(?) i
            CROSS JOIN message_parts p ON p.message_id = i.value
            WHERE {_HOLDS_TEXT} ORDER BY p.message_id, p.ordinal""",
            (listed,),
        )
    )


def _parts_between(
    connection: sqlite3.Connection, first: int, last: int
) -> dict[int, list[Columns]]:
    """Return the same of the messages from one id to another."""
    return _by_message(
        connection.execute(
            f"""SELECT {_PART} FROM message_parts p
            WHERE p.message_id BETWEEN ? AND ? AND {_HOLDS_TEXT}
            ORDER BY p.message_id, p.ordinal""",
            (first, last),
        )
    )


def _by_message(rows: Iterable[tuple[Any, ...]]) -> dict[int, list[Columns]]:
    found: dict[int, list[Columns]] = {}
    for message, text, tool_input, tool_output in rows:
        found.setdefault(message, []).append((text, tool_input, tool_output))
    return found


def neighbours(
    connection: sqlite3.Connection, within: Reach, ids: Sequence[int], ceiling: int
) -> list[tuple[int, int, int]]:
    """Return donor, receiver and distance: the short messages up to two places from each id."""
    return connection.execute(
        f"""SELECT d.message_id, m.message_id, abs(m.seq - d.seq)
        FROM json_each(:ids) i CROSS JOIN messages d ON d.message_id = i.value
        CROSS JOIN messages m ON m.conversation_id = d.conversation_id
          AND m.seq BETWEEN d.seq - 2 AND d.seq + 2
        WHERE m.message_id <> d.message_id AND m.message_id <= :ceiling
          AND length(m.content) <= {ranking.RECEIVER_LIMIT} {within.of_messages()}""",
        {**within.parameters(), "ids": json.dumps(ids), "ceiling": ceiling},
    ).fetchall()


def coverage(connection: sqlite3.Connection, ids: Iterable[int]) -> dict[int, str]:
    """Return the leaf summary that covers each message; the newest when several do."""
    return dict(
        connection.execute(
            """SELECT s.message_id, s.summary_id
            FROM json_each(?) i CROSS JOIN summary_messages s ON s.message_id = i.value
            ORDER BY s.rowid""",
            (json.dumps(list(ids)),),
        ).fetchall()
    )


def message_match(row: Row, snippet: str, covered_by: str | None, score: float | None) -> Match:
    """Return the hit of a message."""
    return Match(
        type="message",
        id=row.id,
        conversation=row.conversation,
        seq=row.seq,
        role=row.role,
        created_at=row.created_at,
        snippet=snippet,
        covered_by=covered_by,
        score=score,
    )


def epoch(time: str | None) -> float:
    """Return seconds since 1970 of a stored time (both formats; without a zone: UTC)."""
    try:
        parsed = datetime.fromisoformat(time or "")
    except ValueError:
        return 0.0
    return (parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)).timestamp()


def _stored(time: datetime | None) -> str | None:
    if time is None:
        return None
    moment = time if time.tzinfo else time.replace(tzinfo=UTC)
    return moment.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S.%f")[:-3]
