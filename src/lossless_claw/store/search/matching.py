"""One page of a regular-expression search over messages and summaries, newest first."""

from __future__ import annotations

from typing import Any

import regex

from lossless_claw.errors import CursorError
from lossless_claw.store import cursor as cursors
from lossless_claw.store.search import paging
from lossless_claw.store.search import rows as search_rows
from lossless_claw.store.search.expressions import MESSAGE_MS, Expressions, Found, Limit
from lossless_claw.store.search.paging import Candidate, Page, Reading, Request
from lossless_claw.store.search.rows import END
from lossless_claw.store.search.summaries import Hit, Summaries, newest_first


def matching(reading: Reading, asked: Request, pattern: regex.Pattern[str], limit: Limit) -> Page:
    """Return the page of *pattern* that *asked* names, as far as the time goes."""
    state = paging.started(reading.connection, asked)
    below = _below(state)
    expressions = Expressions(reading.connection, reading.indexes, reading.within, pattern)
    # Messages first: what a summary says is in them, and a page that the time cuts goes on there.
    found = Found((), 0, True, None)
    if asked.scope != "summaries":
        found = expressions.page(below, asked.limit + 1, limit)
    hits: list[Hit] = []
    if asked.scope != "messages":
        search = Summaries(reading.connection, reading.indexes, reading.within)
        hits = newest_first(search.by_pattern(pattern, limit))
    messages = _messages(found)
    summaries = _summaries([hit for hit in hits if hit.node.row <= state["d"]], state, asked.limit)
    taken = paging.merge(messages, summaries, asked.limit)
    after = _after(paging.advanced(state, taken), taken, messages, found)
    seen = state["n"] if type(state.get("n")) is int else 0
    counted = seen + len(messages) + found.further + len(hits) - state[paging.SUMMARIES]
    total, may_be_more = _total(state, counted, found, limit)
    is_last = len(taken) == len(messages) + len(summaries) and not _is_cut(found, asked)
    return Page(
        matches=paging.show(reading.connection, taken, None),
        total=total,
        at_least=may_be_more,
        next_cursor=None
        if is_last
        else cursors.encode(
            asked.mark, {**after, "n": seen + len(taken), "t": [total, may_be_more]}
        ),
        note=paging.sentence(reading.damage, *_notes(expressions, found, limit, total)),
    )


def _messages(found: Found) -> list[Candidate]:
    return [
        Candidate(paging.MESSAGES, (search_rows.epoch(row.created_at),), row.id, row, span)
        for row, span in found.rows
    ]


def _summaries(hits: list[Hit], state: dict[str, Any], limit: int) -> list[Candidate]:
    start = state[paging.SUMMARIES]
    return [
        Candidate(
            paging.SUMMARIES, (search_rows.epoch(hit.node.time),), start + at + 1, hit, hit.span
        )
        for at, hit in enumerate(hits[start : start + limit + 1])
    ]


def _below(state: dict[str, Any]) -> int:
    place = state[paging.MESSAGES]
    if place is None:
        return END
    if type(place) is not int:
        raise CursorError("the cursor names no place")
    return place


def _is_cut(found: Found, asked: Request) -> bool:
    """Whether the time ended before the messages of the page were found."""
    return not found.is_complete and len(found.rows) <= asked.limit


def _after(
    state: dict[str, Any], taken: list[Candidate], messages: list[Candidate], found: Found
) -> dict[str, Any]:
    """Return the state to go on from: behind what was read, when all of its hits were taken."""
    count = sum(candidate.stream == paging.MESSAGES for candidate in taken)
    if count == len(messages) and found.last_read is not None:
        return {**state, paging.MESSAGES: found.last_read}
    return state


def _total(state: dict[str, Any], counted: int, found: Found, limit: Limit) -> tuple[int, bool]:
    """Return how many hits there are in all: what a page before knew exactly stays."""
    match state.get("t"):
        case [int(total), False]:
            return total, False
        case [int(total), True]:
            return max(total, counted), True
    return counted, not found.is_complete or limit.has_ended or limit.skipped > 0


def _notes(expressions: Expressions, found: Found, limit: Limit, total: int) -> list[str | None]:
    notes: list[str | None] = []
    if limit.skipped:
        notes.append(
            f"{limit.skipped} texts were left out: matching took more than {MESSAGE_MS} ms each"
        )
    if limit.has_ended:
        size = expressions.candidates()
        notes.append(f"the time ended: searched {limit.searched:,} of {size:,} messages")
    elif not found.is_complete and expressions.uses_index:
        notes.append(f"at least {total:,}, at most {expressions.candidates():,} matches")
    return notes
