"""The steps of an assembly, in order: read once, fit, rebuild, pair, render (design 6)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import tzinfo

from msgspec import Struct

from lossless_claw.assemble.pairing import OUTCOME_NOT_RECORDED, RepairKind, pair
from lossless_claw.assemble.select import Selection, select
from lossless_claw.assemble.snapshot import Snapshot, read
from lossless_claw.message.price import BLOCK_OVERHEAD
from lossless_claw.model import Item, Message, Raw, Shape
from lossless_claw.shapes import Result, Turn, detect_list, is_showable, parse, render
from lossless_claw.shapes.block import orphan_text
from lossless_claw.store.store import Store
from lossless_claw.tokens import MESSAGE_OVERHEAD, estimate
from lossless_claw.wrapper import summary_message, wrap

OPENING = "[lossless-claw] The conversation begins with the assistant's message below."
"""Stands first where a provider wants a user's message first and the history has none."""

_OPENING_TOKENS = estimate(OPENING) + MESSAGE_OVERHEAD

_MADE_TOKENS = {
    RepairKind.NO_RESULT: estimate(OUTCOME_NOT_RECORDED) + BLOCK_OVERHEAD + MESSAGE_OVERHEAD,
    RepairKind.ORPHAN: estimate(orphan_text(Result("call_" + "0" * 24, None, "", None, ""), "")),
}
"""What each text that a repair adds costs, in tokens."""


class Report(Struct, frozen=True):
    """What an assembly kept, left out and repaired; sizes in tokens."""

    items: dict[str, int]
    tokens: dict[str, int]
    left_out: int
    cut: int | None
    repaired: dict[str, int]
    open_exchange: bool


class Context(Struct, frozen=True):
    """The list for the model, in its provider's shape.

    `system` holds the head where the shape keeps it apart (Anthropic). `fits` is False when the
    smallest valid list is larger than the budget; `reason` then says so (G4).
    """

    messages: list[Raw]
    system: list[Raw]
    shape: Shape
    tokens: int
    budget: int
    fits: bool
    reason: str | None
    report: Report


def assemble(
    store: Store, conversation: int, budget: int, zone: tzinfo, shape: Shape | None = None
) -> Context:
    """Return what the model sees of the conversation, inside *budget* tokens.

    Reads only. A provider of the shape accepts the list; every summary is wrapped and escaped.

    Args:
        shape: The provider's; the one that the messages came in when None.
    """
    with store.snapshot():
        return _fitted(store, conversation, budget, zone, shape)


def _fitted(
    store: Store, conversation: int, budget: int, zone: tzinfo, shape: Shape | None
) -> Context:
    snapshot = read(store, conversation, budget)
    head = sum(message.tokens for message in snapshot.head)
    room = budget - head - snapshot.running.overhead
    spare = 0
    while True:
        selection = select(snapshot, room - spare)
        context = _render(store, snapshot, selection, budget, zone, shape)
        over = context.tokens + snapshot.running.overhead - budget
        if over <= 0 or not selection.fits or spare >= room:
            return context
        # Placeholders for results that nobody recorded are known only now.
        spare += over


def _render(
    store: Store, snapshot: Snapshot, selection: Selection, budget: int, zone: tzinfo,
    shape: Shape | None,
) -> Context:  # fmt: skip
    originals = [item.ref for item in selection.items if isinstance(item.ref, int)]
    messages = store.messages.load(originals)
    shape = shape or _shape(snapshot.head, messages)
    paired = pair([*_heads(snapshot.head), *_turns(store, selection.items, messages, zone)])
    opened = _opened(paired.turns, shape)
    rendered = render(opened, shape)
    repaired = Counter(str(repair.kind) for repair in paired.repaired)
    made = sum(_MADE_TOKENS.get(repair.kind, 0) for repair in paired.repaired)
    made += _OPENING_TOKENS if len(opened) > len(paired.turns) else 0
    tokens = _tokens_by_kind(snapshot, selection.items, made)
    total = sum(tokens.values())
    fits = selection.fits and total + snapshot.running.overhead <= budget
    return Context(
        messages=rendered.messages,
        system=rendered.system,
        shape=shape,
        tokens=total,
        budget=budget,
        fits=fits,
        reason=None if fits else "smallest_list_exceeds_budget",
        report=Report(
            items=_counts(snapshot, selection.items),
            tokens=tokens,
            left_out=selection.left_out,
            cut=selection.cut,
            repaired=dict(repaired),
            open_exchange=paired.open,
        ),
    )


def _shape(head: Sequence[Message], messages: Sequence[Message]) -> Shape:
    found = detect_list([message.original for message in (*head, *messages)])
    return Shape.OPENAI if found is Shape.RESPONSES else found


def _heads(head: Sequence[Message]) -> list[Turn]:
    return [parse(message.original) for message in head]


def _turns(
    store: Store, items: Sequence[Item], messages: Sequence[Message], zone: tzinfo
) -> list[Turn]:
    by_id = {message.id: message for message in messages}
    summaries = store.summaries.load([item.ref for item in items if isinstance(item.ref, str)])
    wrapped = {summary.id: summary_message(wrap(summary, zone)) for summary in summaries}
    return [
        parse(wrapped[item.ref] if isinstance(item.ref, str) else by_id[item.ref].original)
        for item in items
    ]


def _opened(turns: Sequence[Turn], shape: Shape) -> Sequence[Turn]:
    """Return *turns* with a user's message first where the provider wants one."""
    if shape is not Shape.ANTHROPIC:
        return turns
    start = next((n for n, turn in enumerate(turns) if turn.role != "system"), len(turns))
    first = next((turn for turn in turns[start:] if is_showable(turn)), None)
    if first is None or first.role != "assistant":
        return turns
    return [*turns[:start], parse({"role": "user", "content": OPENING}), *turns[start:]]


def _tokens_by_kind(snapshot: Snapshot, items: Sequence[Item], made: int) -> dict[str, int]:
    return {
        "head": sum(message.tokens for message in snapshot.head),
        "summaries": sum(item.tokens for item in items if item.is_summary),
        "messages": sum(item.tokens for item in items if not item.is_summary),
        "made": made,
    }


def _counts(snapshot: Snapshot, items: Sequence[Item]) -> dict[str, int]:
    summaries = sum(item.is_summary for item in items)
    return {
        "head": len(snapshot.head),
        "summaries": summaries,
        "messages": len(items) - summaries,
    }
