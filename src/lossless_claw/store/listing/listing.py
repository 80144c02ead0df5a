"""Lists of what is stored, for people and programs that look at a database from outside.

Reads any released layout with or without our own tables, and never writes. A page is chosen
first and figures are made for its rows only (spec operator-surfaces 1.6 and 1.7).
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from lossless_claw.errors import ConversationNotFoundError, SummaryNotFoundError
from lossless_claw.store.listing import totals, views
from lossless_claw.store.listing.listed import (
    Identity,
    Limits,
    ListedConversation,
    ListedMessage,
    ListedSummary,
    Page,
    Selected,
    Status,
    SummaryDetail,
    Tail,
    TailMessage,
    Totals,
)
from lossless_claw.store.listing.pages import PREVIEW_READ, Request, fetch, preview
from lossless_claw.store.sqlite import MEMORY, Database

LIMIT = 50
TAIL = Limits(64, None)

# Instants are compared as numbers, since stored times mix two styles (spec 1.3). A time that is
# none counts as the oldest, so that its row is listed once, last.
_IDENTITY = (
    "conversation_id, session_id, session_key, active, archived_at, title, bootstrapped_at,"
    " created_at, updated_at"
)


class Listing:
    """What a database holds, in pages.

    Args:
        database: An open database; a read-only one is enough.
    """

    def __init__(self, database: Database):
        self._database = database

    @cached_property
    def _views(self) -> views.Views:
        with self._database.snapshot() as connection:
            return views.read(connection)

    # -- the whole file ------------------------------------------------------------------

    def status(self) -> Status:
        """Return the database in figures, without reading a big table from end to end."""
        with self._database.snapshot() as connection:
            return totals.census(connection, self._views)

    def size(self) -> int:
        """Return the bytes of the main file, without its write-ahead log."""
        if self._database.path != MEMORY:
            return Path(self._database.path).stat().st_size
        with self._database.snapshot() as connection:
            (pages,) = connection.execute("PRAGMA page_count").fetchone()
            (bytes_each,) = connection.execute("PRAGMA page_size").fetchone()
            return int(pages) * int(bytes_each)

    # -- conversations -------------------------------------------------------------------

    def conversations(
        self, *, limit: int = LIMIT, cursor: str | None = None, tail: Limits = TAIL
    ) -> Page[ListedConversation]:
        """Return conversations, the last updated first; *tail* says what a fresh tail is.

        Raises:
            CursorError: If *cursor* is not of such a list.
        """
        with self._database.snapshot() as connection:
            return fetch(
                connection,
                Request("conversations", {}, limit, cursor),
                f"WITH {self._views.conversation} {_CONVERSATIONS}",
                lambda row: totals.figures(connection, self._views, _identity(row), tail),
            )

    def resolve(
        self, *, conversation_id: int | None = None, session_key: str | None = None
    ) -> Identity:
        """Return the conversation that an id or a session key names.

        Several rows may share a key: the active one wins, then the newest (spec 1.7).

        Raises:
            ConversationNotFoundError: If there is none.
        """
        with self._database.snapshot() as connection:
            row = connection.execute(
                f"WITH {self._views.conversation} {_RESOLVE}",
                {"id": conversation_id, "key": session_key},
            ).fetchone()
        if row is None:
            named = f"id {conversation_id}" if session_key is None else f"key {session_key!r}"
            raise ConversationNotFoundError(f"no conversation with {named}")
        return _identity(row)

    # -- messages ------------------------------------------------------------------------

    def messages(
        self,
        conversation_id: int,
        *,
        limit: int = LIMIT,
        cursor: str | None = None,
        roles: Sequence[str] = (),
        after: str | None = None,
        before: str | None = None,
        include_content: bool = False,
    ) -> Page[ListedMessage]:
        """Return a conversation's messages, newest first, whether in the context or not.

        *after* is inclusive, *before* exclusive, both ISO 8601 with a zone.

        Raises:
            CursorError: If *cursor* is not of this list with these filters.
        """
        filters = {
            "conversation": conversation_id,
            "roles": json.dumps(sorted(set(roles))) if roles else None,
            "after": after,
            "before": before,
        }
        with self._database.snapshot() as connection:
            return fetch(
                connection,
                Request("messages", filters, limit, cursor),
                f"WITH {self._views.message} {_MESSAGES}",
                lambda row: _message(row, include_content=include_content),
                length=-1 if include_content else PREVIEW_READ,
            )

    def tail(self, conversation_id: int, limits: Limits = TAIL) -> Tail:
        """Return the newest raw messages of the context, within *limits*, in order.

        The newest one is always there, whatever it costs.

        Raises:
            ConversationNotFoundError: If there is no such conversation.
        """
        identity = self.resolve(conversation_id=conversation_id)
        with self._database.snapshot() as connection:
            rows = totals.tail_rows(
                connection, self._views, conversation_id, limits, columns=_TAIL_COLUMNS
            )
            all_messages = totals.message_totals(connection, self._views, conversation_id)
        messages = tuple(_tail_message(row) for row in reversed(rows))
        return Tail(identity, limits, _selected(messages), Totals(*all_messages), messages)

    # -- summaries -----------------------------------------------------------------------

    def summaries(
        self,
        conversation_id: int | None = None,
        *,
        limit: int = LIMIT,
        cursor: str | None = None,
        depth: int | None = None,
        kind: str | None = None,
        after: str | None = None,
        before: str | None = None,
        include_content: bool = False,
    ) -> Page[ListedSummary]:
        """Return summaries of one conversation or of all, by the time they cover, newest first.

        Raises:
            CursorError: If *cursor* is not of this list with these filters.
        """
        filters = {
            "conversation": conversation_id,
            "depth": depth,
            "kind": kind,
            "after": after,
            "before": before,
        }
        with self._database.snapshot() as connection:
            return fetch(
                connection,
                Request("summaries", filters, limit, cursor),
                f"WITH {self._views.summary} {_SUMMARIES}",
                lambda row: _summary(row, include_content=include_content),
                length=-1 if include_content else PREVIEW_READ,
            )

    def summary(self, summary_id: str) -> SummaryDetail:
        """Return a summary, those derived from it, its sources and its messages, all in full.

        Links into another conversation are left out (spec 1.7).

        Raises:
            SummaryNotFoundError: If there is no such summary.
        """
        with self._database.snapshot() as connection:
            found = self._linked(connection, _ONE, summary_id, None)
            if not found:
                raise SummaryNotFoundError(
                    f"no summary {summary_id!r}", hint="`lcm summaries list` shows them."
                )
            owner = found[0].conversation_id
            messages = connection.execute(
                f"WITH {self._views.message} {_SOURCE_MESSAGES}",
                {"id": summary_id, "conversation": owner},
            )
            return SummaryDetail(
                found[0],
                self._linked(connection, _DERIVED, summary_id, owner),
                self._linked(connection, _SOURCES, summary_id, owner),
                tuple(_tail_message(row) for row in messages),
            )

    def _linked(
        self, connection: sqlite3.Connection, statement: str, summary_id: str, owner: int | None
    ) -> tuple[ListedSummary, ...]:
        values = {"id": summary_id, "conversation": owner, "length": -1}
        rows = connection.execute(f"WITH {self._views.summary} {statement}", values)
        return tuple(_summary(row, include_content=True) for row in rows)


# -- rows to values ----------------------------------------------------------------------


def _identity(row: Sequence[Any]) -> Identity:
    number, session_id, key, active, *rest = row[: len(Identity.__struct_fields__)]
    return Identity(number, session_id, key, bool(active), *rest)


def _message(row: Sequence[Any], *, include_content: bool) -> ListedMessage:
    *fields, content, _ = row
    fields += [preview(content), content if include_content else None]
    return ListedMessage(*fields)


def _tail_message(row: Sequence[Any]) -> TailMessage:
    message_id, seq, role, created_at, content, tokens = row
    return TailMessage(message_id, seq, role, tokens, created_at, content)


def _summary(row: Sequence[Any], *, include_content: bool) -> ListedSummary:
    *fields, content, _ = row
    fields[_FILE_IDS] = _file_ids(fields[_FILE_IDS])
    fields += [preview(content), content if include_content else None]
    return ListedSummary(*fields)


_FILE_IDS = ListedSummary.__struct_fields__.index("file_ids")


def _file_ids(text: str | None) -> tuple[str, ...]:
    # Damaged text counts as no files (spec 1.7): the list is still worth showing.
    try:
        found = json.loads(text or "[]")
    except ValueError:
        return ()
    return tuple(str(one) for one in found) if isinstance(found, list) else ()


def _selected(messages: Sequence[TailMessage]) -> Selected:
    return Selected(
        len(messages),
        sum(message.token_count for message in messages),
        messages[0].seq if messages else None,
        messages[-1].seq if messages else None,
    )


# -- statements --------------------------------------------------------------------------

_CONVERSATIONS = f"""
SELECT {_IDENTITY} FROM conversation
 WHERE :id IS NULL OR (coalesce(julianday(updated_at), 0), conversation_id)
                    < (coalesce(julianday(:time), 0), :id)
 ORDER BY coalesce(julianday(updated_at), 0) DESC, conversation_id DESC LIMIT :rows
