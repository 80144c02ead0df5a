"""The frozen values that every room speaks of. Nothing here reads, writes or decides.

Tokens are this library's own estimate (`lossless_claw.tokens.estimate`) unless a name says
otherwise; times are ISO 8601 text in UTC as stored (spec store-and-ingest 2.4).
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any, TypeAlias

from msgspec import Struct

Raw: TypeAlias = dict[str, Any]
"""A message as the host handed it in: a JSON object of any provider's shape. Never mutated."""


class Shape(StrEnum):
    """The provider shapes that messages come in and are rendered to."""

    OPENCLAW = "openclaw"
    OPENAI = "openai"
    ANTHROPIC = "anthropic"
    RESPONSES = "responses"


class Outside(StrEnum):
    """Why a stored message is not in the context (design 3, G1)."""

    HEAD = "head"
    """System head: opens the list, outside alignment and compaction (design 4)."""
    NOISE = "noise"
    """Nothing to show: an empty or failed turn."""
    ROLE = "role"
    """A role or shape that no provider takes."""
    REWOUND = "rewound"
    """Taken out by a rewind of the host."""
    BRANCH = "branch"
    """On a branch of the transcript that was left."""
    RESET = "reset"
    """Before a reset."""
    CHANGED = "changed"
    """Says something else under the id of an earlier message, which stands."""


LIVE_OUTSIDE = frozenset({Outside.NOISE, Outside.ROLE})
"""Outside the context, yet part of the conversation's rows in order (spec alignment, K)."""


class Conversation(Struct, frozen=True):
    """A row of `conversations`: what owns messages and summaries."""

    id: int
    session_id: str
    session_key: str | None
    active: bool
    archived_at: str | None
    archive_cause: str | None
    title: str | None
    bootstrapped_at: str | None
    created_at: str
    updated_at: str


class Entry(Struct, frozen=True):
    """One message on its way in, with what its envelope said.

    `on_branch` marks a message of a transcript branch that was left.
    """

    message: Raw
    id: str | None = None
    timestamp: str | float | int | None = None
    on_branch: bool = False
    line: int | None = None


class Part(Struct, frozen=True):
    """One row of `message_parts`: a content block, projected."""

    kind: str
    text: str | None = None
    call_id: str | None = None
    tool_name: str | None = None
    tool_input: str | None = None
    tool_output: str | None = None
    metadata: str | None = None


class Item(Struct, frozen=True):
    """One context item, with what deciding needs: never its text.

    `ref` is a message id (int) or a summary id (str). `calls` and `results` are the ids of
    the tool calls the message makes and of the results it carries, in order.
    """

    ordinal: int
    ref: int | str
    tokens: int
    role: str
    depth: int | None = None
    calls: tuple[str, ...] = ()
    results: tuple[str, ...] = ()

    @property
    def is_summary(self) -> bool:
        return self.depth is not None


class Message(Struct, frozen=True):
    """A stored message as the other rooms see it.

    `original` is the message JSON-equal to what was handed in (G1). `exact` is False for a row
    that upstream wrote, whose original is rebuilt from its parts.
    """

    id: int
    conversation: int
    seq: int
    role: str
    content: str
    tokens: int
    created_at: str
    entry_id: str | None
    outside: Outside | None
    original: Raw
    exact: bool = True


class Summary(Struct, frozen=True):
    """A node of the summary DAG. `tokens` and the rest are the stored columns (spec 5.3)."""

    id: str
    conversation: int
    depth: int
    content: str
    tokens: int
    earliest_at: str | None
    latest_at: str | None
    descendant_count: int
    descendant_tokens: int
    source_tokens: int
    created_at: str
    model: str
    level: str = "normal"
    sources: tuple[str, ...] = ()

    @property
    def kind(self) -> str:
        return "leaf" if self.depth == 0 else "condensed"


class SummaryDraft(Struct, frozen=True):
    """A summary that a pass made and nobody has stored yet.

    `sources` are message ids for a leaf, summary ids (or the `key` of an earlier draft of the
    same sweep) for a condensed one, in order. `key` names the draft until it has an id.
    """

    key: str
    depth: int
    text: str
    tokens: int
    sources: tuple[int | str, ...]
    level: str
    model: str


class Match(Struct, frozen=True, omit_defaults=False):
    """One hit of a search."""

    type: str
    id: int | str
    conversation: int
    seq: int | None
    role: str
    created_at: str
    snippet: str
    covered_by: str | None
    score: float | None = None


class Row(Struct, frozen=True):
    """A stored row as the alignment sees it: its place and its identity, never its text.

    `size` is its token estimate, `tools` the ids of its calls and results, joined.
    """

    id: int
    seq: int
    hash: bytes
    role: str
    size: int
    tools: str
