"""Search over summaries. They are few, so every hit is found and ordered in memory.

Words go through the word index; a regular expression with a literal through the trigrams; all
else reads the texts.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing

import regex
from msgspec import Struct

from lossless_claw.model import Match
from lossless_claw.store.search import cjk, ranking
from lossless_claw.store.search import rows as search_rows
from lossless_claw.store.search.expressions import Limit
from lossless_claw.store.search.query import Query, Unit, loosened
from lossless_claw.store.search.ranking import Scored
from lossless_claw.store.search.rows import Indexes, Reach
from lossless_claw.store.search.texts import Seeker
from lossless_claw.store.search.trigrams import trigram_expression

MOST = 1_000
"""So many summaries at most are ordered by one query: the best, or the newest."""

_COLUMNS = """s.rowid, s.summary_id, s.conversation_id, s.kind, s.created_at,
 coalesce(s.latest_at, s.created_at), s.content"""


class Node(Struct, frozen=True):
    """A summary with its text. `time` is its newest message's."""

    row: int
    id: str
    conversation: int
    kind: str
    created_at: str
    time: str
    text: str


class Hit(Struct, frozen=True):
    """A summary that was found, where and how well."""

    node: Node
    scored: Scored
    span: tuple[int, int] | None = None

    @property
    def id(self) -> str:
        return self.node.id

    def match(self, snippet: str, score: float | None) -> Match:
        """Return the hit as callers see it."""
        node = self.node
        return Match(
            type="summary",
            id=node.id,
            conversation=node.conversation,
            seq=None,
            role=node.kind,
            created_at=node.created_at,
            snippet=snippet,
            covered_by=None,
            score=score,
        )


class Summaries:
    """The summaries that a search finds."""

    def __init__(self, connection: sqlite3.Connection, indexes: Indexes, within: Reach):
        self._connection = connection
        self._indexes = indexes
        self._within = within

    def by_words(self, query: Query, expression: tuple[str, str] | None) -> list[Hit]:
        """Return the summaries that hold a unit of *query*, in no order.

        *expression* are the match expressions for any and for all units; None reads every text.
        """
        if expression is None or not self._indexes.summary_words:
            return self._by_text(query)
        any_of, all_of = expression
        found = self._ranked(any_of)
        whole = self._rows(all_of) if found and any_of != all_of else {row for row, _, _ in found}
        return [Hit(node, Scored(node.id, -rank, row in whole)) for row, rank, node in found]

    def by_pattern(self, pattern: regex.Pattern[str], limit: Limit) -> list[Hit]:
        """Return the summaries that *pattern* matches, newest first, as far as the time goes."""
        hits = []
        for node in self._candidates(pattern.pattern):
            span = limit.find(node.text)
            if limit.has_ended:
                break
            if span:
                hits.append(Hit(node, Scored(node.id, 0.0), span))
        return hits

    def _by_text(self, query: Query) -> list[Hit]:
        whole, units, required = (
            [Seeker(unit) for unit in some]
            for some in (
                query.units,
                loosened(query.units),
                [unit for unit in query.units if unit.is_required],
            )
        )
        found = []
        for node in self._holding(loosened(query.units)):
            counts = [unit.count(node.text) for unit in units]
            if any(counts) and all(unit.is_in(node.text) for unit in required):
                found.append((node, counts))
        scores = ranking.bm25(
            [counts for _, counts in found], [len(node.text) for node, _ in found], MOST
        )
        return [
            Hit(node, Scored(node.id, score, all(unit.is_in(node.text) for unit in whole)))
            for (node, counts), score in zip(found, scores, strict=True)
        ]

    def _ranked(self, expression: str) -> list[tuple[int, float, Node]]:
        rows = self._connection.execute(
            f"""SELECT f.rowid, f.rank, {_COLUMNS}
            FROM summaries_fts f CROSS JOIN summaries s ON s.summary_id = f.summary_id
            WHERE summaries_fts MATCH :expression {self._within.of_summaries()}
            ORDER BY f.rank, f.rowid DESC LIMIT :most""",
            {**self._within.parameters(), "expression": expression, "most": MOST},
        ).fetchall()
        return [(row[0], row[1], Node(*row[2:])) for row in rows]

    def _rows(self, expression: str) -> set[int]:
        rows = self._connection.execute(
            "SELECT rowid FROM summaries_fts WHERE summaries_fts MATCH ?", (expression,)
        )
        return {row[0] for row in rows}

    def _candidates(self, pattern: str) -> Iterator[Node]:
        grams = trigram_expression(pattern) if self._indexes.summary_trigrams else None
        if grams is None:
            return self._all()
        return self._nodes(
            f"""SELECT {_COLUMNS}
            FROM summaries_fts_cjk f CROSS JOIN summaries s ON s.summary_id = f.summary_id
            WHERE summaries_fts_cjk MATCH :grams {self._within.of_summaries()}
            ORDER BY 6 DESC, 1 DESC""",
            {**self._within.parameters(), "grams": grams},
        )

    def _all(self) -> Iterator[Node]:
        return self._nodes(
            f"""SELECT {_COLUMNS} FROM summaries s WHERE 1 {self._within.of_summaries()}
            ORDER BY 6 DESC, 1 DESC""",
            self._within.parameters(),
        )

    def _holding(self, units: tuple[Unit, ...]) -> Iterator[Node]:
        """Yield the summaries that may hold one of the units."""
        if any(unit.words or not cjk.runs().fullmatch(unit.text) for unit in units):
            return self._all()
        # Looking through the texts inside SQLite is cheaper than reading them all.
        return self._nodes(
            f"""SELECT {_COLUMNS} FROM summaries s WHERE EXISTS
            (SELECT 1 FROM json_each(:texts) t WHERE instr(s.content, t.value))
            {self._within.of_summaries()} ORDER BY 6 DESC, 1 DESC""",
            {**self._within.parameters(), "texts": json.dumps([unit.text for unit in units])},
        )

    def _nodes(self, statement: str, values: dict[str, str | None]) -> Iterator[Node]:
        with closing(self._connection.execute(statement, values)) as cursor:
            for row in cursor:
                yield Node(*row)


def newest_first(hits: list[Hit]) -> list[Hit]:
    """Return the hits by time, newest first; those that hold everything before the others."""
    return sorted(
        hits,
        key=lambda hit: (hit.scored.is_whole, search_rows.epoch(hit.node.time), hit.node.row),
        reverse=True,
    )
