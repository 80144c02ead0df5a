"""Rows of the summary DAG: stored with their lineage, read with their sources (spec 5)."""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from lossless_claw.errors import SummaryNotFoundError
from lossless_claw.message.encoding import storable
from lossless_claw.model import Item, Summary, SummaryDraft
from lossless_claw.store.search.indexing import Indexing
from lossless_claw.store.sqlite import Database
from lossless_claw.tokens import estimate, estimate_upstream

_SUMMARY = """s.summary_id, s.conversation_id, s.depth, s.content, s.token_count, s.earliest_at,
 s.latest_at, s.descendant_count, s.descendant_token_count, s.source_message_token_count,
 s.created_at, s.model, coalesce(h.level, 'unknown')"""
_BELOW = """WITH RECURSIVE below(id) AS (SELECT ? UNION
 SELECT p.parent_summary_id FROM summary_parents p JOIN below b ON p.summary_id = b.id)"""


class Outline(Struct, frozen=True):
    """A summary without its text. `tokens`: what the text costs, by this library's estimate."""

    id: str
    kind: str
    depth: int
    tokens: int


class Summaries:
    """The summaries of one database."""

    def __init__(
        self, database: Database, indexing: Indexing, salt: Callable[[], str] | None = None
    ):
        self._database = database
        self._indexing = indexing
        self._salt = salt or (lambda: os.urandom(16).hex())

    # -- writing -------------------------------------------------------------------------

    def publish(
        self, conversation: int, drafts: Sequence[SummaryDraft], items: Sequence[Item],
        before: Sequence[Item], now: str,
    ) -> dict[str, str] | None:  # fmt: skip
        """Store *drafts* and put *items* in the place of *before*, in one swap.

        Returns the id of each draft by its key; None, with nothing written, when the context no
        longer begins with *before* (somebody compacted or rewound meanwhile). Items appended
        since are left alone.
        """
        with self._database.writing() as connection:
            if not _still_stand(connection, conversation, before):
                return None
            ids: dict[str, str] = {}
            for draft in drafts:
                ids[draft.key] = self._insert(connection, conversation, draft, ids, now)
            _swap(connection, conversation, before, items, ids, now)
            return ids

    def _insert(
        self, connection: sqlite3.Connection, conversation: int, draft: SummaryDraft,
        ids: dict[str, str], now: str,
    ) -> str:  # fmt: skip
        text = storable(draft.text)
        digest = hashlib.sha256((text + self._salt()).encode()).hexdigest()
        summary = f"sum_{digest[:16]}"
        sources = [ids.get(source, source) if isinstance(source, str) else source
                   for source in draft.sources]  # fmt: skip
        facts = _facts(connection, draft.depth, sources)
        connection.execute(
            """INSERT INTO summaries(summary_id, conversation_id, kind, depth, content, token_count,
            earliest_at, latest_at, descendant_count, descendant_token_count,
            source_message_token_count, created_at, model)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)""",
            (summary, conversation, "leaf" if draft.depth == 0 else "condensed", draft.depth, text,
             estimate_upstream(text), *facts, now, draft.model),
        )  # fmt: skip
        connection.execute(
            "INSERT INTO lossless_summary(summary_id, tokens, level) VALUES (?, ?, ?)",
            (summary, draft.tokens, draft.level),
        )
        table, column = (
            ("summary_messages", "message_id")
            if draft.depth == 0
            else ("summary_parents", "parent_summary_id")
        )
        connection.executemany(
            f"INSERT INTO {table}(summary_id, {column}, ordinal) VALUES (?, ?, ?)",
            [(summary, source, n) for n, source in enumerate(sources)],
        )
        self._indexing.add_summary(connection, summary, text)
        return summary

    # -- reading -------------------------------------------------------------------------

    def get(self, summary: str) -> Summary:
        """Return the summary with its sources.

        Raises:
            SummaryNotFoundError: If there is none with this id.
        """
        found = self.load([summary])
        if not found:
            raise SummaryNotFoundError(f"no summary {summary}", summaryId=summary)
        return found[0]

    def load(self, ids: Sequence[str]) -> list[Summary]:
        """Return the summaries in the order asked for, with sources; unknown ids are left out."""
        page = json.dumps(list(ids))
        with self._database.read() as connection:
            rows = connection.execute(
                f"""SELECT {_SUMMARY} FROM json_each(?) j CROSS JOIN summaries s
                ON s.summary_id = j.value LEFT JOIN lossless_summary h
                ON h.summary_id = s.summary_id""",
                (page,),
            ).fetchall()
            edges = connection.execute(
                """SELECT p.summary_id, p.parent_summary_id FROM json_each(?) j
                CROSS JOIN summary_parents p ON p.summary_id = j.value
                ORDER BY p.summary_id, p.ordinal""",
                (page,),
            ).fetchall()
        sources: dict[str, list[str]] = {}
        for derived, source in edges:
            sources.setdefault(derived, []).append(source)
        found = {row[0]: Summary(*row) for row in rows}
        found = {i: replace(one, sources=tuple(sources.get(i, ()))) for i, one in found.items()}
        return [found[summary] for summary in ids if summary in found]

    def derived(self, summary: str) -> list[str]:
        """Return the summaries made from this one."""
        return self._column(
            "SELECT summary_id FROM summary_parents WHERE parent_summary_id = ? ORDER BY 1", summary
        )

    def leaf_messages(self, summary: str) -> list[int]:
        """Return the messages that a leaf was made from, in order."""
        return self._column(
            "SELECT message_id FROM summary_messages WHERE summary_id = ? ORDER BY ordinal", summary
        )

    def messages_under(self, summary: str) -> list[int]:
        """Return every message below a summary, each once, in their order."""
        return self._column(
            f"""{_BELOW} SELECT DISTINCT m.message_id FROM below b
            CROSS JOIN summary_messages e ON e.summary_id = b.id
            CROSS JOIN messages m ON m.message_id = e.message_id ORDER BY m.seq""",
            summary,
        )

    def _column(self, statement: str, summary: str) -> list[Any]:
        with self._database.read() as connection:
            return [row[0] for row in connection.execute(statement, (summary,))]

    # -- reading a piece of the DAG ------------------------------------------------------

    def sources(self, summary: str) -> list[str]:
        """Return the summaries that this one was made from, in order."""
        return self._column(
            """SELECT parent_summary_id FROM summary_parents WHERE summary_id = ?
            ORDER BY ordinal""",
            summary,
        )

    def others_over(self, summary: str) -> list[tuple[int, str]]:
        """Return the messages of this leaf that others cover too, each with every other."""
        with self._database.read() as connection:
            return connection.execute(
                """SELECT o.message_id, o.summary_id FROM summary_messages e
                CROSS JOIN summary_messages o ON o.message_id = e.message_id
                WHERE e.summary_id = ? AND o.summary_id <> e.summary_id""",
                (summary,),
            ).fetchall()

    def outline(self, ids: Sequence[str]) -> list[Outline]:
        """Return what summaries are without their texts, in the order asked for."""
        page = json.dumps(list(ids))
        with self._database.read() as connection:
            rows = connection.execute(
                """SELECT s.summary_id, s.kind, s.depth, h.tokens,
                CASE WHEN h.tokens IS NULL THEN s.content END
                FROM json_each(?) j CROSS JOIN summaries s ON s.summary_id = j.value
                LEFT JOIN lossless_summary h ON h.summary_id = s.summary_id""",
                (page,),
            ).fetchall()
        return [
            Outline(name, kind, depth, estimate(text) if known is None else known)
            for name, kind, depth, known, text in rows
        ]

    def count_messages(self, ids: Sequence[str]) -> int:
        """Return how many messages these summaries were made from directly, each counted once."""
        page = json.dumps(list(ids))
        with self._database.read() as connection:
            ranges = connection.execute(
                """SELECT
                (SELECT min(message_id) FROM summary_messages WHERE summary_id = j.value) AS first,
                (SELECT max(message_id) FROM summary_messages WHERE summary_id = j.value),
                (SELECT count(*) FROM summary_messages WHERE summary_id = j.value)
                FROM json_each(?) j WHERE first IS NOT NULL ORDER BY 1""",
                (page,),
            ).fetchall()
            if all(one[1] < other[0] for one, other in pairwise(ranges)):
                return sum(count for _, _, count in ranges)
            # They overlap, so some message may be below two of them.
            row = connection.execute(
                """SELECT count(DISTINCT e.message_id) FROM json_each(?) j
                CROSS JOIN summary_messages e ON e.summary_id = j.value""",
                (page,),
            ).fetchone()
        return int(row[0])

    def seq_range(self, ids: Sequence[str]) -> tuple[int | None, int | None]:
        """Return the first and the last seq of the messages that these were made from."""
        with self._database.read() as connection:
            row = connection.execute(
                """SELECT min(m.seq), max(m.seq) FROM json_each(?) j
                CROSS JOIN summary_messages e ON e.summary_id = j.value
                CROSS JOIN messages m ON m.message_id = e.message_id""",
                (json.dumps(list(ids)),),
            ).fetchone()
        return row[0], row[1]


