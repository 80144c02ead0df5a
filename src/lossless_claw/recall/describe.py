"""What a summary or a message is, where it stands, and what opening it costs."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct

from lossless_claw import tokens
from lossless_claw.model import Message, Summary
from lossless_claw.recall import scope
from lossless_claw.recall.text import full_text

if TYPE_CHECKING:
    from lossless_claw.store.store import Store

MOST_NODES = 200
PREVIEW = 240


class Source(Struct, frozen=True):
    """What a summary was made from. `tokens`: what its text costs."""

    id: str
    kind: str
    tokens: int


class Cost(Struct, frozen=True):
    """What lies at one level below a summary: how many texts, and what reading all costs.

    `level` is `depth <n>` for summaries, `messages` for the originals.
    """

    level: str
    count: int
    tokens: int


class SummaryDescription(Struct, frozen=True):
    """A summary and its place in the DAG.

    `costs` go down from its direct sources to the messages; `truncated`: more than 200
    summaries lie below and only those are counted. `tokens` are this library's estimate.
    """

    id: str
    type: str
    conversation: int
    kind: str
    depth: int
    tokens: int
    created_at: str
    earliest_at: str | None
    latest_at: str | None
    first_seq: int | None
    last_seq: int | None
    messages: int
    model: str
    level: str
    sources: tuple[Source, ...]
    derived: tuple[str, ...]
    costs: tuple[Cost, ...]
    truncated: bool
    content: str


class MessageDescription(Struct, frozen=True):
    """A message. `outside`: why it is not in the context; `covered_by`: the leaf over it."""

    id: str
    type: str
    conversation: int
    seq: int
    role: str
    created_at: str
    tokens: int
    entry_id: str | None
    outside: str | None
    exact: bool
    covered_by: str | None
    preview: str


Description: TypeAlias = SummaryDescription | MessageDescription


def describe(
    store: Store, node: str, *, conversations: Collection[int] | None = None
) -> Description:
    """Return what `sum_...`, `msg_<n>` or `<n>` is.

    Raises:
        UsageError: If *node* is no id.
        SummaryNotFoundError: If there is no such summary within reach.
        MessageNotFoundError: If there is no such message within reach.
    """
    found = scope.find(store, node, conversations)
    if isinstance(found, Message):
        return _message(store, found)
    return _summary(store, found)


def _message(store: Store, message: Message) -> MessageDescription:
    text = " ".join(full_text(message.original).split())
    return MessageDescription(
        id=f"msg_{message.id}",
        type="message",
        conversation=message.conversation,
        seq=message.seq,
        role=message.role,
        created_at=message.created_at,
        tokens=message.tokens,
        entry_id=message.entry_id,
        outside=message.outside,
        exact=message.exact,
        covered_by=store.messages.covering([message.id]).get(message.id),
        preview=text if len(text) <= PREVIEW else text[: PREVIEW - 3].rstrip() + "...",
    )


def _summary(store: Store, summary: Summary) -> SummaryDescription:
    below = store.summaries.messages_under(summary.id)
    ends = store.messages.load([below[0], below[-1]]) if below else []
    levels, truncated = _below(store, summary)
    costs = [_cost(f"depth {level[0].depth}", level) for level in levels]
    return SummaryDescription(
        id=summary.id,
        type="summary",
        conversation=summary.conversation,
        kind=summary.kind,
        depth=summary.depth,
        tokens=tokens.estimate(summary.content),
        created_at=summary.created_at,
        earliest_at=summary.earliest_at,
        latest_at=summary.latest_at,
        first_seq=ends[0].seq if ends else None,
        last_seq=ends[-1].seq if ends else None,
        messages=len(below),
        model=summary.model,
        level=summary.level,
        sources=_sources(store, summary),
        derived=tuple(store.summaries.derived(summary.id)),
        costs=(*costs, Cost("messages", len(below), summary.source_tokens)),
        truncated=truncated,
        content=summary.content,
    )


def _sources(store: Store, summary: Summary) -> tuple[Source, ...]:
    if summary.depth > 0:
        found = store.summaries.load(summary.sources)
        return tuple(Source(one.id, one.kind, tokens.estimate(one.content)) for one in found)
    messages = store.messages.load(store.summaries.leaf_messages(summary.id)[:MOST_NODES])
    return tuple(Source(f"msg_{one.id}", one.role, one.tokens) for one in messages)


def _below(store: Store, summary: Summary) -> tuple[list[list[Summary]], bool]:
    """Return the summaries below by level, each once, and whether there are more than counted."""
    levels: list[list[Summary]] = []
    seen = {summary.id}
    names = list(summary.sources)
    while names:
        fresh = [name for name in dict.fromkeys(names) if name not in seen]
        room = MOST_NODES + 1 - len(seen)
        level = store.summaries.load(fresh[:room])
        if level:
            levels.append(level)
        if len(fresh) > room:
            return levels, True
        seen.update(fresh)
        names = [source for one in level for source in one.sources]
    return levels, False


def _cost(name: str, level: list[Summary]) -> Cost:
    return Cost(name, len(level), sum(tokens.estimate(one.content) for one in level))
