"""Search, as an agent or a person asks for it: arguments checked, wrong modes explained."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal, TypeAlias

from msgspec import Struct

from lossless_claw.errors import PatternError, TimeFilterError
from lossless_claw.model import Match
from lossless_claw.recall import arguments

if TYPE_CHECKING:
    from lossless_claw.store.search.search import Page, Scope, Sort
    from lossless_claw.store.store import Store

Mode: TypeAlias = Literal["full_text", "regex"]
When: TypeAlias = str | datetime | None

MOST = 200

_QUOTED = re.compile(r'"[^"]*"')
# Narrow on purpose: pasted code, paths and prose hold single signs that mean nothing here.
_OPERATORS = (
    ("alternation", re.compile(r"[^\s|]\|[^\s|]")),
    ("a wildcard", re.compile(r"\.[*+]|\.\?(?=\w)")),
    ("a character class", re.compile(r"\w\[[^\]\s]+\]|\[[^\]\s]+\][\w*+?{]|\[\^?\S-\S[^\]\s]*\]")),
    ("an anchor", re.compile(r"(?:^|\s)\^\w|[A-Za-z)\]]\$(?:\s|$)")),
    ("a character escape", re.compile(r"\\[bBdDsSwW](?![A-Za-z])|(?:^|\s)\\[bB]\w")),
)


class Grep(Struct, frozen=True):
    """A page of hits, the best or the newest first.

    `total` counts all of them, exactly when `total_is_exact`, else at least so many. `note`
    says what was bounded or left out, None when nothing was.
    """

    matches: tuple[Match, ...]
    total: int | None
    total_is_exact: bool
    next_cursor: str | None
    note: str | None


def grep(
    store: Store,
    pattern: str,
    *,
    mode: Mode = "full_text",
    conversations: Sequence[int] | None,
    sort: Sort = "relevance",
    scope: Scope = "both",
    limit: int = 50,
    cursor: str | None = None,
    since: When = None,
    before: When = None,
) -> Grep:
    """Return what is found in messages and summaries (spec compaction-assembly-recall 6.2).

    Args:
        mode: Words (all of them first, then some; quoted phrases as they are), or a regular
            expression, always newest first.
        conversations: Which conversations may be seen; None for all.
        limit: Hits of a page, 1 to 200.
        since: ISO 8601 or datetime, included; UTC when it has no zone.
        before: The same, excluded.

    Raises:
        UsageError: If an argument cannot be used.
        PatternError: If the pattern is refused; the hint says what to call instead.
        TimeFilterError: If a time is no instant or the range is empty.
        CursorError: If the cursor belongs to another query.
    """
    arguments.text(pattern, "pattern")
    arguments.numbers(conversations, "conversations")
    arguments.one_of(mode, "mode", ("full_text", "regex"))
    arguments.whole(limit, "limit", MOST)
    arguments.cursor(cursor)
    start, end = _range(since, before)
    if mode == "regex":
        return _answer(
            store.search.regex(
                pattern, conversations=conversations, limit=limit, cursor=cursor,
                scope=scope, since=start, before=end,
            )
        )  # fmt: skip
    check_words(pattern)
    return _answer(
        store.search.full_text(
            pattern.strip(), conversations=conversations, sort=sort, limit=limit, cursor=cursor,
            scope=scope, since=start, before=end,
        )
    )  # fmt: skip


def check_words(pattern: str) -> None:
    """Refuse a full-text query that is meant as a regular expression.

    Raises:
        PatternError: Naming the construct and the call that understands it.
    """
    bare = _QUOTED.sub(" ", pattern)
    for name, operator in _OPERATORS:
        found = operator.search(bare)
        if found:
            raise PatternError(
                f"{found.group().strip()!r} is {name} of regular expressions: full text has none",
                hint='Call again with mode="regex", or put the text in double quotes to search '
                "for it as it stands.",
            )


def _range(since: When, before: When) -> tuple[datetime | None, datetime | None]:
    start, end = _instant("since", since), _instant("before", before)
    if start and end and start >= end:
        raise TimeFilterError("since must be earlier than before")
    return start, end


def _instant(name: str, value: When) -> datetime | None:
    if value is None:
        return None
    try:
        time = value if isinstance(value, datetime) else datetime.fromisoformat(value.strip())
        return (time if time.tzinfo else time.replace(tzinfo=UTC)).astimezone(UTC)
    except (AttributeError, TypeError, ValueError, OverflowError) as error:
        raise TimeFilterError(
            f"{name} must be a valid ISO timestamp, not {value!r}",
            hint="Write it like 2026-03-09T14:05:00Z.",
        ) from error


def _answer(page: Page) -> Grep:
    return Grep(page.matches, page.total, not page.at_least, page.next_cursor, page.note)
