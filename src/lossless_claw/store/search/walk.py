"""The way through the hits of a query, one page after the other. Knows no table.

Hits by relevance are a pool of ranked rows and then the rest, newest first; by recency there is
no pool. Rows that hold everything come before rows that hold a part. A place on the way
is a stage and a number, so that a page neither repeats nor skips a hit.
"""

from __future__ import annotations

from typing import Literal, Protocol, TypeAlias

from msgspec import Struct

from lossless_claw.errors import CursorError
from lossless_claw.store.search.ranking import Scored

Sort: TypeAlias = Literal["relevance", "recency", "hybrid"]

POOL, WHOLE, OTHERS = "p", "w", "o"
_AT_ONCE = 64


class Finder(Protocol):
    """What finds messages: `Words` or `Texts`."""

    note: str | None
    """What there is to say of the search before anything is ranked."""

    def total(self) -> tuple[int, bool]: ...

    def stage(self, below: int, rows: int, *, is_whole: bool) -> list[int]: ...

    def pool(self, ceiling: int) -> Order: ...


class Order(Struct, frozen=True):
    """Ranked rows, best first, with what is to be said of them: kept together for later pages.

    `is_exhausted`: these are all hits. `note`: what was bounded.
    """

    rows: tuple[Scored, ...]
    is_exhausted: bool
    note: str | None = None


class Place(Struct, frozen=True):
    """Where on the way a page ended: rows of the pool taken, or the last id of a stage."""

    stage: str
    at: int


class Step(Struct, frozen=True):
    """A hit, and the place after it."""

    scored: Scored
    place: Place


def start(sort: Sort, ceiling: int) -> Place:
    """Return the place before the first hit."""
    return Place(WHOLE, ceiling + 1) if sort == "recency" else Place(POOL, 0)


def read_place(value: object) -> Place:
    """Return the place that a cursor holds.

    Raises:
        CursorError: If it is none.
    """
    match value:
        case [("p" | "w" | "o") as stage, int(at)] if at >= 0:
            return Place(str(stage), at)
    raise CursorError("the cursor names no place")


def walk(finder: Finder, pool: Order, place: Place, ceiling: int, rows: int) -> list[Step]:
    """Return the next *rows* hits after *place*."""
    steps: list[Step] = []
    if place.stage == POOL:
        taken = pool.rows[place.at : place.at + rows]
        steps = [Step(row, Place(POOL, place.at + n + 1)) for n, row in enumerate(taken)]
        place = Place(WHOLE, ceiling + 1)
    if pool.is_exhausted:
        return steps
    listed = {row.id for row in pool.rows}
    for stage in (WHOLE, OTHERS):
        if place.stage == stage and len(steps) < rows:
            steps += _stage(finder, listed, place, rows - len(steps))
            place = Place(OTHERS, ceiling + 1)
    return steps


def _stage(finder: Finder, listed: set[int | str], place: Place, rows: int) -> list[Step]:
    """Return up to *rows* hits of one stage that are not in the pool."""
    is_whole, below = place.stage == WHOLE, place.at
    steps: list[Step] = []
    size = rows if not listed else max(rows, _AT_ONCE)
    while len(steps) < rows:
        ids = finder.stage(below, size, is_whole=is_whole)
        steps += [
            Step(Scored(row, 0.0, is_whole), Place(place.stage, row))
            for row in ids
            if row not in listed
        ]
        if len(ids) < size:
            break
        below = ids[-1]
    return steps[:rows]