def _still_stand(connection: sqlite3.Connection, conversation: int, before: Sequence[Item]) -> bool:
    """Whether the context begins with exactly the items *before*."""
    if not before:
        return False
    rows = connection.execute(
        """SELECT ordinal, coalesce(summary_id, message_id) FROM context_items
        WHERE conversation_id = ? AND ordinal <= ? ORDER BY ordinal""",
        (conversation, before[-1].ordinal),
    ).fetchall()
    return rows == [(item.ordinal, item.ref) for item in before]


def _swap(
    connection: sqlite3.Connection, conversation: int, before: Sequence[Item],
    items: Sequence[Item], ids: dict[str, str], now: str,
) -> None:  # fmt: skip
    """Replace the items that are gone by the summaries that stand for them."""
    kept = {(item.ordinal, item.ref) for item in items}
    gone = [item for item in before if (item.ordinal, item.ref) not in kept]
    added = [item for item in items if item.ref in ids]
    connection.executemany(
        "DELETE FROM context_items WHERE conversation_id = ? AND ordinal = ?",
        [(conversation, item.ordinal) for item in gone],
    )
    connection.executemany(
        """INSERT INTO context_items(conversation_id, ordinal, item_type, summary_id, created_at)
        VALUES (?, ?, 'summary', ?, ?)""",
        [(conversation, item.ordinal, ids[str(item.ref)], now) for item in added],
    )
    connection.execute(
        "UPDATE lossless_context SET tokens = tokens + ?, items = items + ? WHERE conversation = ?",
        (sum(i.tokens for i in added) - sum(i.tokens for i in gone), len(added) - len(gone),
         conversation),
    )  # fmt: skip


