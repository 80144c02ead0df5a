"""Rows of messages and parts, and the one row of ours beside each: append, read, take out.

Whoever appends has projected the message before (`message.projection`): nothing is decided here.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from typing import Any

from lossless_claw.errors import StoreCorruptError
from lossless_claw.message.original import DamagedError, pack, restore
from lossless_claw.message.parts import content_of, single_text
from lossless_claw.message.projection import Projection
from lossless_claw.model import Message, Outside, Part, Raw
from lossless_claw.store.search.indexing import Indexing
from lossless_claw.store.search.text import search_text
from lossless_claw.store.sqlite import Database

_MESSAGE = """m.message_id, m.conversation_id, m.seq, m.role, m.content,
 coalesce(l.tokens, m.token_count), m.created_at, m.transcript_entry_id, l.outside, l.rest,
 coalesce(l.flags, 4) & 4 = 0"""
_PART = """p.message_id, p.part_type, p.text_content, p.tool_call_id, p.tool_name, p.tool_input,
 p.tool_output, p.metadata"""
_PAGE = 500


class Messages:
    """The messages of one database."""

    def __init__(self, database: Database, indexing: Indexing):
        self._database = database
        self._indexing = indexing

    # -- writing -------------------------------------------------------------------------

    def append(self, conversation: int, rows: Sequence[Projection], now: str) -> list[int]:
        """Store *rows* at the end of the conversation, in one transaction; return their ids.

        Those that may be shown become context items. *now* is the time of a row without one,
        as `YYYY-MM-DD HH:MM:SS`. The caller has made sure that no entry id is stored already.
        """
        if not rows:
            return []
        with self._database.writing() as connection:
            connection.execute(
                "UPDATE conversations SET updated_at = ? WHERE conversation_id = ?",
                (now, conversation),
            )
            first_id = _next_id(connection)
            seq, ordinal = _ends(connection, conversation)
            ids = list(range(first_id, first_id + len(rows)))
            _insert_messages(connection, conversation, ids, rows, seq, now)
            _insert_parts(connection, ids, rows)
            self._indexing.add_messages(
                connection,
                [
                    (i, search_text(row.content, row.parts))
                    for i, row in zip(ids, rows, strict=True)
                ],
            )
            _insert_items(connection, conversation, ids, rows, ordinal, now)
        return ids

    def stamp(
        self, message: int, entry_id: str, original: Raw | None, created_at: str | None
    ) -> None:
        """Give a row the id of its transcript entry, and a richer original where there is one."""
        with self._database.writing() as connection:
            connection.execute(
                """UPDATE messages SET transcript_entry_id = ?, created_at = coalesce(?, created_at)
                WHERE message_id = ?""",
                (entry_id, created_at, message),
            )
            if original is not None:
                self._repack(connection, message, original)

    def _repack(self, connection: sqlite3.Connection, message: int, original: Raw) -> None:
        role, content = connection.execute(
            "SELECT role, content FROM messages WHERE message_id = ?", (message,)
        ).fetchone()
        parts = _parts(connection, [message]).get(message, [])
        connection.execute(
            "UPDATE lossless_message SET rest = ? WHERE message_id = ?",
            (pack(original, role, content, parts, single_text(original)), message),
        )

    # -- reading -------------------------------------------------------------------------

    def load(self, ids: Sequence[int]) -> list[Message]:
        """Return the messages in the order asked for; unknown ids are left out.

        Raises:
            StoreCorruptError: If what is stored of one cannot be read.
        """
        found: dict[int, Message] = {}
        with self._database.read() as connection:
            for start in range(0, len(ids), _PAGE):
                found |= _load(connection, list(ids[start : start + _PAGE]))
        return [found[message] for message in ids if message in found]

    def walk(self, conversation: int, after_seq: int = 0) -> Iterator[Message]:
        """Yield every message of the conversation by seq, inside the context or not."""
        while True:
            with self._database.read() as connection:
                ids = [
                    row[0]
                    for row in connection.execute(
                        """SELECT message_id FROM messages WHERE conversation_id = ? AND seq > ?
                        ORDER BY seq LIMIT ?""",
                        (conversation, after_seq, _PAGE),
                    )
                ]
                page = _load(connection, ids)
            if not ids:
                return
            for message in ids:
                yield page[message]
            after_seq = page[ids[-1]].seq

    def by_entry_ids(self, conversation: int, entry_ids: Sequence[str]) -> dict[str, int]:
        """Return the message ids of those *entry_ids* that the conversation holds."""
        found: dict[str, int] = {}
        with self._database.read() as connection:
            for start in range(0, len(entry_ids), _PAGE):
                page = json.dumps(list(entry_ids[start : start + _PAGE]))
                found |= connection.execute(
                    """SELECT m.transcript_entry_id, m.message_id FROM json_each(?) j
                    CROSS JOIN messages m INDEXED BY messages_conv_entry_unique_idx
                    ON m.conversation_id = ? AND m.transcript_entry_id = j.value""",
                    (page, conversation),
                ).fetchall()
        return found

    def covering(self, ids: Sequence[int]) -> dict[int, str]:
        """Return the leaf summary that each of the messages is under, where there is one."""
        with self._database.read() as connection:
            return dict(
                connection.execute(
                    """SELECT s.message_id, s.summary_id FROM json_each(?) j
                    CROSS JOIN summary_messages s ON s.message_id = j.value""",
                    (json.dumps(list(ids)),),
                ).fetchall()
            )

    def identity(self, ids: Sequence[int]) -> dict[int, tuple[bytes, Outside | None]]:
        """Return the full-content hash of each message and why it is outside the context."""
        with self._database.read() as connection:
            rows = connection.execute(
                """SELECT l.message_id, l.hash, l.outside FROM json_each(?) j
                CROSS JOIN lossless_message l ON l.message_id = j.value""",
                (json.dumps(list(ids)),),
            ).fetchall()
        return {row[0]: (row[1], None if row[2] is None else Outside(row[2])) for row in rows}


def _next_id(connection: sqlite3.Connection) -> int:
    row = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'messages'").fetchone()
    return 1 if row is None else int(row[0]) + 1


def _ends(connection: sqlite3.Connection, conversation: int) -> tuple[int, int]:
    """Return the last seq and the last ordinal of the conversation, whoever wrote them."""
    (seq,) = connection.execute(
        "SELECT coalesce(max(seq), 0) FROM messages WHERE conversation_id = ?", (conversation,)
    ).fetchone()
    (ordinal,) = connection.execute(
        "SELECT coalesce(max(ordinal), -1) FROM context_items WHERE conversation_id = ?",
        (conversation,),
    ).fetchone()
    return seq, ordinal


def _insert_messages(
    connection: sqlite3.Connection,
    conversation: int,
    ids: Sequence[int],
    rows: Sequence[Projection],
    seq: int,
    now: str,
) -> None:
    connection.executemany(
        """INSERT INTO messages(message_id, conversation_id, seq, role, content, token_count,
        identity_hash, openclaw_sender_metadata, transcript_entry_id, created_at)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)""",
        [
            (i, conversation, seq + n, row.role, row.content, row.token_count, row.upstream_hash,
             row.sender, row.entry_id, row.created_at or now)
            for n, (i, row) in enumerate(zip(ids, rows, strict=True), 1)
        ],
    )  # fmt: skip
    connection.executemany(
        """INSERT INTO lossless_message
        (message_id, conversation, hash, tokens, flags, outside, rest)
        VALUES (?, ?, ?, ?, ?, ?, ?)""",
        [
            (i, conversation, row.hash, row.tokens, row.flags, row.outside, row.rest)
            for i, row in zip(ids, rows, strict=True)
        ],
    )


def _insert_parts(
    connection: sqlite3.Connection, ids: Sequence[int], rows: Sequence[Projection]
) -> None:
    connection.executemany(
        """INSERT INTO message_parts(part_id, message_id, session_id, part_type, ordinal,
        text_content, tool_call_id, tool_name, tool_input, tool_output, metadata)
        VALUES (?, ?, '', ?, ?, ?, ?, ?, ?, ?, ?)""",
        [
            (f"{i:x}.{n}", i, part.kind, n, part.text, part.call_id, part.tool_name,
             part.tool_input, part.tool_output, part.metadata)
            for i, row in zip(ids, rows, strict=True)
            for n, part in enumerate(row.parts)
        ],
    )  # fmt: skip


def _insert_items(
    connection: sqlite3.Connection,
    conversation: int,
    ids: Sequence[int],
    rows: Sequence[Projection],
    ordinal: int,
    now: str,
) -> None:
    shown = [(i, row) for i, row in zip(ids, rows, strict=True) if row.outside is None]
    connection.executemany(
        """INSERT INTO context_items(conversation_id, ordinal, item_type, message_id, created_at)
        VALUES (?, ?, 'message', ?, ?)""",
        [(conversation, ordinal + n, i, now) for n, (i, _) in enumerate(shown, 1)],
    )
    connection.execute(
        """INSERT INTO lossless_context(conversation, tokens, items, stored, stored_tokens)
        VALUES (?, ?, ?, ?, ?)
        ON CONFLICT (conversation) DO UPDATE SET tokens = tokens + excluded.tokens,
        items = items + excluded.items, stored = stored + excluded.stored,
        stored_tokens = stored_tokens + excluded.stored_tokens""",
        (conversation, sum(row.tokens for _, row in shown), len(shown), len(rows),
         sum(row.tokens for row in rows)),
    )  # fmt: skip


def _load(connection: sqlite3.Connection, ids: Sequence[int]) -> dict[int, Message]:
    parts = _parts(connection, ids)
    rows = connection.execute(
        f"""SELECT {_MESSAGE} FROM json_each(?) j CROSS JOIN messages m ON m.message_id = j.value
        LEFT JOIN lossless_message l ON l.message_id = m.message_id""",
        (json.dumps(list(ids)),),
    )
    return {row[0]: _message(row, parts.get(row[0], [])) for row in rows}


def _parts(connection: sqlite3.Connection, ids: Sequence[int]) -> dict[int, list[Part]]:
    found: dict[int, list[Part]] = {}
    rows = connection.execute(
        f"""SELECT {_PART} FROM json_each(?) j CROSS JOIN message_parts p ON p.message_id = j.value
        ORDER BY p.message_id, p.ordinal""",
        (json.dumps(list(ids)),),
    )
    for row in rows:
        found.setdefault(row[0], []).append(Part(*row[1:]))
    return found


def _message(row: tuple[Any, ...], parts: list[Part]) -> Message:
    i, conversation, seq, role, content, tokens, created_at, entry_id, why, rest, is_exact = row
    try:
        original = (
            restore(role, content, parts, rest) if is_exact else rebuilt(role, content, parts)
        )
    except DamagedError as error:
        raise StoreCorruptError(
            f"msg_{i}: {error}", hint="`lcm verify` lists all that is damaged.", messageId=i
        ) from error
    outside = None if why is None else Outside(why)
    return Message(
        i, conversation, seq, role, content, tokens, created_at, entry_id, outside, original,
        exact=bool(is_exact),
    )  # fmt: skip


def rebuilt(role: str, content: str, parts: list[Part]) -> Raw:
    """Return the best original of a row that upstream wrote: its blocks where parts hold them."""
    try:
        blocks = content_of(parts) if parts else None
    except (ValueError, KeyError):
        blocks = None
    message: Raw = {"role": "toolResult" if role == "tool" else role, "content": blocks or content}
    call_id = next((part.call_id for part in parts if part.call_id), None)
    return message | {"toolCallId": call_id} if role == "tool" and call_id else message
