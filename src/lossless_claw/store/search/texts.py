"""Full text where the word index does not help: CJK, and a SQLite or a file without it.

Candidates come from the CJK index and the word index; what is not indexed yet, or everything
where there is no index, is read. Whatever is returned was verified on its text.
"""

from __future__ import annotations

import heapq
import re
import sqlite3
from collections.abc import Iterator
from functools import cached_property
from itertools import chain, islice

from lossless_claw.store.search import cjk, ranking
from lossless_claw.store.search import rows as search_rows
from lossless_claw.store.search.query import Query, Unit, loosened
from lossless_claw.store.search.ranking import Scored
from lossless_claw.store.search.rows import END, Indexes, Reach, Row
from lossless_claw.store.search.walk import Order

POOL = 1_000
"""So many rows that hold everything, and as many others, are ranked: the newest."""

DONORS = 200

RANKED = 64
"""Up to so many hits of one or two CJK characters are read and ranked."""

LISTED = 200
"""So many of more hits stand among the summaries by their place; the others come after them."""


class Seeker:
    """Finds a unit in a text: whole words whatever their case, a CJK run as it stands."""

    def __init__(self, unit: Unit):
        is_plain = not unit.words and cjk.runs().fullmatch(unit.text) is not None
        self._text = unit.text if is_plain else None
        self._pattern = re.compile(unit.pattern(), re.IGNORECASE)

    def is_in(self, text: str) -> bool:
        """Whether the text holds it."""
        if self._text is not None:
            return self._text in text
        return self._pattern.search(text) is not None

    def count(self, text: str) -> int:
        """Return how often the text holds it."""
        if self._text is not None:
            return text.count(self._text)
        return sum(1 for _ in self._pattern.finditer(text))