def _facts(
    connection: sqlite3.Connection, depth: int, sources: Sequence[int | str]
) -> tuple[Any, ...]:
    """Return earliest, latest and the three aggregates of spec 5.3."""
    page = json.dumps(list(sources))
    if depth == 0:
        row = connection.execute(
            """SELECT min(julianday(m.created_at)), max(julianday(m.created_at)), 0, 0,
            sum(coalesce(l.tokens, m.token_count)) FROM json_each(?) j
            CROSS JOIN messages m ON m.message_id = j.value
            LEFT JOIN lossless_message l ON l.message_id = m.message_id""",
            (page,),
        ).fetchone()
    else:
        row = connection.execute(
            """SELECT min(julianday(coalesce(s.earliest_at, s.created_at))),
            max(julianday(coalesce(s.latest_at, s.created_at))), sum(s.descendant_count + 1),
            sum(s.token_count + s.descendant_token_count), sum(s.source_message_token_count)
            FROM json_each(?) j CROSS JOIN summaries s ON s.summary_id = j.value""",
            (page,),
        ).fetchone()
    earliest, latest = (
        connection.execute("SELECT strftime('%Y-%m-%dT%H:%M:%fZ', ?)", (day,)).fetchone()[0]
        for day in row[:2]
    )
    return earliest, latest, *row[2:]
