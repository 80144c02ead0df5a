"""Passes over a copy of the items until the target is reached or a named end.

Returns a value and writes nothing: publishing a sweep is one swap, done elsewhere. Above the hard
threshold (`force`) a failing summarizer does not end it, the deterministic fallback takes over.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from datetime import UTC, tzinfo

from msgspec import Struct

from lossless_claw.clock import Clock, Deadline
from lossless_claw.compact.passes import Made, Passes, Reader, Terms
from lossless_claw.compact.planner import CondensedPass, End, Layout, LeafPass, Limits, Stop
from lossless_claw.errors import AuthError, RefusedError
from lossless_claw.model import Item, SummaryDraft
from lossless_claw.summarize.ladder import ANSWERED, Cause, Failure
from lossless_claw.summarize.summarizer import Request, Summarizer, Text

_PATIENCE = 2
"""Passes in a row whose answers were refused before a sweep ends: the next would cost the same."""


class Sweep(Struct, frozen=True):
    """What a sweep made. `items` is the context as it would be after publishing `drafts`.

    Drafts come in the order they were made, so that a source comes before what is made of it.
    Tokens include the overhead that was given.
    """

    drafts: tuple[SummaryDraft, ...]
    items: tuple[Item, ...]
    passes: int
    calls: int
    tokens_before: int
    tokens_after: int
    end: End
    detail: str = ""


class Meter:
    """A summarizer whose calls are counted and capped. Unlike the one inside, it remembers.

    A cap binds only a summarizer that is not free. When `gives_up`, the first failure of the
    summarizer itself is its last call: its error is repeated at once instead.
    """

    def __init__(self, inner: Summarizer, max_calls: int | None, *, gives_up: bool) -> None:
        self.name = inner.name
        self.context_window = inner.context_window
        self.free = inner.free
        self.calls = 0
        self._inner = inner
        self._max_calls = None if inner.free else max_calls
        self._gives_up = gives_up
        self._error: Exception | None = None

    @property
    def is_spent(self) -> bool:
        return self._max_calls is not None and self.calls >= self._max_calls

    def summarize(self, request: Request) -> Text:
        if self._error is not None:
            raise self._error
        if self.is_spent:
            raise RefusedError(f"All {self._max_calls} calls of this sweep are used.")
        self.calls += 1
        try:
            return self._inner.summarize(request)
        except Exception as error:  # remembered and passed on, whatever it is
            self._error = error if self._gives_up or isinstance(error, AuthError) else None
            raise


def sweep(
    items: Sequence[Item],
    limits: Limits,
    *,
    read: Reader,
    summarizer: Summarizer,
    clock: Clock,
    deadline: Deadline | None = None,
    max_calls: int | None = None,
    force: bool = False,
    cancel: threading.Event | None = None,
    zone: tzinfo = UTC,
    overhead_tokens: int = 0,
    fallback_max_tokens: int = 512,
    overage_factor: float = 3.0,
) -> Sweep:
    """Return what passes over *items* (the whole context, oldest first) lead to.

    Ends under the target or with the reason why not (design G5); starts no pass after *deadline*,
    makes at most *max_calls* calls of a summarizer that is not free, and never adds tokens. A
    summarizer's failure is part of the value, not an exception.

    Args:
        force: The list has to become smaller: go on without the model when it fails.
        overhead_tokens: Tokens of the prompt beside the items.
    """
    terms = Terms(
        limits,
        zone,
        deadline or Deadline(clock),
        cancel or threading.Event(),
        force,
        fallback_max_tokens,
        overage_factor,
    )
    run = _Run(items, terms, read, Meter(summarizer, max_calls, gives_up=force), overhead_tokens)
    end = run.to_the_end() if items else Stop(End.EMPTY)
    return run.result(end)


class _Run:
    """One sweep under way."""

    def __init__(
        self,
        items: Sequence[Item],
        terms: Terms,
        read: Reader,
        meter: Meter,
        overhead_tokens: int,
    ) -> None:
        self._layout = Layout(items, terms.limits, overhead_tokens)
        self._before = self._layout.total
        self._terms = terms
        self._meter = meter
        self._passes = Passes(read, meter, terms)
        self._drafts: dict[str, SummaryDraft] = {}
        self._joined: dict[str, list[Item]] = {}
        self._barred: set[int | str] = set()
        self._refused = 0
        self._last_failure = ""

    def to_the_end(self) -> Stop:
        """Run pass after pass; return how it ended."""
        while True:
            if stop := self._interrupted():
                return stop
            step = self._layout.next_pass(self._barred)
            if isinstance(step, Stop):
                return self._exhausted(step)
            if stop := self._carry_out(step):
                return stop

    def result(self, stop: Stop) -> Sweep:
        self._take_back_joined()
        return Sweep(
            drafts=tuple(self._drafts.values()),
            items=tuple(self._layout.items),
            passes=len(self._drafts),
            calls=self._meter.calls,
            tokens_before=self._before,
            tokens_after=self._layout.total,
            end=stop.reason,
            detail=stop.detail,
        )

    def _interrupted(self) -> Stop | None:
        if self._terms.cancel.is_set():
            return Stop(End.CANCELLED)
        if self._terms.deadline.passed():
            return Stop(End.DEADLINE, "The time of this sweep is over; what was made is kept.")
        return None

    def _exhausted(self, stop: Stop) -> Stop:
        if stop.reason is End.NOTHING_LEFT and self._last_failure:
            return Stop(End.NO_PROGRESS, f"{stop.detail}; last refusal: {self._last_failure}")
        return stop

    def _carry_out(self, step: LeafPass | CondensedPass) -> Stop | None:
        if self._meter.is_spent and not self._terms.force:
            return Stop(End.CALL_CAP, f"{self._meter.calls} calls were made.")
        outcome = self._passes.run(self._layout, step)
        if isinstance(outcome.made, Failure):
            return self._failed(outcome.start, outcome.end, outcome.made)
        replaced = self._layout.items[outcome.start : outcome.end]
        if isinstance(step, LeafPass) and step.joins:
            self._joined[outcome.made.draft.key] = replaced
        self._accept(outcome.start, outcome.end, outcome.made)
        return None

    def _accept(self, start: int, end: int, made: Made) -> None:
        self._refused = 0
        self._drafts[made.draft.key] = made.draft
        for source in made.draft.sources:
            self._joined.pop(str(source), None)
        self._layout.replace(start, end, made.item)

    def _failed(self, start: int, end: int, failure: Failure) -> Stop | None:
        ends = {Cause.REFUSED: End.CALL_CAP, Cause.CANCELLED: End.CANCELLED}
        if failure.cause not in ANSWERED:
            return Stop(ends.get(failure.cause, End.SUMMARIZER_FAILED), failure.reason)
        # Passing over these items makes the next pass another one, so that the sweep ends.
        self._barred.update(item.ref for item in self._layout.items[start:end])
        self._last_failure = failure.reason
        self._refused += failure.cause is not Cause.EMPTY_SOURCE
        if self._refused >= _PATIENCE and not self._terms.force and not self._meter.free:
            return Stop(End.NO_PROGRESS, failure.reason)
        return None

    def _take_back_joined(self) -> None:
        """Undo word-for-word drafts that nothing was made of: alone they only add tokens."""
        for key, items in self._joined.items():
            index = next(i for i, item in enumerate(self._layout.items) if item.ref == key)
            self._layout.restore(index, items)
            del self._drafts[key]
        self._joined.clear()
