"""Which pass comes next: a list of context items in, one decision out.

Pure. Leaf passes first, oldest first; then the shallowest depth with enough summaries, the
fanout falling as the pressure rises (spec compaction 10.2). Nothing here reads a text, calls a
summarizer or writes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from enum import StrEnum
from typing import Self

from msgspec import Struct

from lossless_claw import boundary
from lossless_claw.model import Item
from lossless_claw.tokens import SUMMARY_OVERHEAD

WORTHWHILE = 2 * SUMMARY_OVERHEAD
"""A leaf under this many tokens can hardly become smaller than its wrapper."""

PROMPT_ROOM = 4000
"""Tokens of a summarizer's window kept for the prompt around the source and for reasoning."""


_CHUNK_PER_LEAF = 8


class End(StrEnum):
    """How a sweep ended (design G5)."""

    UNDER_TARGET = "under_target"
    BELOW_THRESHOLD = "below_threshold"
    NOTHING_LEFT = "nothing_left"
    DEADLINE = "deadline"
    CALL_CAP = "call_cap"
    CANCELLED = "cancelled"
    SUMMARIZER_FAILED = "summarizer_failed"
    NO_PROGRESS = "no_progress"
    EMPTY = "empty"


class Limits(Struct, frozen=True):
    """What a sweep aims at and how large its passes are; all sizes in estimated tokens."""

    target: int
    tail_count: int = 64
    tail_tokens: int | None = None
    chunk_tokens: int = 20_000
    leaf_target: int = 2_400
    condensed_target: int = 2_000
    leaf_fanout: int = 8
    condensed_fanout: int = 4
    hard_fanout: int = 2
    min_chunk: int = 2_500
    """A leaf chunk under this is left for later unless nothing else helps."""

    @classmethod
    def for_budget(
        cls,
        budget: int,
        *,
        target_fraction: float = 0.5,
        tail_count: int = 64,
        tail_tokens: int | None = None,
        chunk_tokens: int = 20_000,
        leaf_target: int = 2_400,
        condensed_target: int = 2_000,
        leaf_fanout: int = 8,
        condensed_fanout: int = 4,
        hard_fanout: int = 2,
        context_window: int = 32_000,
    ) -> Self:
        """Return limits by which the target can be reached in this *budget*.

        The configured sizes are upper bounds: a small budget shrinks summaries, so that three fit
        beside the tail, and chunks with them, so that a leaf stays as detailed as elsewhere; a
        small *context_window* of the summarizer shrinks chunks too. The tail takes at most half the
        target unless *tail_tokens* says otherwise (design 5).
        """
        target = int(budget * target_fraction)
        tail = target // 2 if tail_tokens is None else tail_tokens
        largest = max(64, (target - tail) // 3 - SUMMARY_OVERHEAD)
        leaf = min(leaf_target, largest)
        window = max(context_window // 2, context_window - leaf - PROMPT_ROOM)
        chunk = max(1, min(chunk_tokens, window, max(_CHUNK_PER_LEAF * leaf, target // 2)))
        return cls(
            target=target,
            tail_count=tail_count,
            tail_tokens=tail,
            chunk_tokens=chunk,
            leaf_target=leaf,
            condensed_target=min(condensed_target, largest),
            leaf_fanout=leaf_fanout,
            condensed_fanout=condensed_fanout,
            hard_fanout=max(2, hard_fanout),
            min_chunk=chunk // 8,
        )


class LeafPass(Struct, frozen=True):
    """Summarise the raw messages `items[start:end]`.

    `joins` marks a run too small to become smaller: it is taken word for word, so that the
    summaries around it can be condensed with it.
    """

    start: int
    end: int
    joins: bool = False


class CondensedPass(Struct, frozen=True):
    """Summarise the summaries `items[start:end]` into one of this depth."""

    start: int
    end: int
    depth: int


class Stop(Struct, frozen=True):
    """No pass is left to run, and why."""

    reason: End
    detail: str = ""


Step = LeafPass | CondensedPass | Stop


def next_pass(items: Sequence[Item], limits: Limits, overhead_tokens: int = 0) -> Step:
    """Return the next pass over *items* (the whole context, oldest first), or why there is none.

    *overhead_tokens* are in the prompt beside the items. The newest user message, the fresh
    tail and an open tool call are never part of a pass (design G4).
    """
    return Layout(items, limits, overhead_tokens).next_pass()


class Layout:
    """A copy of the items, with what stays true of them while passes replace ranges.

    Cuts, tail and total are computed once, so that a sweep over a long history costs what its
    passes cost. Only `replace` changes it.
    """

    def __init__(self, items: Sequence[Item], limits: Limits, overhead_tokens: int = 0) -> None:
        self.items = list(items)
        self.limits = limits
        self.total = overhead_tokens + sum(item.tokens for item in items)
        self._cuts = boundary.cuttable(items)
        self._cuts.append(True)
        self.tail = boundary.fresh_tail(items, limits.tail_count, limits.tail_tokens, self._cuts)
        self._first_raw = 0
        user = boundary.newest_user(items)
        self._user = None if user is None else self.items[user].ref
        self._protected = overhead_tokens + sum(item.tokens for item in items[self.tail :])
        if user is not None and user < self.tail:
            self._protected += self.items[user].tokens

    def replace(self, start: int, end: int, item: Item) -> None:
        """Put *item* in the place of `items[start:end]`, a range that `next_pass` gave."""
        self.total += item.tokens - sum(old.tokens for old in self.items[start:end])
        self.items[start:end] = [item]
        self._cuts[start:end] = [self._cuts[start]]
        self.tail -= end - start - 1
        self._first_raw = min(self._first_raw, start)

    def restore(self, index: int, items: Sequence[Item]) -> None:
        """Put *items* back in the place of `items[index]`, which took their place before."""
        self.total += sum(item.tokens for item in items) - self.items[index].tokens
        self.items[index : index + 1] = items
        self._cuts[index : index + 1] = [True] * len(items)
        self.tail += len(items) - 1
        self._first_raw = min(self._first_raw, index)

    def next_pass(self, barred: Collection[int | str] = frozenset()) -> Step:
        """Return the next pass that touches no item whose ref is in *barred*, or why none is."""
        if self.total <= self.limits.target:
            return Stop(End.UNDER_TARGET)
        return (
            self._leaf(barred, self.limits.min_chunk)
            or self._condensed(barred)
            or self._leaf(barred, min(WORTHWHILE, self.limits.min_chunk))
            or self._last_resort(barred)
            or Stop(End.NOTHING_LEFT, self._shortage())
        )

    def groups(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """Yield the smallest ranges of `items[start:end]` that no cut may enter, in order."""
        begin = start
        for index in range(start + 1, end + 1):
            if self._cuts[index]:
                yield begin, index
                begin = index

    def _shortage(self) -> str:
        return (
            f"{self.total} tokens are left of a target of {self.limits.target}; "
            f"{self._protected} of them may not be summarised"
        )

    def _may_condense(self) -> bool:
        # A target that what is protected fills alone is out of reach: condensing further would
        # grind the summaries to dust and still not get there.
        room = self.limits.target - self._protected
        least = self.limits.condensed_target + SUMMARY_OVERHEAD
        summaries = sum(item.tokens for item in self.items[: self.tail] if item.is_summary)
        return room >= least // 4 or summaries > least

    def _summary_runs(self, barred: Collection[int | str]) -> Iterator[tuple[int, int]]:
        """Yield the longest runs of summaries before the tail, oldest first."""
        begin: int | None = None
        for index in range(self.tail + 1):
            belongs = index < self.tail and self._belongs(self.items[index], barred, summaries=True)
            if belongs and begin is None:
                begin = index
            elif not belongs and begin is not None:
                yield begin, index
                begin = None

    def _belongs(self, item: Item, barred: Collection[int | str], *, summaries: bool) -> bool:
        return item.is_summary is summaries and item.ref != self._user and item.ref not in barred

    def _leaf(self, barred: Collection[int | str], least: int) -> LeafPass | None:
        chunks = self._raw_chunks(barred)
        return next((LeafPass(s, e) for s, e in chunks if self._tokens(s, e) >= least), None)

    def _raw_chunks(self, barred: Collection[int | str]) -> Iterator[tuple[int, int]]:
        """Yield the raw ranges before the tail that a leaf may take, oldest first."""
        while self._first_raw < self.tail and self.items[self._first_raw].is_summary:
            self._first_raw += 1
        start = self._first_raw
        while start < self.tail:
            end = self._chunk_end(start, barred) if self._cuts[start] else start
            if end > start:
                yield start, end
            start = max(end, start + 1)

    def _chunk_end(self, start: int, barred: Collection[int | str]) -> int:
        """Return where the chunk from *start* ends; *start* when no whole exchange fits there."""
        end, tokens, group = start, 0, 0
        for index in range(start, self.tail):
            if not self._belongs(self.items[index], barred, summaries=False):
                break
            group += self.items[index].tokens
            if not self._cuts[index + 1]:
                continue
            full = tokens + group > self.limits.chunk_tokens
            if full and tokens >= max(1, self.limits.min_chunk):
                break
            end, tokens, group = index + 1, tokens + group, 0
        return end

    def _tokens(self, start: int, end: int) -> int:
        return sum(item.tokens for item in self.items[start:end])

    def _condensed(self, barred: Collection[int | str]) -> CondensedPass | None:
        """Return the pass over the shallowest depth whose run is long enough for the pressure."""
        if not self._may_condense():
            return None
        chunks = self._equal_depth_chunks(barred)
        limits = self.limits
        steps = max(limits.leaf_fanout, limits.condensed_fanout) - limits.hard_fanout
        pressure = (self.total - limits.target) / max(1, limits.target)
        for fallen in range(min(steps, int(steps * pressure)), steps + 1):
            for chunk in chunks:
                normal = limits.leaf_fanout if chunk.depth == 1 else limits.condensed_fanout
                if chunk.end - chunk.start >= max(limits.hard_fanout, normal - fallen):
                    return chunk
        return None

    def _equal_depth_chunks(self, barred: Collection[int | str]) -> list[CondensedPass]:
        """Return the chunks worth a call, shallowest first, then oldest."""
        chunks = []
        for begin, end in self._summary_runs(barred):
            start = begin
            for stop in range(begin + 1, end + 1):
                if stop == end or self.items[stop].depth != self.items[start].depth:
                    chunks.append(self._capped(start, stop))
                    start = stop
        least = self.limits.condensed_target + SUMMARY_OVERHEAD
        worth = [c for c in chunks if self._tokens(c.start, c.end) > least]
        return sorted(worth, key=lambda chunk: (chunk.depth, chunk.start))

    def _capped(self, start: int, end: int) -> CondensedPass:
        stop, tokens = start, 0
        while stop < end and (
            stop < start + 2 or tokens + self.items[stop].tokens <= self.limits.chunk_tokens
        ):
            tokens += self.items[stop].tokens
            stop += 1
        return CondensedPass(start, stop, self._depth(start, stop) + 1)

    def _last_resort(self, barred: Collection[int | str]) -> CondensedPass | LeafPass | None:
        if not self._may_condense():
            return None
        return self._mixed(barred) or self._joining(barred)

    def _mixed(self, barred: Collection[int | str]) -> CondensedPass | None:
        """Return a pass over neighbours of any depth: the last resort, so that it converges.

        The shallowest neighbours worth a call, newest first: what is oldest is condensed
        seldom, and depth grows with the logarithm of the history.
        """
        runs = list(self._summary_runs(barred))
        least = self.limits.condensed_target + SUMMARY_OVERHEAD
        pairs = [at for begin, end in runs for at in range(begin, end - 1)]
        worth = [at for at in pairs if self._tokens(at, at + 2) > least]
        if worth:
            start = min(worth, key=lambda at: (self._depth(at, at + 2), -at))
            return CondensedPass(start, start + 2, self._depth(start, start + 2) + 1)
        chunks = (self._capped(begin, end) for begin, end in runs)
        return next((chunk for chunk in chunks if chunk.end - chunk.start >= 2), None)

    def _depth(self, start: int, end: int) -> int:
        return max(item.depth or 0 for item in self.items[start:end])

    def _joining(self, barred: Collection[int | str]) -> LeafPass | None:
        for start, end in self._raw_chunks(barred):
            if self._is_free_summary(start - 1, barred) or self._is_free_summary(end, barred):
                return LeafPass(start, end, joins=True)
        return None

    def _is_free_summary(self, index: int, barred: Collection[int | str]) -> bool:
        return 0 <= index < self.tail and self._belongs(self.items[index], barred, summaries=True)
