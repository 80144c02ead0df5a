"""Pages of hits: messages and summaries merged, counted, and where the next page begins.

Nothing here searches. Spec: compaction-assembly-recall 6.2.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

from msgspec import Struct

from lossless_claw.errors import CursorError, UsageError
from lossless_claw.model import Match
from lossless_claw.store import cursor as cursors
from lossless_claw.store.search import excerpt
from lossless_claw.store.search import rows as search_rows
from lossless_claw.store.search.rows import Indexes, Reach, Row
from lossless_claw.store.search.summaries import Hit
from lossless_claw.store.search.walk import Sort

Scope: TypeAlias = Literal["messages", "summaries", "both"]

SORTS = ("relevance", "recency", "hybrid")
SCOPES = ("messages", "summaries", "both")
MESSAGES, SUMMARIES = "m", "s"
WINDOW = 140
"""Characters of a snippet that the hits in it may span."""

REACH = 1_000
"""Characters behind the first hit of a text that are looked through for a better place."""


class Page(Struct, frozen=True):
    """A page of hits.

    `total` is how many hits there are in all, `at_least` that there may be more. `note` says in
    a sentence what was bounded, left out or done without an index; None when nothing was.
    """

    matches: tuple[Match, ...]
    total: int | None
    at_least: bool
    next_cursor: str | None
    note: str | None


class Request(Struct, frozen=True):
    """One question, the same on each of its pages; `state` is where the page before ended."""

    mark: str
    sort: Sort
    scope: Scope
    limit: int
    state: Mapping[str, Any] | None

    @property
    def is_ranked(self) -> bool:
        return self.sort != "recency"


class Reading(Struct, frozen=True):
    """What a search reads from: a connection, the usable indexes, the rows within reach."""

    connection: sqlite3.Connection
    indexes: Indexes
    within: Reach
    damage: str | None = None


class Candidate(Struct, frozen=True):
    """A hit of one of the streams: what it competes with, and the stream's place after it."""

    stream: str
    key: tuple[float, ...]
    after: Any
    found: Row | Hit
    span: tuple[int, int] | None = None
    score: float | None = None


def request(mark: str, sort: Sort, scope: Scope, limit: int, cursor: str | None) -> Request:
    """Return the request of a page.

    Raises:
        UsageError: If an argument is none of those that exist.
        CursorError: If the cursor belongs to another query.
    """
    if limit < 1:
        raise UsageError(f"limit must be at least 1, not {limit}")
    if sort not in SORTS:
        raise UsageError(f"sort must be one of {', '.join(SORTS)}, not {sort!r}")
    if scope not in SCOPES:
        raise UsageError(f"scope must be one of {', '.join(SCOPES)}, not {scope!r}")
    state = None if cursor is None else cursors.decode(mark, cursor)
    return Request(mark, sort, scope, limit, state)


def started(connection: sqlite3.Connection, asked: Request) -> dict[str, Any]:
    """Return the state that a page begins with: what came later than the first page is outside.

    `m`, `s`: the places in the two streams; `c`, `d`: newest message and summary row counted in.
    """
    if asked.state is None:
        newest_summary = connection.execute("SELECT max(rowid) FROM summaries").fetchone()[0] or 0
        newest = search_rows.newest(connection)
        return {MESSAGES: None, SUMMARIES: 0, "c": newest, "d": newest_summary}
    state = {key: value for key, value in asked.state.items() if key != "q"}
    if not all(type(state.get(key)) is int and state[key] >= 0 for key in (SUMMARIES, "c", "d")):
        raise CursorError("the cursor names no place")
    return {MESSAGES: None, **state}


def merge(
    messages: Sequence[Candidate], summaries: Sequence[Candidate], limit: int
) -> list[Candidate]:
    """Return the first *limit* of two streams, the better head first, a message among equals."""
    taken: list[Candidate] = []
    first, second = 0, 0
    while len(taken) < limit and (first < len(messages) or second < len(summaries)):
        is_message = second == len(summaries) or (
            first < len(messages) and messages[first].key >= summaries[second].key
        )
        taken.append(messages[first] if is_message else summaries[second])
        first, second = first + is_message, second + (not is_message)
    return taken


def advanced(state: Mapping[str, Any], taken: Sequence[Candidate]) -> dict[str, Any]:
    """Return the state after the hits taken."""
    return {**state, **{candidate.stream: candidate.after for candidate in taken}}


def show(
    connection: sqlite3.Connection, taken: Sequence[Candidate], finder: excerpt.Finder | None
) -> tuple[Match, ...]:
    """Return the hits as callers see them; *finder* finds the place of a hit without a span."""
    rows = [candidate.found.id for candidate in taken if isinstance(candidate.found, Row)]
    covered = search_rows.coverage(connection, rows)
    return tuple(_shown(candidate, covered, finder) for candidate in taken)


def sentence(*notes: str | None) -> str | None:
    """Return the notes that say something, as one."""
    return "; ".join(note for note in notes if note) or None


def _shown(
    candidate: Candidate, covered: Mapping[int, str], finder: excerpt.Finder | None
) -> Match:
    found, span = candidate.found, candidate.span
    text = found.text if isinstance(found, Row) else found.node.text
    if finder is not None:
        span = excerpt.best_window(text, finder, WINDOW, REACH)
    snippet = excerpt.excerpt(text, span)
    if isinstance(found, Row):
        return search_rows.message_match(found, snippet, covered.get(found.id), candidate.score)
    return found.match(snippet, candidate.score)
