"""What a summary or a message is, where it stands, and what opening it costs."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct

from lossless_claw import tokens
from lossless_claw.model import Message, Summary
from lossless_claw.recall import scope
from lossless_claw.recall.below import Below
from lossless_claw.recall.text import full_text

if TYPE_CHECKING:
    from lossless_claw.store.store import Store
    from lossless_claw.store.summaries import Outline

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
    summaries lie below and only those, and the messages under them, are counted. `tokens` are
    this library's estimate; those of the messages are of all.
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
    levels, truncated = _below(store, summary)
    names = [summary.id, *(one.id for level in levels for one in level)]
    messages = store.summaries.count_messages(names)
    below = Below(store.summaries, summary.id)
    ends = [below.end(is_last=is_last) for is_last in (False, True)]
    first, last = store.summaries.seq_range(ends)
    costs = [Cost(f"depth {level[0].depth}", len(level), _tokens(level)) for level in levels]
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
        first_seq=first,
        last_seq=last,
        messages=messages,
        model=summary.model,
        level=summary.level,
        sources=_sources(store, summary),
        derived=tuple(store.summaries.derived(summary.id)),
        costs=(*costs, Cost("messages", messages, summary.source_tokens)),
        truncated=truncated,
        content=summary.content,
    )


def _sources(store: Store, summary: Summary) -> tuple[Source, ...]:
    if summary.depth > 0:
        found = store.summaries.outline(summary.sources)
        return tuple(Source(one.id, one.kind, one.tokens) for one in found)
    messages = store.messages.load(store.summaries.leaf_messages(summary.id)[:MOST_NODES])
    return tuple(Source(f"msg_{one.id}", one.role, one.tokens) for one in messages)


def _below(store: Store, summary: Summary) -> tuple[list[list[Outline]], bool]:
    """Return the summaries below by level, each once, and whether there are more than counted."""
    levels: list[list[Outline]] = []
    seen = {summary.id}
    names = list(dict.fromkeys(one for one in summary.sources if one != summary.id))
    while names:
        room = MOST_NODES + 1 - len(seen)
        level = store.summaries.outline(names[:room])
        if level:
            levels.append(level)
        if len(names) > room:
            return levels, True
        seen.update(names)
        names = _under(store, level, seen, MOST_NODES + 1 - len(seen))
    return levels, False


def _under(store: Store, level: list[Outline], seen: set[str], room: int) -> list[str]:
    """Return the sources of a level that were not seen yet; no further than behind *room*."""
    fresh: dict[str, None] = {}
    for one in level:
        if one.depth > 0 and len(fresh) <= room:
            fresh |= dict.fromkeys(x for x in store.summaries.sources(one.id) if x not in seen)
    return list(fresh)


def _tokens(level: list[Outline]) -> int:
    return sum(one.tokens for one in level)
