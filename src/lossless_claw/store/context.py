"""The ordered context items of a conversation: read, replaced by summaries, taken out, put back.

Ordinals are sparse: a summary stands at the first ordinal of what it replaces and the rest of
the range stays free, so that its sources can come back in their places. Running totals are kept
in the same transaction (G9).
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from typing import Any

from lossless_claw.message.projection import CALLS, RESULTS
from lossless_claw.message.text import CALL_TYPES
from lossless_claw.model import Item, Outside
from lossless_claw.store.sqlite import Database

_ITEM = """c.ordinal, c.message_id, c.summary_id, coalesce(l.tokens, m.token_count), m.role,
 coalesce(l.flags, 0), s.depth, coalesce(h.tokens, s.token_count)"""
_FROM = """context_items c LEFT JOIN messages m ON m.message_id = c.message_id
 LEFT JOIN lossless_message l ON l.message_id = c.message_id
 LEFT JOIN summaries s ON s.summary_id = c.summary_id
 LEFT JOIN lossless_summary h ON h.summary_id = c.summary_id"""
_PAGE = 256


class ContextItems:
    """The context items of one database."""

    def __init__(self, database: Database):
        self._database = database

    # -- reading -------------------------------------------------------------------------

    def items(self, conversation: int) -> list[Item]:
        """Return every context item, oldest first. Its cost follows their number."""
        with self._database.read() as connection:
            return _select(connection, conversation, "c.ordinal >= 0 ORDER BY c.ordinal")

    def leading_summaries(self, conversation: int) -> list[Item]:
        """Return the summary items that open the context, oldest first."""
        with self._database.read() as connection:
            first = connection.execute(
                """SELECT ordinal FROM context_items WHERE conversation_id = ? AND ordinal >= 0
                AND item_type = 'message' ORDER BY ordinal LIMIT 1""",
                (conversation,),
            ).fetchone()
            end = first[0] if first else 1 << 62
            return _select(
                connection, conversation, "c.ordinal >= 0 AND c.ordinal < ? ORDER BY c.ordinal", end
            )

    def newest(self, conversation: int, tokens: int, from_ordinal: int | None) -> list[Item]:
        """Return the newest items, oldest first: at least *tokens*, and all from *from_ordinal* on.

        Pages backwards, so that the cost follows what is returned.
        """
        pages: list[list[Item]] = []
        total, end = 0, 1 << 62
        with self._database.read() as connection:
            while True:
                page = _select(
                    connection,
                    conversation,
                    "c.ordinal < ? ORDER BY c.ordinal DESC LIMIT ?",
                    end,
                    _PAGE,
                )[::-1]
                pages.append(page)
                total += sum(item.tokens for item in page)
                reaches = from_ordinal is None or not page or page[0].ordinal <= from_ordinal
                is_enough = total >= tokens and reaches
                if len(page) < _PAGE or is_enough:
                    return [item for page in reversed(pages) for item in page]
                end = page[0].ordinal

    def newest_user(self, conversation: int, before: int) -> Item | None:
        """Return the newest user message among the items before ordinal *before*."""
        with self._database.read() as connection:
            found = _select(
                connection, conversation,
                """c.ordinal < ? AND m.role = 'user' AND coalesce(l.flags, 0) & 2 = 0
                ORDER BY c.ordinal DESC LIMIT 1""", before,
            )  # fmt: skip
        return found[0] if found else None

    # -- writing -------------------------------------------------------------------------

    def take_out(self, conversation: int, after_seq: int, reason: Outside) -> list[int]:
        """Take every row after seq *after_seq* out of the context; return the message ids.

        The rows stay stored and searchable, marked with *reason* and the row before them. A
        summary that covers both sides is replaced by its sources, down to the fork (design 4).
        """
        with self._database.writing() as connection:
            _split(connection, conversation, after_seq)
            _remove(
                connection, conversation,
                """c.message_id IN (SELECT message_id FROM messages
                WHERE conversation_id = ? AND seq > ?)""", conversation, after_seq,
            )  # fmt: skip
            return _mark_out(connection, conversation, after_seq, reason)

    def bring_back(self, conversation: int, messages: Sequence[int], now: str) -> None:
        """Put rows that were taken out at the end of the context again, in the order given."""
        with self._database.writing() as connection:
            (ordinal,) = connection.execute(
                "SELECT coalesce(max(ordinal), -1) FROM context_items WHERE conversation_id = ?",
                (conversation,),
            ).fetchone()
            connection.executemany(
                """UPDATE lossless_message SET outside = NULL, after = NULL WHERE message_id = ?""",
                [(message,) for message in messages],
            )
            connection.executemany(
                """INSERT INTO context_items(conversation_id, ordinal, item_type, message_id,
                created_at) VALUES (?, ?, 'message', ?, ?)""",
                [
                    (conversation, ordinal + n, message, now)
                    for n, message in enumerate(messages, 1)
                ],
            )
            _recount(connection, conversation)

    def set_outside(self, message: int, reason: Outside) -> None:
        """Say why a row of the conversation is not in the context."""
        with self._database.writing() as connection:
            connection.execute(
                "UPDATE lossless_message SET outside = ?, after = NULL WHERE message_id = ?",
                (reason, message),
            )

    def set_head(self, conversation: int, messages: Sequence[int]) -> None:
        """Say which messages are the newest system head."""
        with self._database.writing() as connection:
            connection.execute(
                "UPDATE lossless_context SET head = ? WHERE conversation = ?",
                (json.dumps(list(messages)), conversation),
            )

    def set_first(self, conversation: int, seq: int) -> None:
        """Remember the row at which the last list began (spec alignment)."""
        with self._database.writing() as connection:
            connection.execute(
                "UPDATE lossless_context SET first = ? WHERE conversation = ?", (seq, conversation)
            )


def _select(
    connection: sqlite3.Connection, conversation: int, condition: str, *values: object
) -> list[Item]:
    rows = connection.execute(
        f"SELECT {_ITEM} FROM {_FROM} WHERE c.conversation_id = ? AND {condition}",
        (conversation, *values),
    ).fetchall()
    flagged = {row[1]: row[5] for row in rows if row[1] is not None and row[5]}
    tools = _tools(connection, flagged)
    return [_item(row, tools) for row in rows]


def _item(row: tuple[Any, ...], tools: dict[int, tuple[list[str], list[str]]]) -> Item:
    ordinal, message, summary, tokens, role, flags, depth, summary_tokens = row
    if summary is not None:
        return Item(ordinal, summary, summary_tokens, "summary", depth)
    calls, results = tools.get(message, ([], []))
    shown = "tool" if int(flags) & RESULTS else role
    return Item(ordinal, message, tokens, shown, None, tuple(calls), tuple(results))


def _tools(
    connection: sqlite3.Connection, flagged: dict[int, int]
) -> dict[int, tuple[list[str], list[str]]]:
    """Return the ids of the calls and of the results of each flagged message, in order."""
    found: dict[int, tuple[list[str], list[str]]] = {m: ([], []) for m in flagged}
    if not flagged:
        return found
    rows = connection.execute(
        """SELECT p.message_id, coalesce(p.tool_call_id, ''), p.metadata FROM json_each(?) j
        CROSS JOIN message_parts p ON p.message_id = j.value
        WHERE p.part_type = 'tool' ORDER BY p.message_id, p.ordinal""",
        (json.dumps(list(flagged)),),
    )
    for message, call_id, metadata in rows:
        flags = flagged[message]
        is_call = flags == CALLS or (flags != RESULTS and _is_call(metadata))
        found[message][0 if is_call else 1].append(call_id)
    for message, (_, results) in found.items():
        if flagged[message] & RESULTS and not results:
            results.append("")
    return found


def _is_call(metadata: str | None) -> bool:
    return json.loads(metadata or "{}").get("rawType") in CALL_TYPES


def _remove(
    connection: sqlite3.Connection, conversation: int, condition: str, *values: object
) -> None:
    """Delete the items that *condition* names and lower the running totals by them."""
    rows = connection.execute(
        f"""SELECT c.ordinal, coalesce(l.tokens, h.tokens, m.token_count, s.token_count, 0)
        FROM {_FROM} WHERE c.conversation_id = ? AND {condition}""",
        (conversation, *values),
    ).fetchall()
    connection.executemany(
        "DELETE FROM context_items WHERE conversation_id = ? AND ordinal = ?",
        [(conversation, ordinal) for ordinal, _ in rows],
    )
    connection.execute(
        "UPDATE lossless_context SET tokens = tokens - ?, items = items - ? WHERE conversation = ?",
        (sum(tokens for _, tokens in rows), len(rows), conversation),
    )


def _mark_out(
    connection: sqlite3.Connection, conversation: int, after_seq: int, reason: Outside
) -> list[int]:
    rows = connection.execute(
        """SELECT m.message_id FROM messages m CROSS JOIN lossless_message l
        ON l.message_id = m.message_id WHERE m.conversation_id = ? AND m.seq > ?
        AND (l.outside IS NULL OR l.outside IN ('noise', 'role')) ORDER BY m.seq""",
        (conversation, after_seq),
    ).fetchall()
    (before,) = connection.execute(
        """SELECT coalesce(max(message_id), 0) FROM messages
        WHERE conversation_id = ? AND seq = ?""",
        (conversation, after_seq),
    ).fetchone()
    ids = [row[0] for row in rows]
    connection.executemany(
        "UPDATE lossless_message SET outside = ?, after = ? WHERE message_id = ?",
        [(reason, previous, i) for previous, i in zip([before, *ids], ids, strict=False)],
    )
    return ids


# A summary's span of seqs, over every message below it.
_SPAN = """WITH RECURSIVE below(id) AS (SELECT ? UNION
 SELECT p.parent_summary_id FROM summary_parents p JOIN below b ON p.summary_id = b.id)
 SELECT min(m.seq), max(m.seq) FROM below b
 CROSS JOIN summary_messages s ON s.summary_id = b.id
 CROSS JOIN messages m ON m.message_id = s.message_id"""


def _split(connection: sqlite3.Connection, conversation: int, after_seq: int) -> None:
    """Replace every summary item that reaches past *after_seq* by its sources, down to the fork."""
    rows = connection.execute(
        """SELECT ordinal, summary_id FROM context_items
        WHERE conversation_id = ? AND summary_id IS NOT NULL ORDER BY ordinal DESC""",
        (conversation,),
    ).fetchall()
    for ordinal, summary in rows:
        _, last = connection.execute(_SPAN, (summary,)).fetchone()
        if last is None or last <= after_seq:
            break
        _remove(connection, conversation, "c.ordinal = ?", ordinal)
        messages, summaries = _kept(connection, summary, after_seq)
        _put_sources(connection, conversation, ordinal, [*summaries, *messages])
    _recount(connection, conversation)


def _kept(
    connection: sqlite3.Connection, summary: str, after_seq: int
) -> tuple[list[int], list[str]]:
    """Return what of *summary* lies before the fork: raw messages and whole summaries, in order."""
    messages: list[int] = []
    summaries: list[str] = []
    sources = connection.execute(
        "SELECT parent_summary_id FROM summary_parents WHERE summary_id = ? ORDER BY ordinal",
        (summary,),
    ).fetchall()
    for (source,) in sources:
        first, last = connection.execute(_SPAN, (source,)).fetchone()
        if last is not None and last <= after_seq:
            summaries.append(source)
        elif first is not None and first <= after_seq:
            inner_messages, inner = _kept(connection, source, after_seq)
            messages, summaries = messages + inner_messages, summaries + inner
    rows = connection.execute(
        """SELECT s.message_id FROM summary_messages s
        JOIN messages m ON m.message_id = s.message_id
        WHERE s.summary_id = ? AND m.seq <= ? ORDER BY s.ordinal""",
        (summary, after_seq),
    ).fetchall()
    return messages + [row[0] for row in rows], summaries


def _put_sources(
    connection: sqlite3.Connection, conversation: int, start: int, sources: Sequence[int | str]
) -> None:
    """Insert *sources* from ordinal *start* on, making room where upstream closed the gap."""
    (following,) = connection.execute(
        "SELECT min(ordinal) FROM context_items WHERE conversation_id = ? AND ordinal >= ?",
        (conversation, start),
    ).fetchone()
    if following is not None and following < start + len(sources):
        _shift(connection, conversation, following, start + len(sources) - following)
    for n, source in enumerate(sources):
        is_message = isinstance(source, int)
        connection.execute(
            """INSERT INTO context_items
            (conversation_id, ordinal, item_type, message_id, summary_id)
            VALUES (?, ?, ?, ?, ?)""",
            (conversation, start + n, "message" if is_message else "summary",
             source if is_message else None, None if is_message else source),
        )  # fmt: skip


def _shift(connection: sqlite3.Connection, conversation: int, start: int, by: int) -> None:
    # Over negative numbers, so that the primary key holds at every row.
    connection.execute(
        """UPDATE context_items SET ordinal = -1 - (ordinal + ?)
        WHERE conversation_id = ? AND ordinal >= ?""",
        (by, conversation, start),
    )
    connection.execute(
        "UPDATE context_items SET ordinal = -1 - ordinal WHERE conversation_id = ? AND ordinal < 0",
        (conversation,),
    )


def _recount(connection: sqlite3.Connection, conversation: int) -> None:
    connection.execute(
        f"""UPDATE lossless_context SET (tokens, items) = (SELECT
        coalesce(sum(coalesce(l.tokens, h.tokens, m.token_count, s.token_count)), 0), count(*)
        FROM {_FROM} WHERE c.conversation_id = ?) WHERE conversation = ?""",
        (conversation, conversation),
    )
