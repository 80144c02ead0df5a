"""Full text over messages by SQLite's own index: words, phrases, BM25. Bounded work.

Ranking costs by the row, so only the rarest words rank, up to a budget of rows; the others count
in a second look at the best. Spec: evaluation 2, layout-and-search 4.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from functools import cached_property
from itertools import islice

from lossless_claw.store.search import ranking
from lossless_claw.store.search import rows as search_rows
from lossless_claw.store.search.query import Query, Unit
from lossless_claw.store.search.ranking import Scored
from lossless_claw.store.search.rows import END, Indexes, Reach
from lossless_claw.store.search.walk import Order

BUDGET = 10_000
POOL = 200
_LOOKED_AT, _READ_AGAIN = 100, 1_000
"""So many rows get a second look, each at its first so many characters."""


class Words:
    """The messages that a query of words finds."""

    def __init__(
        self, connection: sqlite3.Connection, indexes: Indexes, within: Reach, query: Query
    ):
        self._connection = connection
        self._within = within
        self._join, self._where = within.of_index(indexes)
        self._units = self._findable(query.units)
        self._frequencies = [self._count(unit.expression) for unit in self._units]
        self.required = [unit.expression for unit in self._units if unit.is_required]
        self.note: str | None = None

    # -- what is found -------------------------------------------------------------------

    @cached_property
    def whole(self) -> str:
        """The match expression of the rows that hold everything."""
        return " AND ".join(unit.expression for unit in self._units)

    @cached_property
    def any(self) -> str:
        """The match expression of all rows that are found."""
        return self._any(self._units)

    def total(self) -> tuple[int, bool]:
        """Return how many rows are found, and whether there may be more.

        Several common words are counted only so far: their union costs more than the hits.
        """
        most = max(self._frequencies)
        if len(self._units) == 1 or (most > BUDGET and not self.required):
            is_exact = len(self._units) == 1 and self._within.is_everything
            return most, not is_exact and most > BUDGET
        is_exact = self._within.is_everything and sum(self._frequencies) <= 2 * BUDGET
        count = self._count(self.any, is_exact=is_exact)
        return count, not is_exact and count > BUDGET

    def stage(self, below: int, rows: int, *, is_whole: bool) -> list[int]:
        """Return the newest hits below an id: those that hold everything, or the others."""
        if is_whole:
            return list(islice(self._ids(self.whole, below), rows))
        if len(self._units) == 1:
            return []
        return list(islice(self._ids(f"({self.any}) NOT ({self.whole})", below), rows))

    def pool(self, ceiling: int) -> Order:
        """Return the best messages up to id *ceiling*, best first.

        When enough of them hold everything, nothing else is ranked: it would come behind them.
        """
        whole = self._ranked(self.whole, 0, ceiling) if len(self._units) > 1 else {}
        if len(whole) == POOL and sum(self._frequencies) > BUDGET:
            note = f"ranked among the {POOL} best messages that hold every word"
            return self._in_order(whole, frozenset(whole), ceiling, [note])
        chosen = self._chosen()
        floor = self._floor(chosen, ceiling)
        scores = self._ranked(self._any([self._units[at] for at in chosen]), floor, ceiling)
        whole = whole if len(self._units) > 1 else scores
        dropped = [at for at, count in enumerate(self._frequencies) if count and at not in chosen]
        notes = []
        if floor:
            notes.append(f"ranked among the newest {BUDGET:,} of the messages that match")
        if dropped:
            notes.append(f"ranked by the rarest {len(chosen)} of {len(self._units)} words")
            scores = self._second_look(scores, dropped)
        is_all = not notes and len(scores) < POOL
        scores = {**scores, **whole}
        return self._in_order(scores, frozenset(whole), ceiling, notes, is_all=is_all)

    # -- deciding ------------------------------------------------------------------------

    def _findable(self, units: Sequence[Unit]) -> list[Unit]:
        """Return the units, a compound that occurs nowhere replaced by its words."""
        found: list[Unit] = []
        for unit in units:
            is_split = len(unit.words) > 1 and not unit.is_required
            found += unit.parts() if is_split and not self._count(unit.expression) else [unit]
        return list(dict.fromkeys(found))

    def _any(self, units: Sequence[Unit]) -> str:
        either = " OR ".join(unit.expression for unit in units)
        if not self.required:
            return either
        return f"({' AND '.join(self.required)}) AND ({' OR '.join([*self.required, either])})"

    def _chosen(self) -> list[int]:
        if self.required:
            return list(range(len(self._units)))
        return ranking.choose(self._frequencies, BUDGET) or list(range(len(self._units)))

    def _in_order(
        self,
        scores: dict[int, float],
        whole: frozenset[int],
        ceiling: int,
        notes: list[str],
        *,
        is_all: bool = False,
    ) -> Order:
        """Return the order of ranked rows, after a question's hits gave to their neighbours."""
        shared = scores
        if len(self._units) >= ranking.QUESTION and not self.required:
            best = sorted(scores, key=lambda row: (row in whole, scores[row]), reverse=True)[:POOL]
            near = search_rows.neighbours(self._connection, self._within, best, ceiling)
            shared = ranking.spread(scores, near)
        if len(shared) > len(scores):
            notes = [*notes, ranking.NEIGHBOURS_NOTE]
        rows = ranking.best_first(Scored(row, s, row in whole) for row, s in shared.items())
        is_all = is_all and len(rows) <= 2 * POOL
        return Order(tuple(rows[: 2 * POOL]), is_all, "; ".join(notes) or None)

    # -- reading -------------------------------------------------------------------------

    def _count(self, expression: str, *, is_exact: bool | None = None) -> int:
        """Return how many rows match: exactly by default when all rows are within reach.

        Else up to one more than the budget.
        """
        if self._within.is_everything if is_exact is None else is_exact:
            statement = "SELECT count(*) FROM messages_fts f WHERE messages_fts MATCH :expression"
        else:
            statement = f"""SELECT count(*) FROM (SELECT 1 FROM messages_fts f {self._join}
                WHERE messages_fts MATCH :expression {self._where} LIMIT :limit)"""
        values = self._values(expression, limit=BUDGET + 1)
        return int(self._connection.execute(statement, values).fetchone()[0])

    def _ids(self, expression: str, below: int) -> Iterator[int]:
        statement = f"""SELECT f.rowid FROM messages_fts f {self._join}
            WHERE messages_fts MATCH :expression AND f.rowid < :below {self._where}
            ORDER BY f.rowid DESC"""
        values = self._values(expression, below=below)
        return search_rows.stream(self._connection, statement, values)

    def _ranked(self, expression: str, floor: int, ceiling: int) -> dict[int, float]:
        """Return the best rows between two ids, and their scores."""
        # `+rank` keeps SQLite from sorting inside the index, where the bounds do not count.
        rows = self._connection.execute(
            f"""SELECT f.rowid, f.rank FROM messages_fts f {self._join}
            WHERE messages_fts MATCH :expression AND f.rowid > :floor AND f.rowid <= :ceiling
            {self._where} ORDER BY +f.rank, f.rowid DESC LIMIT :limit""",
            self._values(expression, floor=floor, ceiling=ceiling, limit=POOL),
        ).fetchall()
        return {row: -rank for row, rank in rows}

    def _floor(self, chosen: Sequence[int], ceiling: int) -> int:
        """Return the id above which the rows are ranked: 0 unless the rarest word is too common."""
        deciding = (
            " AND ".join(self.required)
            or min((self._frequencies[at], self._units[at].expression) for at in chosen)[1]
        )
        if min(self._frequencies[at] for at in chosen) <= BUDGET:
            return 0
        row = self._connection.execute(
            f"""SELECT f.rowid FROM messages_fts f {self._join}
            WHERE messages_fts MATCH :expression AND f.rowid <= :ceiling {self._where}
            ORDER BY f.rowid DESC LIMIT 1 OFFSET :limit""",
            self._values(deciding, ceiling=ceiling, limit=BUDGET),
        ).fetchone()
        return int(row[0]) if row else 0

    def _second_look(self, scores: Mapping[int, float], dropped: Sequence[int]) -> dict[int, float]:
        """Add to the scores what the words are worth that did not rank, each by its true weight."""
        rows = search_rows.newest(self._connection)
        result = dict(scores)
        best = sorted(scores, key=lambda row: scores[row], reverse=True)[:_LOOKED_AT]
        with closing(sqlite3.connect(":memory:")) as memory:
            memory.execute("CREATE VIRTUAL TABLE t USING fts5(c, tokenize='porter unicode61')")
            memory.executemany("INSERT INTO t(rowid, c) VALUES (?, ?)", self._contents(best))
            for at in dropped:
                hits = memory.execute(
                    "SELECT rowid, rank FROM t WHERE t MATCH ?", (self._units[at].expression,)
                ).fetchall()
                local = ranking.idf(len(best), len(hits))
                weight = ranking.idf(rows, self._frequencies[at]) / local
                for row, rank in hits:
                    result[row] -= rank * weight
        return result

    def _contents(self, ids: Sequence[int]) -> list[tuple[int, str]]:
        return self._connection.execute(
            f"""SELECT m.message_id, substr(m.content, 1, {_READ_AGAIN})
            FROM json_each(?) i CROSS JOIN messages m ON m.message_id = i.value""",
            (json.dumps(ids),),
        ).fetchall()

    def _values(self, expression: str, **more: int) -> dict[str, str | int | None]:
        return {**self._within.parameters(), "expression": expression, "below": END, **more}
