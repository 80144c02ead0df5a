"""One verdict on a database and one next step. Pure, but for asking what transcripts look like now.

A gap is what a transcript holds and the store does not: a file that grew or changed since it was
read. A file that is gone is no gap; what was read of it is stored.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum

from msgspec import Struct

from lossless_claw.store.condition import Condition, FullContext

LAG = 2_000
"""Messages that may wait for the substring indexes in normal use (design 7)."""

Look = Callable[[str], tuple[int, int] | None]
"""Gives a file's size in bytes and its time of change in ms; None when there is no file."""


class Health(StrEnum):
    """How a database is."""

    HEALTHY = "healthy"
    WARNING = "warning"
    """It works; something should be done."""


class Gap(Struct, frozen=True):
    """A transcript that changed since it was read: how many bytes more it has now."""

    path: str
    conversation: int
    bytes_more: int


class Verdict(Struct, frozen=True):
    """The verdict: `reasons` for people, `next` the one command to run, None when all is well."""

    health: Health
    reasons: tuple[str, ...]
    next: str | None
    gaps: tuple[Gap, ...]
    transcripts: int
    transcripts_gone: int
    ambiguous: int
    conflicts: int


def judge(condition: Condition, look: Look) -> Verdict:
    """Return the verdict on *condition*."""
    seen = {source.path: look(source.path) for source in condition.sources}
    gaps = tuple(
        Gap(source.path, source.conversation, now[0] - source.size)
        for source in condition.sources
        if (now := seen[source.path]) is not None and now != (source.size, source.mtime_ms)
    )
    found = _findings(condition, gaps)
    return Verdict(
        health=Health.WARNING if found else Health.HEALTHY,
        reasons=tuple(reason for reason, _ in found),
        next=found[0][1] if found else None,
        gaps=gaps,
        transcripts=len(seen),
        transcripts_gone=sum(now is None for now in seen.values()),
        ambiguous=condition.ambiguous,
        conflicts=condition.conflicts,
    )


def _findings(condition: Condition, gaps: tuple[Gap, ...]) -> list[tuple[str, str]]:
    """Return each thing that is not well with the command that helps, the most urgent first."""
    found = []
    if gaps:
        noun = "transcript has" if len(gaps) == 1 else "transcripts have"
        found.append((f"{len(gaps)} {noun} changed since reading", f"lcm import {gaps[0].path}"))
    found += [_over_budget(full) for full in condition.over_budget]
    if condition.search_lag > LAG:
        reason = f"{condition.search_lag:,} messages wait for the substring index and are scanned"
        found.append((reason, "lcm import PATH (any transcript; it fills the index too)"))
    if not condition.has_full_text:
        reason = "this SQLite has no full-text search: searches read everything"
        found.append((reason, "use a Python whose sqlite3 has FTS5"))
    return found


def _over_budget(full: FullContext) -> tuple[str, str]:
    return (
        f"conversation {full.conversation} holds {full.tokens:,} of {full.budget:,} tokens",
        f"lcm compact --conversation-id {full.conversation} --budget {full.budget}",
    )
