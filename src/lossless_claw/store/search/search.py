"""Search over messages and summaries: questions to what `indexing` filled.

The one room that others ask. Whatever text is given, the answer is a page of hits, or an error
that says why the query is refused; never a database error, never silently less than there is.
"""

from __future__ import annotations

import sqlite3
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from threading import Lock

from lossless_claw.store.cursor import fingerprint
from lossless_claw.store.search import paging
from lossless_claw.store.search import rows as search_rows
from lossless_claw.store.search.expressions import Limit, compile_pattern
from lossless_claw.store.search.full_text import full_text
from lossless_claw.store.search.matching import matching
from lossless_claw.store.search.paging import Page, Reading, Scope
from lossless_claw.store.search.query import read_query
from lossless_claw.store.search.rows import Indexes
from lossless_claw.store.search.walk import Order, Sort
from lossless_claw.store.sqlite import Database

__all__ = ["Page", "Scope", "Search", "Sort"]

TIME_LIMIT_MS = 2_000
_REMEMBERED = 16
_DAMAGE = frozenset({sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CORRUPT})


class Search:
    """What can be asked of the search indexes of one database. Safe to share between threads.

    Args:
        monotonic: Seconds that never go back, for the time limit.
    """

    def __init__(self, database: Database, monotonic: Callable[[], float] = time.monotonic):
        self._database = database
        self._monotonic = monotonic
        self._orders: OrderedDict[tuple[str, str, int], Order] = OrderedDict()
        self._lock = Lock()

    def texts(self, ids: Iterable[int]) -> dict[int, str]:
        """Return the search texts of the messages with these ids, without those that are gone."""
        with self._database.read() as connection:
            return {row.id: row.text for row in search_rows.load(connection, ids).values()}

    def full_text(
        self,
        query: str,
        *,
        conversations: Sequence[int] | None,
        sort: Sort = "relevance",
        limit: int = 50,
        cursor: str | None = None,
        scope: Scope = "both",
        since: datetime | None = None,
        before: datetime | None = None,
    ) -> Page:
        """Return what holds the words of *query*: all of them first, then some.

        Of several words by relevance, short neighbours of a hit count as hits too (spec
        evaluation 2); the total does not count them.

        Args:
            conversations: Where to search; None is everywhere, an empty sequence nowhere.
            since: Nothing older, by the time of the message (UTC when it has no zone).
            before: Only what is older.

        Raises:
            PatternError: If there is no word in *query*.
            CursorError: If *cursor* belongs to another query.
        """
        words = read_query(query)
        mark = fingerprint("full_text", query, conversations, sort, scope, since, before)
        asked = paging.request(mark, sort, scope, limit, cursor)

        def remember(stream: str, ceiling: int, make: Callable[[], Order]) -> Order:
            return self._remembered((mark, stream, ceiling), make)

        return self._answer(
            lambda reading: full_text(reading, asked, words, remember),
            conversations,
            since,
            before,
        )

    def regex(
        self,
        pattern: str,
        *,
        conversations: Sequence[int] | None,
        limit: int = 50,
        cursor: str | None = None,
        scope: Scope = "both",
        since: datetime | None = None,
        before: datetime | None = None,
        time_limit_ms: int = TIME_LIMIT_MS,
    ) -> Page:
        """Return what *pattern* matches, newest first, over the whole history.

        When the time ends first, the note says how far it came and the cursor goes on there.

        Raises:
            PatternError: If the pattern is refused, saying why.
            CursorError: If *cursor* belongs to another query.
        """
        compiled = compile_pattern(pattern)
        mark = fingerprint("regex", pattern, conversations, scope, since, before)
        asked = paging.request(mark, "recency", scope, limit, cursor)
        clock = Limit(self._monotonic, time_limit_ms, compiled)
        return self._answer(
            lambda reading: matching(reading, asked, compiled, clock),
            conversations,
            since,
            before,
        )

    # -- steps ---------------------------------------------------------------------------

    def _answer(
        self,
        search: Callable[[Reading], Page],
        conversations: Sequence[int] | None,
        since: datetime | None,
        before: datetime | None,
    ) -> Page:
        """Return the answer by the indexes there are; without any when they prove damaged."""
        with self._database.read() as connection:
            within = search_rows.reach(connection, conversations, since, before)
            try:
                return search(
                    Reading(connection, search_rows.usable(connection, self._database), within)
                )
            except sqlite3.DatabaseError as error:
                if getattr(error, "sqlite_errorcode", 0) & 0xFF not in _DAMAGE:
                    raise
                note = f"a search index is damaged ({error}): every message was read instead"
                return search(Reading(connection, Indexes(), within, note))

    def _remembered(self, key: tuple[str, str, int], make: Callable[[], Order]) -> Order:
        """Return the order of the first page: weights move with every message that comes in."""
        with self._lock:
            known = self._orders.get(key)
        if known is None:
            known = make()
        with self._lock:
            self._orders[key] = known
            self._orders.move_to_end(key)
            while len(self._orders) > _REMEMBERED:
                self._orders.popitem(last=False)
        return known
