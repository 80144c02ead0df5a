"""One page of a list: fetched by keyset, shown with a preview. Knows no table.

A statement that is paged takes `:time`, `:id` (both NULL for the first page) and `:rows`, and
gives its key first and its time, as stored, last.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from msgspec import Struct

from lossless_claw.store.listing import keyset
from lossless_claw.store.listing.keyset import Position
from lossless_claw.store.listing.listed import Page

T = TypeVar("T")

PREVIEW_READ = 1_024
PREVIEW_SHOWN = 240
_SPACE = re.compile(r"\s+")


class Request(Struct, frozen=True):
    """Which page of which list: the filters bind the cursor."""

    resource: str
    filters: Mapping[str, Any]
    limit: int
    cursor: str | None


def fetch(
    connection: sqlite3.Connection,
    request: Request,
    statement: str,
    show: Callable[[Any], T],
    **values: object,
) -> Page[T]:
    """Return the page that *request* names, its rows made by *show*.

    Raises:
        CursorError: If the cursor is not of this list with these filters.
    """
    rows = connection.execute(
        statement,
        {**request.filters, **values, **_start(request), "rows": request.limit + 1},
    ).fetchall()
    chosen = rows[: request.limit]
    return Page(
        tuple(show(row) for row in chosen),
        request.limit,
        _next(request, chosen[-1]) if len(rows) > request.limit else None,
    )


def _start(request: Request) -> dict[str, Any]:
    if request.cursor is None:
        return {"time": None, "id": None}
    position = keyset.decode(request.cursor, request.resource, request.filters)
    return {"time": position.timestamp, "id": position.id}


def _next(request: Request, last: tuple[Any, ...]) -> str:
    return keyset.encode(request.resource, Position(str(last[-1]), last[0]), request.filters)


def preview(text: str) -> str:
    """Return *text* on one line, at most 240 characters, an ellipsis at the end when cut."""
    line = _SPACE.sub(" ", text).strip()
    return line if len(line) <= PREVIEW_SHOWN else line[: PREVIEW_SHOWN - 1] + "…"
