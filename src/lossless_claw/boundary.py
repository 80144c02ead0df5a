"""Where a list of context items may be cut, and where its fresh tail begins.

One rule for compaction and assembly, so that both mean the same tail. Pure: values in, indexes
out. It never reads a text and never decides what happens to the items on either side of a cut.
"""

from __future__ import annotations

from collections.abc import Sequence

from lossless_claw.model import Item

_Span = tuple[int, int]


def borders(items: Sequence[Item]) -> list[int]:
    """Return the indexes before which a cut may fall, ascending; 0 comes first.

    No cut parts a tool call from its results, however far these are displaced and however many
    calls run in parallel. An id used again pairs with the nearest call still unanswered. A call
    without a result holds what follows it only while it is open (`open_call`). A result
    without a call before it stays with the item before it, unless that is a summary.
    """
    return [index for index, free in enumerate(cuttable(items)) if free]


def cuttable(items: Sequence[Item]) -> list[bool]:
    """Return for each item whether a cut may fall before it: `borders` as flags."""
    spans, orphans = _exchanges(items)
    closes = [0] * (len(items) + 1)
    for first, last in spans:
        closes[first + 1] += 1
        closes[last + 1] -= 1
    free, depth = [], 0
    for index in range(len(items)):
        depth += closes[index]
        free.append(depth == 0)
    for index in orphans:
        if index and not items[index - 1].is_summary:
            free[index] = False
    return free


def open_call(items: Sequence[Item]) -> int | None:
    """Return the index where the open exchange begins, or None when nothing is open.

    A call is open when it has no result and nothing but results of its own exchange follows:
    the host is still running it. An older call without a result is merely unanswered.
    """
    index = len(items) - 1
    answered: set[str] = set()
    while index >= 0 and _is_result(items[index]) and not items[index].calls:
        answered.update(items[index].results)
        index -= 1
    opened = None
    while index >= 0 and items[index].calls:
        if not answered.issuperset(items[index].calls):
            opened = index
        if items[index].results:
            break
        index -= 1
    return opened


def newest_user(items: Sequence[Item]) -> int | None:
    """Return the index of the newest user message, or None.

    A message of the user role that carries tool results is the host's answer, not the user's.
    """
    for index in range(len(items) - 1, -1, -1):
        if items[index].role == "user" and not items[index].results:
            return index
    return None


def fresh_tail(
    items: Sequence[Item],
    count: int,
    max_tokens: int | None,
    cuts: Sequence[bool] | None = None,
) -> int:
    """Return the index where the fresh tail begins; `len(items)` when no raw message is left.

    The tail holds the newest *count* raw messages, but at most *max_tokens* (None: no cap); the
    newest is in it whatever it costs. What stands before a summary is no longer fresh: the tail
    ends there, so that an old short message cannot keep the summaries after it. A tool call never
    parts from its results: the tail begins earlier while that stays within *max_tokens*, else
    later. The newest user message may lie before it; it stays raw in its place all the same
    (design G4).

    Args:
        cuts: `cuttable(items)` where the caller has it already.
    """
    begin = _unaligned_tail(items, max(count, 1), max_tokens)
    if begin == len(items):
        return begin
    free = cuttable(items) if cuts is None else cuts
    earlier = next(index for index in range(begin, -1, -1) if free[index])
    if max_tokens is None or _raw_tokens(items[earlier:]) <= max_tokens:
        return earlier
    newest = max(index for index in range(begin, len(items)) if not items[index].is_summary)
    return next((index for index in range(begin, newest + 1) if free[index]), earlier)


def _unaligned_tail(items: Sequence[Item], count: int, max_tokens: int | None) -> int:
    begin, taken, tokens = len(items), 0, 0
    for index in range(len(items) - 1, -1, -1):
        item = items[index]
        if item.is_summary:
            if taken:
                break
            continue
        tokens += item.tokens
        if taken >= count or (taken and max_tokens is not None and tokens > max_tokens):
            break
        begin, taken = index, taken + 1
    return begin


def _raw_tokens(items: Sequence[Item]) -> int:
    return sum(item.tokens for item in items if not item.is_summary)


def _is_result(item: Item) -> bool:
    return item.role == "tool" or bool(item.results)


def _exchanges(items: Sequence[Item]) -> tuple[list[_Span], list[int]]:
    """Return the spans that no cut may enter, and the results without a call before them."""
    spans: list[_Span] = []
    unanswered: dict[str, list[int]] = {}
    early: list[tuple[str, int]] = []
    matched: set[int] = set()
    for index, item in enumerate(items):
        for result in item.results:
            if waiting := unanswered.get(result):
                spans.append((waiting.pop(), index))
                matched.add(index)
            else:
                early.append((result, index))
        for call in item.calls:
            unanswered.setdefault(call, []).append(index)
    for result, index in reversed(early):
        later = [call for call in unanswered.get(result, ()) if call > index]
        if later:
            unanswered[result].remove(later[0])
            spans.append((index, later[0]))
    opened = open_call(items)
    if opened is not None:
        spans.append((opened, len(items) - 1))
    orphans = [i for i, item in enumerate(items) if _is_result(item) and i not in matched]
    return spans, orphans