"""

_RESOLVE = f"""
SELECT {_IDENTITY} FROM conversation
 WHERE (:id IS NULL OR conversation_id = :id) AND (:key IS NULL OR session_key = :key)
   AND (:id IS NOT NULL OR :key IS NOT NULL)
 ORDER BY active DESC, julianday(created_at) DESC, conversation_id DESC LIMIT 1
"""

_MESSAGES = """
SELECT message_id, conversation_id, seq, role, tokens, created_at, large_content,
       CASE WHEN :length < 0 THEN content ELSE substr(content, 1, :length) END, created_at
  FROM message
 WHERE conversation_id = :conversation
   AND (:roles IS NULL OR role IN (SELECT value FROM json_each(:roles)))
   AND (:after IS NULL OR julianday(created_at) >= julianday(:after))
   AND (:before IS NULL OR julianday(created_at) < julianday(:before))
   AND (:id IS NULL OR (coalesce(julianday(created_at), 0), message_id)
                     < (coalesce(julianday(:time), 0), :id))
 ORDER BY coalesce(julianday(created_at), 0) DESC, message_id DESC LIMIT :rows
"""

_TAIL_COLUMNS = "m.message_id, m.seq, m.role, m.created_at, m.content, m.tokens"

# Related rows count only within the same conversation. Derived summaries come first, then
# sources: parents and children in the command line's words.
_COVERAGE = "coalesce(latest_at, created_at)"
_SUMMARY_COLUMNS = f"""
  summary_id, conversation_id, kind, depth, tokens, earliest_at, latest_at, {_COVERAGE},
  descendant_count, descendant_token_count, source_message_token_count, created_at, file_ids,
  model,
  (SELECT count(*) FROM summary_parents AS e CROSS JOIN summaries AS d USING (summary_id)
    WHERE e.parent_summary_id = summary.summary_id
      AND d.conversation_id = summary.conversation_id),
  (SELECT count(*) FROM summary_parents AS e
     CROSS JOIN summaries AS s ON s.summary_id = e.parent_summary_id
    WHERE e.summary_id = summary.summary_id AND s.conversation_id = summary.conversation_id),
  (SELECT count(*) FROM summary_messages AS l CROSS JOIN messages AS m USING (message_id)
    WHERE l.summary_id = summary.summary_id AND m.conversation_id = summary.conversation_id),
  CASE WHEN :length < 0 THEN content ELSE substr(content, 1, :length) END, {_COVERAGE}
