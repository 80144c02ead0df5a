"""One page of a full-text search: messages and summaries that hold the words of a query."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from msgspec.structs import replace

from lossless_claw.store import cursor as cursors
from lossless_claw.store.search import excerpt, paging, ranking
from lossless_claw.store.search import rows as search_rows
from lossless_claw.store.search import walk as search_walk
from lossless_claw.store.search.paging import Candidate, Page, Reading, Request
from lossless_claw.store.search.query import Query
from lossless_claw.store.search.ranking import Scored
from lossless_claw.store.search.summaries import Hit, Summaries, newest_first
from lossless_claw.store.search.texts import Texts
from lossless_claw.store.search.walk import Order, Place
from lossless_claw.store.search.words import Words

Remember: TypeAlias = Callable[[str, int, Callable[[], Order]], Order]
"""Returns the order of a stream as it was on the first page, making it when it is not known."""


def full_text(reading: Reading, asked: Request, query: Query, remember: Remember) -> Page:
    """Return the page of *query* that *asked* names."""
    state = paging.started(reading.connection, asked)
    finder = _finder(reading, query)
    pool = _pool(reading, asked, finder, state["c"], remember)
    messages, total, may_be_more = _messages(reading, asked, finder, state, pool)
    summaries, count = _summaries(reading, asked, query, finder, state, remember)
    taken = paging.merge(messages, summaries, asked.limit)
    is_last = len(taken) == len(messages) + len(summaries)
    after = paging.advanced(state, taken)
    return Page(
        matches=paging.show(reading.connection, taken, excerpt.finder(query.units)),
        total=total + count,
        at_least=may_be_more,
        next_cursor=None if is_last else cursors.encode(asked.mark, after),
        note=paging.sentence(reading.damage, query.note, finder.note, pool.note),
    )


def _finder(reading: Reading, query: Query) -> Words | Texts:
    by_words = reading.indexes.words and not query.has_cjk
    kind = Words if by_words else Texts
    return kind(reading.connection, reading.indexes, reading.within, query)


def _messages(
    reading: Reading,
    asked: Request,
    finder: Words | Texts,
    state: dict[str, Any],
    pool: Order,
) -> tuple[list[Candidate], int, bool]:
    if asked.scope == "summaries":
        return [], 0, False
    ceiling = state["c"]
    place = search_walk.start(asked.sort, ceiling)
    if state[paging.MESSAGES] is not None:
        place = search_walk.read_place(state[paging.MESSAGES])
    steps = search_walk.walk(finder, pool, place, ceiling, asked.limit + 1)
    rows = search_rows.load(reading.connection, [int(step.scored.id) for step in steps])
    best = max((row.score for row in pool.rows), default=0.0) or 1.0
    found = [(rows[int(step.scored.id)], step) for step in steps if step.scored.id in rows]
    candidates = [
        Candidate(
            stream=paging.MESSAGES,
            key=(step.scored.is_whole, _weight(asked, step.scored, best, row.created_at)),
            after=_written(step.place),
            found=row,
            score=step.scored.score if asked.is_ranked else None,
        )
        for row, step in found
    ]
    return candidates, *finder.total()


def _summaries(
    reading: Reading,
    asked: Request,
    query: Query,
    finder: Words | Texts,
    state: dict[str, Any],
    remember: Remember,
) -> tuple[list[Candidate], int]:
    if asked.scope == "messages":
        return [], 0
    expressions = (finder.any, finder.whole) if isinstance(finder, Words) else None
    search = Summaries(reading.connection, reading.indexes, reading.within)
    hits = {hit.node.id: hit for hit in search.by_words(query, expressions)}
    standing = [hit for hit in hits.values() if hit.node.row <= state["d"]]
    order = remember(paging.SUMMARIES, state["d"], lambda: _ordered(asked, standing)).rows
    best = max((row.score for row in order), default=0.0) or 1.0
    start = state[paging.SUMMARIES]
    window = order[start : start + asked.limit + 1]
    candidates = [
        Candidate(
            stream=paging.SUMMARIES,
            key=(row.is_whole, _weight(asked, row, best, hits[str(row.id)].node.time)),
            after=start + at + 1,
            found=hits[str(row.id)],
            score=row.score if asked.is_ranked else None,
        )
        for at, row in enumerate(window)
        if row.id in hits
    ]
    return candidates, len(hits)


def _ordered(asked: Request, hits: list[Hit]) -> Order:
    return Order(tuple(_in_order(asked, hits)), is_exhausted=True)


def _in_order(asked: Request, hits: list[Hit]) -> list[Scored]:
    if not asked.is_ranked:
        return [hit.scored for hit in newest_first(hits)]
    if asked.sort == "relevance":
        return ranking.best_first(hit.scored for hit in hits)
    times = {hit.node.id: search_rows.epoch(hit.node.time) for hit in hits}
    return ranking.aged_first([hit.scored for hit in hits], times)


def _pool(
    reading: Reading, asked: Request, finder: Words | Texts, ceiling: int, remember: Remember
) -> Order:
    """Return the messages that are ranked; none by recency, and where none are asked for."""
    if not asked.is_ranked or asked.scope == "summaries":
        return Order((), is_exhausted=False)
    return remember(paging.MESSAGES, ceiling, lambda: _ranked(reading, asked, finder, ceiling))


def _ranked(reading: Reading, asked: Request, finder: Words | Texts, ceiling: int) -> Order:
    pool = finder.pool(ceiling)
    if asked.sort == "relevance":
        return pool
    rows = search_rows.load(reading.connection, [int(row.id) for row in pool.rows])
    times = {row.id: search_rows.epoch(row.created_at) for row in rows.values()}
    return replace(pool, rows=tuple(ranking.aged_first(pool.rows, times)))


def _weight(asked: Request, row: Scored, best: float, time: str) -> float:
    """Return what a hit competes with: its share of its stream's best score, or its time."""
    return row.score / best if asked.is_ranked else search_rows.epoch(time)


def _written(place: Place) -> list[str | int]:
    return [place.stage, place.at]
