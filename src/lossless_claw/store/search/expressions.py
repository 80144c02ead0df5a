"""Regular expressions over messages: the index proposes, the expression decides. Time-limited.

Newest first and over the whole history: nothing is left out silently. A message that takes too
long, or the end of the time, is counted and said.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from itertools import chain

import regex
from msgspec import Struct

from lossless_claw.errors import PatternError
from lossless_claw.store.search import rows as search_rows
from lossless_claw.store.search.effort import SHORT, is_tame, is_too_large
from lossless_claw.store.search.rows import END, Indexes, Reach, Row
from lossless_claw.store.search.trigrams import required_literal, trigram_expression

LONGEST = 1_000
MESSAGE_MS = 250
COUNTING_MS = 10
"""So long a search goes on counting once its page is full."""

_AT_ONCE = 64
"""So many short texts are matched between two looks at the clock, by a tame pattern."""


class Limit:
    """The time that one search for a pattern may take, and what it cost so far."""

    def __init__(
        self, monotonic: Callable[[], float], milliseconds: float, pattern: regex.Pattern[str]
    ):
        self._monotonic = monotonic
        self._end = monotonic() + milliseconds / 1000
        self._counting_end = float("inf")
        self._search = pattern.search
        self._literal = required_literal(pattern.pattern)
        self._unchecked = 0
        self._at_once = _AT_ONCE if is_tame(pattern.pattern) else 0
        self.searched = 0
        self.skipped = 0
        self.has_ended = False
        self.has_counted = False
        self.was_tried = False

    def find(self, text: str) -> tuple[int, int] | None:
        """Return the span of the first match; None also when the time did not suffice."""
        if not self._unchecked or len(text) > SHORT:
            return self._find_in_time(text)
        self._unchecked -= 1
        self.searched += 1
        if self._literal not in text:
            return None
        found = self._search(text)
        return found.span() if found else None

    def _find_in_time(self, text: str) -> tuple[int, int] | None:
        now = self._monotonic()
        left = self._end - now
        self._unchecked = self._at_once
        self.has_counted = now >= self._counting_end
        self.has_ended = left <= 0 and not self.has_counted
        self.was_tried = not self.is_over
        if self.is_over:
            return None
        if self._literal not in text:
            self.searched += 1
            return None
        try:
            found = self._search(text, timeout=min(left, MESSAGE_MS / 1000), concurrent=True)
        except TimeoutError:
            self.has_ended = left <= MESSAGE_MS / 1000
            self.skipped += not self.has_ended
            return None
        self.searched += 1
        return found.span() if found else None

    def only_count(self) -> None:
        """Let what follows take no more than the time for counting."""
        self._counting_end = self._monotonic() + COUNTING_MS / 1000

    def find_again(self) -> None:
        """End `only_count`."""
        self._counting_end = float("inf")

    @property
    def is_over(self) -> bool:
        """Whether the text given last was not searched for want of time."""
        return self.has_ended or self.has_counted


class Found(Struct, frozen=True):
    """The matches of a page in order, how many more were counted, and where the reading ended."""

    rows: tuple[tuple[Row, tuple[int, int]], ...]
    further: int
    is_complete: bool
    last_read: int | None


def compile_pattern(pattern: str) -> regex.Pattern[str]:
    """Return *pattern*, compiled: case-sensitive, without flags.

    Raises:
        PatternError: If it is empty, longer than 1,000 characters, too large or no pattern.
    """
    if not pattern:
        raise PatternError("the pattern is empty", hint="Give a regular expression.")
    if len(pattern) > LONGEST:
        raise PatternError(
            f"the pattern has {len(pattern):,} characters; {LONGEST:,} are the most",
            hint="Search for a shorter, telling part of it.",
        )
    if is_too_large(pattern):
        raise PatternError(
            "the pattern's counted repeats multiply to more than 100,000",
            hint="Use smaller counts, or + instead of {n}.",
        )
    try:
        return regex.compile(pattern)
    except (regex.error, RecursionError, OverflowError, ValueError, LookupError) as error:
        why = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise PatternError(
            f"invalid pattern {pattern[:80]!r}: {why}",
            hint='Escape special characters with \\, or use mode="full_text" for plain words.',
        ) from error


class Expressions:
    """The messages that a regular expression matches."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        indexes: Indexes,
        within: Reach,
        pattern: regex.Pattern[str],
    ):
        self._connection = connection
        self._indexes = indexes
        self._within = within
        self._pattern = pattern
        self._grams = trigram_expression(pattern.pattern) if indexes.trigrams else None
        self._join, self._where = within.of_index(indexes)

    @property
    def uses_index(self) -> bool:
        """Whether only candidates are read."""
        return self._grams is not None

    def page(self, below: int, rows: int, limit: Limit) -> Found:
        """Return the newest *rows* matches below an id; count on for a moment after them."""
        matches: dict[int, tuple[int, int]] = {}
        further, last = 0, None
        for message, text in self._texts(below):
            span = limit.find(text)
            if span is None and limit.is_over:
                if last is None and limit.was_tried:
                    # A message that alone takes all the time must not stop every later page.
                    limit.skipped, last = limit.skipped + 1, message
                break
            if len(matches) == rows:
                further += span is not None
                continue
            last = message
            if span:
                matches[message] = span
                if len(matches) == rows:
                    limit.only_count()
        is_complete = not limit.is_over
        limit.find_again()
        return Found(self._loaded(matches), further, is_complete, last)

    def _loaded(
        self, matches: dict[int, tuple[int, int]]
    ) -> tuple[tuple[Row, tuple[int, int]], ...]:
        rows = search_rows.load(self._connection, matches)
        return tuple((row, matches[row.id]) for row in rows.values())

    def candidates(self) -> int:
        """Return how many messages were to be read at most, in all."""
        if self._grams is None:
            return _size(self._connection, self._within)
        row = self._connection.execute(
            f"""SELECT count(*) FROM lossless_trigram f {self._join}
            WHERE lossless_trigram MATCH :grams AND f.rowid <= :below {self._where}""",
            self._values(self._indexes.watermark),
        ).fetchone()
        tail = search_rows.scan(
            self._connection, self._within, below=END, above=self._indexes.watermark
        )
        return int(row[0]) + sum(1 for _ in tail)

    def _texts(self, below: int) -> Iterator[tuple[int, str]]:
        """Yield id and text of the messages that may match, newest first."""
        connection, mark = self._connection, self._indexes.watermark
        if self._grams is None and self._within.scope is None:
            return search_rows.every_text(connection, self._within, below=below)
        above = 0 if self._grams is None else mark
        ids = search_rows.scan(connection, self._within, below=below, above=above)
        if self._grams is not None:
            ids = chain(ids, self._indexed(min(below, mark + 1)))
        return search_rows.texts_of(connection, ids)

    def _indexed(self, below: int) -> Iterator[int]:
        statement = f"""SELECT f.rowid FROM lossless_trigram f {self._join}
            WHERE lossless_trigram MATCH :grams AND f.rowid < :below {self._where}
            ORDER BY f.rowid DESC"""
        return search_rows.stream(self._connection, statement, self._values(below))

    def _values(self, below: int) -> dict[str, str | int | None]:
        return {**self._within.parameters(), "grams": self._grams, "below": below}


def _size(connection: sqlite3.Connection, within: Reach) -> int:
    return sum(1 for _ in search_rows.scan(connection, within, below=END, above=0))