"""

_SUMMARIES = f"""
SELECT {_SUMMARY_COLUMNS} FROM summary
 WHERE (:conversation IS NULL OR conversation_id = :conversation)
   AND (:depth IS NULL OR depth = :depth) AND (:kind IS NULL OR kind = :kind)
   AND (:after IS NULL OR julianday({_COVERAGE}) >= julianday(:after))
   AND (:before IS NULL OR julianday({_COVERAGE}) < julianday(:before))
   AND (:id IS NULL OR (coalesce(julianday({_COVERAGE}), 0), summary_id)
                     < (coalesce(julianday(:time), 0), :id))
 ORDER BY coalesce(julianday({_COVERAGE}), 0) DESC, summary_id DESC LIMIT :rows
"""

_ONE = f"SELECT {_SUMMARY_COLUMNS} FROM summary WHERE summary_id = :id"

_DERIVED = f"""
SELECT {_SUMMARY_COLUMNS} FROM summary
 WHERE conversation_id = :conversation AND summary_id IN
       (SELECT e.summary_id FROM summary_parents AS e WHERE e.parent_summary_id = :id)
 ORDER BY depth, summary_id
"""

_SOURCES = f"""
SELECT {_SUMMARY_COLUMNS} FROM summary
  JOIN (SELECT e.parent_summary_id AS source, e.ordinal AS place FROM summary_parents AS e
         WHERE e.summary_id = :id) ON source = summary_id
 WHERE conversation_id = :conversation
 ORDER BY place
"""

_SOURCE_MESSAGES = """
SELECT message.message_id, seq, role, created_at, content, tokens FROM summary_messages AS link
  JOIN message ON message.message_id = link.message_id
 WHERE link.summary_id = :id AND message.conversation_id = :conversation
 ORDER BY link.ordinal
"""
