"""Figures over many rows: of the whole file, and of one conversation. Reads only.

The census of a big file costs little because it counts through indexes and takes the context's
figures from running totals; what would need a full scan is left out and said to be unknown.
"""

from __future__ import annotations

import sqlite3
from typing import Any

from lossless_claw.store.listing.listed import (
    ContextCounts,
    ConversationCounts,
    DepthCounts,
    Identity,
    Limits,
    ListedConversation,
    MaintenanceCounts,
    MessageCounts,
    Status,
    SummaryCounts,
)
from lossless_claw.store.listing.views import Views

SUMMED_MESSAGES = 20_000
"""Up to so many messages the census sums up tokens that no running total holds."""

Row = tuple[Any, ...]


def census(connection: sqlite3.Connection, views: Views) -> Status:
    """Return the database in figures."""
    return Status(
        conversations=ConversationCounts(*_one(connection, _CONVERSATIONS, views.conversation)),
        messages=_messages(connection, views),
        summaries=_summaries(connection, views),
        context=_context(connection, views),
        maintenance=MaintenanceCounts(*_one(connection, _MAINTENANCE, views.maintenance)),
    )


def _one(connection: sqlite3.Connection, statement: str, *parts: str, **values: object) -> Row:
    prefix = f"WITH {', '.join(parts)} " if parts else ""
    row: Row = connection.execute(prefix + statement, values).fetchone()
    return row


_CONVERSATIONS = "SELECT count(*), coalesce(sum(active = 1), 0) FROM conversation"

_MAINTENANCE = """
SELECT coalesce(sum(pending <> 0), 0), coalesce(sum(running <> 0), 0),
       coalesce(sum(trim(coalesce(last_failure_summary, '')) <> ''), 0)
  FROM maintenance
"""


def _messages(connection: sqlite3.Connection, views: Views) -> MessageCounts:
    (count,) = _one(connection, "SELECT count(*) FROM messages")
    kept, tokens = _one(connection, _KEPT) if views.has_totals else (-1, None)
    if kept != count:
        tokens = None
        if count <= SUMMED_MESSAGES:
            statement = "SELECT coalesce(sum(tokens), 0) FROM message"
            (tokens,) = _one(connection, statement, views.message)
    first, last = _one(connection, _MESSAGE_SPAN)
    return MessageCounts(count, tokens, first, last)


_KEPT = "SELECT coalesce(sum(stored), 0), coalesce(sum(stored_tokens), 0) FROM lossless_context"

# The first and the last row of each conversation, through the index on (conversation_id, seq).
_MESSAGE_SPAN = """
WITH ends AS (
  SELECT (SELECT created_at FROM messages AS m WHERE m.conversation_id = c.conversation_id
           ORDER BY seq LIMIT 1) AS first_at,
         (SELECT created_at FROM messages AS m WHERE m.conversation_id = c.conversation_id
           ORDER BY seq DESC LIMIT 1) AS last_at
    FROM conversations AS c)
SELECT (SELECT first_at FROM ends WHERE first_at IS NOT NULL ORDER BY julianday(first_at) LIMIT 1),
       (SELECT last_at FROM ends WHERE last_at IS NOT NULL
         ORDER BY julianday(last_at) DESC LIMIT 1)
"""


def _summaries(connection: sqlite3.Connection, views: Views) -> SummaryCounts:
    depths = connection.execute(f"WITH {views.summary} {_BY_DEPTH}")
    rows = tuple(DepthCounts(*row) for row in depths)
    source, first, last = _one(connection, _SUMMARY_SPAN, views.summary)
    return SummaryCounts(
        sum(row.count for row in rows), sum(row.tokens for row in rows), source, first, last, rows
    )


_BY_DEPTH = """
SELECT kind, depth, count(*), sum(tokens) FROM summary GROUP BY depth, kind ORDER BY depth, kind
"""

_SUMMARY_SPAN = """
SELECT coalesce(sum(CASE kind WHEN 'leaf' THEN source_message_token_count END), 0),
       (SELECT earliest_at FROM summaries WHERE earliest_at IS NOT NULL
         ORDER BY julianday(earliest_at) LIMIT 1),
       (SELECT latest_at FROM summaries WHERE latest_at IS NOT NULL
         ORDER BY julianday(latest_at) DESC LIMIT 1)
  FROM summary
"""


def _context(connection: sqlite3.Connection, views: Views) -> ContextCounts:
    ids = [row[0] for row in connection.execute("SELECT conversation_id FROM conversations")]
    figures = [context_totals(connection, views, one) for one in ids]
    return ContextCounts(sum(f[0] for f in figures), sum(f[1] for f in figures))