class Texts:
    """The messages whose text holds the units of a query."""

    def __init__(
        self, connection: sqlite3.Connection, indexes: Indexes, within: Reach, query: Query
    ):
        self._connection = connection
        self._indexes = indexes
        self._within = within
        self._uses_index = query.has_cjk and indexes.grams and indexes.words
        self._join, self._where = within.of_index(indexes)
        self._units = query.units
        self._whole = [Seeker(unit) for unit in query.units]
        self._any_units = self._loosened(query.units)
        self._any = [Seeker(unit) for unit in self._any_units]
        self._required = [Seeker(unit) for unit in query.units if unit.is_required]
        self.note = None if self._uses_index else self._apology(query)

    def total(self) -> tuple[int, bool]:
        """Return how many rows are found, and whether there may be more."""
        if self._tokens_decide:
            return self._count, False
        whole, others, may_be_more = self._candidates
        return len(whole) + len(others), may_be_more

    def stage(self, below: int, rows: int, *, is_whole: bool) -> list[int]:
        """Return the newest hits below an id: those that hold everything, or the others."""
        if not is_whole and self._is_single:
            return []
        if self._tokens_decide:
            return list(islice(self._told(below), rows))
        found = self._holding(below) if is_whole else self._others(below)
        return [row.id for row in islice(found, rows)]

    def pool(self, ceiling: int) -> Order:
        """Return the best messages up to id *ceiling*, best first.

        What the index alone finds is not worth reading in great numbers: it comes newest first.
        """
        if self._tokens_decide and self._count > RANKED:
            return self._newest(ceiling)
        holding, others, is_cut = self._candidates
        notes = [f"ranked among the newest {POOL:,} of the messages that match"] if is_cut else []
        rows = [row for row in holding + others if row.id <= ceiling]
        whole = {row.id for row in holding}
        scores = self._scores(rows)
        shared = dict(scores)
        if len(self._any) >= ranking.QUESTION and not self._required:
            donors = list(scores)[:DONORS]
            near = search_rows.neighbours(self._connection, self._within, donors, ceiling)
            shared = ranking.spread(scores, near)
        if len(shared) > len(scores):
            notes.append(ranking.NEIGHBOURS_NOTE)
        found = ranking.best_first(Scored(row, s, row in whole) for row, s in shared.items())
        return Order(tuple(found), not is_cut, "; ".join(notes) or None)

    def _newest(self, ceiling: int) -> Order:
        """Return the newest hits, scored by their place only."""
        ids = self.stage(ceiling + 1, LISTED + 1, is_whole=True)
        rows = tuple(Scored(row, 1 - at / LISTED, True) for at, row in enumerate(ids[:LISTED]))
        return Order(rows, len(ids) <= LISTED, "too many to be ranked: the newest come first")

    def _scores(self, rows: list[Row]) -> dict[int, float]:
        """Return the score of each row, best first."""
        counts = [[unit.count(row.text) for unit in self._any] for row in rows]
        lengths = [len(row.text) for row in rows]
        scores = ranking.bm25(counts, lengths, search_rows.newest(self._connection))
        pairs = zip(scores, rows, strict=True)
        return {row.id: score for score, row in sorted(pairs, key=lambda pair: -pair[0])}

    # -- deciding ------------------------------------------------------------------------

    @cached_property
    def _candidates(self) -> tuple[list[Row], list[Row], bool]:
        """The rows to rank, those that hold everything and others, and whether there are more."""
        whole = list(islice(self._holding(END), POOL + 1))
        others = [] if self._is_single else list(islice(self._others(END), POOL + 1))
        is_cut = len(whole) > POOL or len(others) > POOL
        return whole[:POOL], others[:POOL], is_cut

    @property
    def _is_single(self) -> bool:
        """Whether a row that holds anything of the query holds all of it."""
        return len(self._units) == 1 and self._any_units == self._units

    @property
    def _tokens_decide(self) -> bool:
        """Whether the index alone tells how many rows match."""
        return self._uses_index and self._is_single and len(self._units[0].text) <= 2

    def _loosened(self, units: tuple[Unit, ...]) -> tuple[Unit, ...]:
        """Return the units of which one is enough: of a run that is not found, its pieces."""
        found: list[Unit] = []
        for unit in loosened(units):
            is_sure = bool(unit.words) or unit.is_required or len(unit.text) <= 2
            found += [unit] if is_sure or self._occurs(unit) else unit.parts()
        return tuple(dict.fromkeys(found))

    def _occurs(self, unit: Unit) -> bool:
        seeker = Seeker(unit)
        rows = self._read(self._every_id([unit], END))
        return any(seeker.is_in(row.text) for row in rows)

    def _holds_all(self, text: str) -> bool:
        return all(unit.is_in(text) for unit in self._whole)

    def _holds_any(self, text: str) -> bool:
        required = all(unit.is_in(text) for unit in self._required)
        return required and any(unit.is_in(text) for unit in self._any)

    def _apology(self, query: Query) -> str:
        missing = "the CJK index" if query.has_cjk and self._indexes.words else "full-text search"
        return f"{missing} is not available here: every message was read; word forms do not match"

    # -- reading -------------------------------------------------------------------------

    def _holding(self, below: int) -> Iterator[Row]:
        rows = self._read(self._every_id(self._units, below))
        return (row for row in rows if self._holds_all(row.text))

    def _others(self, below: int) -> Iterator[Row]:
        rows = self._read(chain(self._tail(below), self._either(below)))
        return (row for row in rows if self._holds_any(row.text) and not self._holds_all(row.text))

    def _read(self, ids: Iterator[int]) -> Iterator[Row]:
        return search_rows.texts(self._connection, ids)

    def _tail(self, below: int) -> Iterator[int]:
        above = self._indexes.watermark if self._uses_index else 0
        return search_rows.scan(self._connection, self._within, below=below, above=above)

    def _every_id(self, units: list[Unit] | tuple[Unit, ...], below: int) -> Iterator[int]:
        """Yield the ids of the rows that may hold all units, newest first."""
        expression = cjk.every_piece(" ".join(unit.text for unit in units if not unit.words))
        if not self._uses_index or not expression:
            return self._tail(below)
        return chain(self._tail(below), self._index("lossless_cjk", expression, below))

    def _either(self, below: int) -> Iterator[int]:
        """Yield the ids of the indexed rows that may hold one of the units, newest first."""
        if not self._uses_index:
            return iter(())
        grams = [f"({cjk.every_piece(unit.text)})" for unit in self._any_units if not unit.words]
        words = [unit.expression for unit in self._any_units if unit.words]
        found = [self._index("lossless_cjk", " OR ".join(grams), below)] if grams else []
        if words:
            found.append(self._index("messages_fts", " OR ".join(words), below))
        return _distinct(heapq.merge(*found, reverse=True))

    def _index(self, table: str, expression: str, below: int) -> Iterator[int]:
        statement = f"""SELECT f.rowid FROM {table} f {self._join}
            WHERE {table} MATCH :expression AND f.rowid < :below AND f.rowid <= :watermark
            {self._where} ORDER BY f.rowid DESC"""
        return search_rows.stream(self._connection, statement, self._values(expression, below))

    def _told(self, below: int) -> Iterator[int]:
        """Yield the hits of a text that the index knows as a whole, newest first."""
        tail = (row.id for row in self._read(self._tail(below)) if self._holds_all(row.text))
        expression = cjk.every_piece(self._units[0].text)
        return chain(tail, self._index("lossless_cjk", expression, below))

    @cached_property
    def _count(self) -> int:
        """How many rows hold a text that the index knows as a whole."""
        expression = cjk.every_piece(self._units[0].text)
        row = self._connection.execute(
            f"""SELECT count(*) FROM lossless_cjk f {self._join}
            WHERE lossless_cjk MATCH :expression AND f.rowid <= :watermark {self._where}""",
            self._values(expression, END),
        ).fetchone()
        tail = self._read(self._tail(END))
        return int(row[0]) + sum(self._holds_all(row.text) for row in tail)

    def _values(self, expression: str, below: int) -> dict[str, str | int | None]:
        return {
            **self._within.parameters(),
            "expression": expression,
            "below": below,
            "watermark": self._indexes.watermark,
        }


def _distinct(ids: Iterator[int]) -> Iterator[int]:
    last = None
    for number in ids:
        if number != last:
            yield number
        last = number
