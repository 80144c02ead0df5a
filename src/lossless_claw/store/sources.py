"""Transcript files that feed a conversation, and what was read of them (design 12)."""

from __future__ import annotations

from msgspec import Struct

from lossless_claw.message.encoding import storable
from lossless_claw.store.sqlite import Database


class Source(Struct, frozen=True):
    """A transcript as it was last read. `size` and `processed` in bytes, `mtime_ms` in ms."""

    path: str
    conversation: int
    format: str
    size: int
    mtime_ms: int
    processed: int
    messages: int
    read_at: str


class Sources:
    """The transcript files of one database."""

    def __init__(self, database: Database):
        self._database = database

    def record(self, source: Source, header_id: str | None) -> None:
        """Remember what was read of a transcript; upstream's checkpoint row mirrors the newest."""
        with self._database.writing() as connection:
            connection.execute(
                """INSERT INTO lossless_sources(path, conversation, format, size, mtime_ms,
                processed, messages, read_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT (path, conversation) DO UPDATE SET format = excluded.format,
                size = excluded.size, mtime_ms = excluded.mtime_ms, processed = excluded.processed,
                messages = excluded.messages, read_at = excluded.read_at""",
                (source.path, source.conversation, source.format, source.size, source.mtime_ms,
                 source.processed, source.messages, source.read_at),
            )  # fmt: skip
            connection.execute(
                """INSERT INTO conversation_bootstrap_state(conversation_id, session_file_path,
                last_seen_size, last_seen_mtime_ms, last_processed_offset, session_header_id,
                last_processed_entry_id) VALUES (?, ?, ?, ?, ?, ?, (SELECT transcript_entry_id
                FROM messages WHERE conversation_id = ? AND transcript_entry_id IS NOT NULL
                ORDER BY seq DESC LIMIT 1))
                ON CONFLICT (conversation_id) DO UPDATE SET
                session_file_path = excluded.session_file_path,
                last_seen_size = excluded.last_seen_size,
                last_seen_mtime_ms = excluded.last_seen_mtime_ms,
                last_processed_offset = excluded.last_processed_offset,
                last_processed_entry_hash = NULL,
                session_header_id = coalesce(excluded.session_header_id, session_header_id),
                last_processed_entry_id = excluded.last_processed_entry_id,
                soft_reset_pruned_at = CASE WHEN session_file_path = excluded.session_file_path
                THEN soft_reset_pruned_at END, updated_at = datetime('now')""",
                (source.conversation, source.path, source.size, source.mtime_ms, source.processed,
                 header_id and storable(header_id), source.conversation),
            )  # fmt: skip
            connection.execute(
                """UPDATE conversations SET bootstrapped_at = coalesce(bootstrapped_at, ?)
                WHERE conversation_id = ?""",
                (source.read_at, source.conversation),
            )
