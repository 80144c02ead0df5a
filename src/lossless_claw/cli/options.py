"""Options that several commands take, each declared once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from lossless_claw.cli.params import Digits

F = TypeVar("F", bound=Callable[..., Any])

MAX_LIMIT = 500


def conversation_selector(function: F) -> F:
    """Add `--conversation-id` and `--session-key`."""
    by_id = click.option(
        "--conversation-id", type=Digits(), metavar="N", help="The conversation with this number."
    )
    by_key = click.option("--session-key", metavar="KEY", help="The conversation of this session.")
    return by_id(by_key(function))


def paging(function: F) -> F:
    """Add `--limit` and `--cursor`."""
    limit = click.option(
        "--limit",
        type=Digits(1, MAX_LIMIT),
        default=50,
        show_default=True,
        metavar="K",
        help="The most rows.",
    )
    cursor = click.option("--cursor", help="nextCursor of the page before.")
    return limit(cursor(function))


def times(function: F) -> F:
    """Add `--after`, `--before`, `--between` and `--recency`."""
    for name, text in (
        ("--recency", "Only the last N seconds, minutes, hours, days or weeks: 7d."),
        ("--between", "Only from A (inclusive) to B (exclusive): A..B."),
        ("--before", "Only before this time."),
        ("--after", "Only from this time on: 2026-01-31T09:30:00Z."),
    ):
        function = click.option(name, help=text)(function)
    return function


def content(function: F) -> F:
    """Add `--include-content`."""
    return click.option("--include-content", is_flag=True, help="The whole text of each row.")(
        function
    )


def budget(function: F) -> F:
    """Add `--budget`."""
    return click.option(
        "--budget", type=Digits(), metavar="TOKENS", help="How many tokens the context may have."
    )(function)
