"""The values that lists give: what `lcm` shows of a database, and nothing computed here.

Field names in camel case are the command line's data (spec operator-surfaces 1.7). Tokens are
our estimate where one is stored, else upstream's column. Times are the stored text.
"""

from __future__ import annotations

from typing import Generic, TypeVar

from msgspec import Struct

T = TypeVar("T")


class ConversationCounts(Struct, frozen=True, rename="camel"):
    total: int
    active: int


class MessageCounts(Struct, frozen=True, rename="camel"):
    """All messages. `tokens` is None where summing it up would mean reading a big table."""

    count: int
    tokens: int | None
    earliest_at: str | None
    latest_at: str | None


class DepthCounts(Struct, frozen=True, rename="camel"):
    kind: str
    depth: int
    count: int
    tokens: int


class SummaryCounts(Struct, frozen=True, rename="camel"):
    """All summaries. `source_message_tokens` counts what leaves were made from, each once."""

    count: int
    tokens: int
    source_message_tokens: int
    earliest_at: str | None
    latest_at: str | None
    by_depth: tuple[DepthCounts, ...]


class ContextCounts(Struct, frozen=True, rename="camel"):
    items: int
    tokens: int


class MaintenanceCounts(Struct, frozen=True, rename="camel"):
    pending: int
    running: int
    failed: int


class Status(Struct, frozen=True, rename="camel"):
    """The database in figures."""

    conversations: ConversationCounts
    messages: MessageCounts
    summaries: SummaryCounts
    context: ContextCounts
    maintenance: MaintenanceCounts


class Identity(Struct, frozen=True, rename="camel"):
    """Which conversation a list is about."""

    conversation_id: int
    session_id: str
    session_key: str | None
    active: bool
    archived_at: str | None
    title: str | None
    bootstrapped_at: str | None
    created_at: str
    updated_at: str


class ListedConversation(Identity, frozen=True, rename="camel"):
    """A conversation and its figures. Earliest and latest message are those by position."""

    message_count: int
    message_tokens: int
    earliest_message_at: str | None
    latest_message_at: str | None
    summary_count: int
    summary_tokens: int
    summarized_source_tokens: int
    earliest_summary_at: str | None
    latest_summary_at: str | None
    max_summary_depth: int | None
    context_items: int
    context_tokens: int
    fresh_tail_messages: int
    fresh_tail_tokens: int


class ListedMessage(Struct, frozen=True, rename="camel", omit_defaults=True):
    """A message. `content` is there only when it was asked for."""

    message_id: int
    conversation_id: int
    seq: int
    role: str
    token_count: int
    created_at: str
    large_content: str | None
    preview: str
    content: str | None = None


class TailMessage(Struct, frozen=True, rename="camel"):
    message_id: int
    seq: int
    role: str
    token_count: int
    created_at: str
    content: str


class Limits(Struct, frozen=True, rename="camel"):
    count: int
    max_tokens: int | None


class Selected(Struct, frozen=True, rename="camel"):
    messages: int
    tokens: int
    first_seq: int | None
    last_seq: int | None


class Totals(Struct, frozen=True, rename="camel"):
    messages: int
    tokens: int


class Tail(Struct, frozen=True, rename="camel"):
    """The newest messages that are still raw in the context, in order."""

    conversation_identity: Identity
    limits: Limits
    selected: Selected
    conversation: Totals
    messages: tuple[TailMessage, ...]


class ListedSummary(Struct, frozen=True, rename="camel", omit_defaults=True):
    """A summary and its place in the DAG.

    `parent_count` counts the summaries derived from it, `child_count` its sources: the command
    line's words are the reverse of the columns' names. `content` is there when asked for.
    """

    summary_id: str
    conversation_id: int
    kind: str
    depth: int
    token_count: int
    earliest_at: str | None
    latest_at: str | None
    coverage_at: str
    descendant_count: int
    descendant_token_count: int
    source_message_token_count: int
    created_at: str
    file_ids: tuple[str, ...]
    model: str
    parent_count: int
    child_count: int
    source_message_count: int
    preview: str
    content: str | None = None


class SummaryDetail(Struct, frozen=True, rename="camel"):
    """A summary with everything one step away from it, in full."""

    summary: ListedSummary
    parents: tuple[ListedSummary, ...]
    children: tuple[ListedSummary, ...]
    source_messages: tuple[TailMessage, ...]


class Page(Struct, Generic[T], frozen=True):
    """Some rows of a list, and the cursor of the next ones; None after the last."""

    items: tuple[T, ...]
    limit: int
    next_cursor: str | None
