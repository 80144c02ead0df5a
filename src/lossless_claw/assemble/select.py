"""Fit the context into the budget: what is kept and where the cut lies (design 6). Pure.

When the items after the summaries do not fit, the oldest are left out up to the cut. The stored
cut stays while the list fits, so that the prefix of the list stays (G6); else it moves to the
earliest border that leaves room to grow.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from lossless_claw.assemble.snapshot import Snapshot
from lossless_claw.boundary import borders
from lossless_claw.model import Item

FILL = 0.75
"""Share of the budget that a list fills after its cut has moved."""

GROWTH = 9 / 8
"""A budget grown by more than this lets the cut move back."""

SUMMARY_SHARE = 0.5
"""Share of the budget that summaries take at most when not everything fits."""


class Selection(Struct, frozen=True):
    """What is shown, in order. `cut` is an ordinal, None when nothing is left out by it.

    `fits` is False when even the smallest valid list is larger than the budget (G4).
    """

    items: tuple[Item, ...]
    tokens: int
    left_out: int
    cut: int | None
    fits: bool


def select(snapshot: Snapshot, room: int) -> Selection:
    """Choose the items for *room* tokens (the budget less the system head and overhead)."""
    rest = snapshot.rest
    total = _tokens(snapshot.summaries) + _tokens(rest)
    if not rest or (total <= room and not snapshot.unread and not _is_cut(snapshot)):
        kept = _newest_within(snapshot.summaries, room) if not rest else snapshot.summaries
        return _selection(snapshot, kept, rest, None, room)
    summaries = _newest_within(snapshot.summaries, int(room * SUMMARY_SHARE))
    left = room - _tokens(summaries)
    begin = _stored(snapshot, left, room)
    if begin is None:
        begin = _moved(snapshot, left, int(room * FILL) - _tokens(summaries))
    shown = _shown(snapshot, begin)
    if _tokens(shown) > left:
        # Not even the newest exchange fits beside them: it comes first.
        summaries = _newest_within(snapshot.summaries, room - _tokens(shown))
    return _selection(snapshot, summaries, shown, rest[begin].ordinal, room)


def _stored(snapshot: Snapshot, left: int, room: int) -> int | None:
    """Return the index of the stored cut while the list fits behind it, else None."""
    running = snapshot.running
    if running.cut is None or (running.cut_budget or 0) * GROWTH < room:
        return None
    places = (n for n, item in enumerate(snapshot.rest) if item.ordinal >= (running.cut or 0))
    begin = next(places, None)
    if begin is None or _tokens(_shown(snapshot, begin)) > left:
        return None
    return begin


def _moved(snapshot: Snapshot, left: int, wanted: int) -> int:
    """Return the earliest border behind which at most *wanted* tokens stand, else the newest.

    The newest border still opens the newest exchange, so that the list stays valid.
    """
    places = borders(snapshot.rest) or [0]
    sizes = _sizes(snapshot.rest)
    for limit in (wanted, left):
        for begin in places:
            if sizes[begin] <= limit and _tokens(_shown(snapshot, begin)) <= limit:
                return begin
    return places[-1]


def _shown(snapshot: Snapshot, begin: int) -> tuple[Item, ...]:
    """Return the items from *begin* on, behind the user message of the turn that was cut into."""
    items = snapshot.rest[begin:]
    if items[0].role == "user":
        return items
    users = [item for item in snapshot.rest[:begin] if item.role == "user"]
    opener = users[-1] if users else snapshot.turn_user
    return items if opener is None else (opener, *items)


def _selection(
    snapshot: Snapshot, summaries: Sequence[Item], items: Sequence[Item], cut: int | None, room: int
) -> Selection:
    chosen = (*summaries, *items)
    left_out = len(snapshot.summaries) + len(snapshot.rest) + snapshot.unread - len(chosen)
    tokens = _tokens(chosen)
    return Selection(chosen, tokens, left_out, cut if left_out else None, tokens <= room)


def _newest_within(summaries: Sequence[Item], limit: int) -> tuple[Item, ...]:
    kept: list[Item] = []
    total = 0
    for item in reversed(summaries):
        total += item.tokens
        if total > limit:
            break
        kept.append(item)
    return tuple(reversed(kept))


def _is_cut(snapshot: Snapshot) -> bool:
    cut = snapshot.running.cut
    return cut is not None and bool(snapshot.rest) and snapshot.rest[0].ordinal < cut


def _sizes(items: Sequence[Item]) -> list[int]:
    """Return the tokens from each index to the end."""
    sizes = [0] * (len(items) + 1)
    for index in range(len(items) - 1, -1, -1):
        sizes[index] = sizes[index + 1] + items[index].tokens
    return sizes


def _tokens(items: Sequence[Item]) -> int:
    return sum(item.tokens for item in items)