def context_totals(
    connection: sqlite3.Connection, views: Views, conversation_id: int
) -> tuple[int, int]:
    """Return items and tokens of a conversation's context, from the running totals if kept."""
    if views.has_totals:
        row = connection.execute(_RUNNING, (conversation_id,)).fetchone()
        if row is not None:
            return int(row[0]), int(row[1])
    parts = (views.item, views.message, views.summary)
    items, tokens = _one(connection, _CONTEXT, *parts, conversation=conversation_id)
    return int(items), int(tokens)


_RUNNING = "SELECT items, tokens FROM lossless_context WHERE conversation = ?"

_CONTEXT = """
SELECT count(*), coalesce(sum(coalesce(
         (SELECT tokens FROM message WHERE message.message_id = item.message_id),
         (SELECT tokens FROM summary WHERE summary.summary_id = item.summary_id), 0)), 0)
  FROM item WHERE conversation_id = :conversation
"""


def message_totals(
    connection: sqlite3.Connection, views: Views, conversation_id: int
) -> tuple[int, int]:
    """Return how many messages a conversation has and their tokens. Reads all its rows."""
    count, tokens = _one(connection, _TOTALS, views.message, conversation=conversation_id)
    return int(count), int(tokens)


_TOTALS = """
SELECT count(*), coalesce(sum(tokens), 0) FROM message WHERE conversation_id = :conversation
"""


def figures(
    connection: sqlite3.Connection, views: Views, identity: Identity, tail: Limits
) -> ListedConversation:
    """Return a conversation with its figures; *tail* says what its fresh tail is."""
    values = {"conversation": identity.conversation_id}
    messages, message_tokens = message_totals(connection, views, identity.conversation_id)
    earliest, latest = _one(connection, _ENDS, **values)
    summaries = _one(connection, _SUMMARY_FIGURES, views.summary, **values)
    items, tokens = context_totals(connection, views, identity.conversation_id)
    tail_messages, tail_tokens = _tail(connection, views, identity.conversation_id, tail)
    fields = [
        *(getattr(identity, name) for name in Identity.__struct_fields__),
        *(messages, message_tokens, earliest, latest),
        *summaries,
        *(items, tokens, tail_messages, tail_tokens),
    ]
    return ListedConversation(*fields)


_ENDS = """
SELECT (SELECT created_at FROM messages WHERE conversation_id = :conversation
         ORDER BY seq LIMIT 1),
       (SELECT created_at FROM messages WHERE conversation_id = :conversation
         ORDER BY seq DESC LIMIT 1)
"""

_SUMMARY_FIGURES = """
SELECT count(*), coalesce(sum(tokens), 0),
       coalesce(sum(CASE kind WHEN 'leaf' THEN source_message_token_count END), 0),
       (SELECT earliest_at FROM summaries
         WHERE conversation_id = :conversation AND earliest_at IS NOT NULL
         ORDER BY julianday(earliest_at) LIMIT 1),
       (SELECT latest_at FROM summaries
         WHERE conversation_id = :conversation AND latest_at IS NOT NULL
         ORDER BY julianday(latest_at) DESC LIMIT 1),
       max(depth)
  FROM summary WHERE conversation_id = :conversation
"""


def _tail(
    connection: sqlite3.Connection, views: Views, conversation_id: int, limits: Limits
) -> tuple[int, int]:
    rows = tail_rows(connection, views, conversation_id, limits, columns="m.tokens")
    return len(rows), sum(row[-1] for row in rows)


def tail_rows(
    connection: sqlite3.Connection,
    views: Views,
    conversation_id: int,
    limits: Limits,
    *,
    columns: str,
) -> list[Row]:
    """Return the rows of the fresh tail, newest first; the last of *columns* is the tokens.

    The newest is always taken; the walk ends at the first that would break the token cap.
    """
    found = connection.execute(
        f"WITH {views.item}, {views.message} SELECT {columns}"
        " FROM item AS i CROSS JOIN message AS m ON m.message_id = i.message_id"
        " WHERE i.conversation_id = :conversation ORDER BY i.ordinal DESC LIMIT :count",
        {"conversation": conversation_id, "count": limits.count},
    )
    chosen: list[Row] = []
    total = 0
    for row in found:
        total += row[-1]
        if chosen and limits.max_tokens is not None and total > limits.max_tokens:
            break
        chosen.append(row)
    return chosen
