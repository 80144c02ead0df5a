"""What the commands that list rows share: an open listing, the answer of a page, limits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from lossless_claw.cli import output
from lossless_claw.cli.output import Answer
from lossless_claw.cli.session import Session
from lossless_claw.store.listing.listed import Identity, Limits, Page
from lossless_claw.store.listing.listing import Listing


@contextmanager
def listing(session: Session) -> Iterator[Listing]:
    """Give the lists of the database, opened read-only."""
    database = session.read_database()
    try:
        yield Listing(database)
    finally:
        database.close()


def find(lists: Listing, selected: str | int) -> Identity:
    """Return the conversation of a number or a session key.

    Raises:
        ConversationNotFoundError: If there is none.
    """
    if isinstance(selected, int):
        return lists.resolve(conversation_id=selected)
    return lists.resolve(session_key=selected)


def tail_limits(session: Session, count: int | None = None) -> Limits:
    """Return what the settings call the fresh tail; *count* goes before theirs."""
    config = session.config
    return Limits(count or config.fresh_tail_count, config.fresh_tail_max_tokens)


def write_page(
    session: Session,
    command: str,
    page: Page[Any],
    data: Mapping[str, Any] | None = None,
    columns: tuple[str, ...] = (),
) -> None:
    """Print *page*; people see *columns* of it."""
    pagination = {
        "limit": page.limit,
        "returned": len(page.items),
        "hasMore": page.next_cursor is not None,
        "nextCursor": page.next_cursor,
    }
    items = output.plain(page.items)
    answer = Answer(command, {**(data or {}), "items": items}, pagination, session.meta())

    def view() -> Iterator[Any]:
        yield output.grid(items, columns) if items else "nothing stored"
        if page.next_cursor is not None:
            yield f"\nmore: --cursor {page.next_cursor}"

    output.write(session, answer, view)
