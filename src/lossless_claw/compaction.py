"""When a conversation is compacted, and how a sweep becomes the context: decide, sweep, publish.

One sweep at a time per conversation. An automatic sweep whose summarizer failed is not tried
again at once: the wait doubles with each failure. A model is never called inside a transaction.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from datetime import tzinfo
from typing import TYPE_CHECKING

from msgspec import Struct

from lossless_claw.clock import Clock, Deadline
from lossless_claw.compact.planner import End, Limits
from lossless_claw.compact.sweep import Sweep, sweep
from lossless_claw.message.times import stored
from lossless_claw.model import Item
from lossless_claw.store.store import Store
from lossless_claw.summarize.extractive import Extractive
from lossless_claw.summarize.summarizer import Summarizer
from lossless_claw.summarize.timed import Timed

if TYPE_CHECKING:
    from lossless_claw.config import Config

HARD_WAIT_SECONDS = 20.0
"""How long an assembly above the hard threshold waits for a sweep (design 5, `hardWaitMs`)."""

BACKLOG = 2
"""Budgets of unsummarised history from which an automatic sweep uses the embedded summarizer."""

STALE = "stale"
"""The context changed while the sweep ran: nothing was published, a later one will."""

RUNNING = "running"
"""Another thread compacts this conversation now."""

BACKING_OFF = "backing_off"
"""The summarizer failed lately; the raw messages stay until the wait is over."""

FIRST_WAIT, LONGEST_WAIT = 300.0, 1_800.0
"""Seconds after the first failure of a summarizer that costs, and at most (spec 2.9)."""

_FAILED = frozenset({End.SUMMARIZER_FAILED, End.NO_PROGRESS})


class Compaction(Struct, frozen=True):
    """How a compaction ended: `outcome` is a named end state; sizes in tokens of the whole list."""

    outcome: str
    tokens_before: int
    tokens_after: int
    passes: int = 0
    calls: int = 0
    detail: str = ""
    summaries: tuple[str, ...] = ()


class _Memory:
    """What is known of one conversation while the engine is open."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.failures = 0
        self.not_before = 0.0
        self.sent: int | None = None
        self.overhead: int | None = None


class Compactor:
    """Compacts the conversations of one store."""

    def __init__(
        self, store: Store, config: Config, summarizer: Summarizer, clock: Clock, zone: tzinfo
    ):
        self._store = store
        self._config = config
        self._summarizer = summarizer
        self._clock = clock
        self._zone = zone
        self._memories: dict[int, _Memory] = {}
        self._closing = threading.Event()

    # -- how large -----------------------------------------------------------------------

    def context_tokens(self, conversation: int) -> int:
        """Return the tokens of the whole context: items, system head and overhead. Flat cost."""
        return self._store.conversations.running(conversation).context_tokens

    def note_sent(self, conversation: int, tokens: int) -> None:
        """Remember the size of the list that was handed to the host last."""
        self._memory(conversation).sent = tokens

    def observe(self, conversation: int, observed: int, budget: int) -> None:
        """Keep free what the host's request holds beside our list (design 5).

        A new value counts from the next published sweep on, unless it is larger by a sixteenth
        of the budget.
        """
        memory = self._memory(conversation)
        running = self._store.conversations.running(conversation)
        sent = memory.sent
        if sent is None:
            sent = running.tokens + running.head_tokens
        overhead = min(max(0, observed - sent), budget // 2)
        if overhead > running.overhead + budget // 16:
            self._store.conversations.set_overhead(conversation, overhead)
            memory.overhead = None
        else:
            memory.overhead = overhead

    # -- when ----------------------------------------------------------------------------

    def when_due(self, conversation: int, budget: int) -> Compaction | None:
        """Compact when the context is above the soft threshold; None below it."""
        tokens = self.context_tokens(conversation)
        if tokens <= budget * self._config.context_threshold:
            return None
        seconds = self._config.sweep_deadline_ms / 1000
        return self._automatic(conversation, budget, tokens, seconds)

    def when_hard(self, conversation: int, budget: int) -> Compaction | None:
        """Compact within the hard wait when the context is above the hard threshold."""
        tokens = self.context_tokens(conversation)
        if tokens <= budget * self._config.hard_threshold:
            return None
        return self._automatic(conversation, budget, tokens, HARD_WAIT_SECONDS)

    def compact(self, conversation: int, budget: int, *, force: bool) -> Compaction:
        """Compact on request; without *force* only above the soft threshold."""
        tokens = self.context_tokens(conversation)
        if not force and tokens <= budget * self._config.context_threshold:
            return Compaction(str(End.BELOW_THRESHOLD), tokens, tokens)
        seconds = self._config.sweep_deadline_ms / 1000
        return self._guarded(conversation, budget, seconds, self._summarizer)

    def close(self) -> None:
        """Ask running sweeps to end after their pass; what they made is dropped."""
        self._closing.set()

    def _automatic(
        self, conversation: int, budget: int, tokens: int, seconds: float
    ) -> Compaction | None:
        memory = self._memory(conversation)
        is_waiting = memory.not_before > self._clock.monotonic()
        is_forced = tokens > budget * self._config.hard_threshold
        if is_waiting and not is_forced:
            return Compaction(BACKING_OFF, tokens, tokens)
        is_backlog = tokens > BACKLOG * budget
        summarizer = Extractive() if is_backlog or is_waiting else self._summarizer
        done = self._guarded(conversation, budget, seconds, summarizer)
        if summarizer is self._summarizer and not summarizer.free:
            self._learn(memory, done)
        return done

    def _learn(self, memory: _Memory, done: Compaction) -> None:
        if done.outcome in _FAILED:
            wait = min(FIRST_WAIT * 2**memory.failures, LONGEST_WAIT)
            memory.failures += 1
            memory.not_before = self._clock.monotonic() + wait
        elif done.passes:
            memory.failures, memory.not_before = 0, 0.0

    # -- the sweep -----------------------------------------------------------------------

    def _guarded(
        self, conversation: int, budget: int, seconds: float, summarizer: Summarizer
    ) -> Compaction:
        lock = self._memory(conversation).lock
        if not lock.acquire(blocking=False):
            tokens = self.context_tokens(conversation)
            return Compaction(RUNNING, tokens, tokens)
        try:
            return self._run(conversation, budget, seconds, summarizer)
        finally:
            lock.release()

    def _run(
        self, conversation: int, budget: int, seconds: float, summarizer: Summarizer
    ) -> Compaction:
        """Sweep over a copy of the items, then publish in one swap."""
        with self._store.snapshot():
            before = self._store.context.items(conversation)
            tokens = self.context_tokens(conversation)
        timed = Timed(summarizer, self._clock, self._config.summary_timeout_ms / 1000)
        done = sweep(
            before,
            self._limits(budget, summarizer),
            read=_Reader(self._store),
            summarizer=timed,
            clock=self._clock,
            deadline=Deadline.after(self._clock, seconds),
            max_calls=self._config.max_sweep_iterations,
            force=tokens > budget * self._config.hard_threshold,
            cancel=self._closing,
            zone=self._zone,
            overhead_tokens=tokens - sum(item.tokens for item in before),
            fallback_max_tokens=self._config.fallback_max_tokens,
            overage_factor=self._config.summary_max_overage_factor,
        )
        return self._publish(conversation, done, before)

    def _publish(self, conversation: int, done: Sweep, before: Sequence[Item]) -> Compaction:
        ids: dict[str, str] | None = {}
        if self._closing.is_set():
            return _nothing(str(End.CANCELLED), done)
        if done.drafts:
            with self._store.transaction():
                ids = self._store.summaries.publish(
                    conversation, done.drafts, done.items, before, stored(self._clock.now())
                )
                if ids is not None:
                    self._begin_epoch(conversation)
        if ids is None:
            return _nothing(STALE, done)
        return Compaction(
            str(done.end), done.tokens_before, done.tokens_after, done.passes, done.calls,
            done.detail, tuple(ids.values()),
        )  # fmt: skip

    def _begin_epoch(self, conversation: int) -> None:
        """Let go of what had to stay while the list only grew: the cut and the old overhead."""
        self._store.conversations.set_cut(conversation, None, None)
        memory = self._memory(conversation)
        if memory.overhead is not None:
            self._store.conversations.set_overhead(conversation, memory.overhead)
            memory.overhead = None

    def _memory(self, conversation: int) -> _Memory:
        return self._memories.setdefault(conversation, _Memory())

    def _limits(self, budget: int, summarizer: Summarizer) -> Limits:
        config = self._config
        return Limits.for_budget(
            budget,
            target_fraction=config.target_threshold,
            tail_count=config.fresh_tail_count,
            tail_tokens=config.fresh_tail_max_tokens,
            chunk_tokens=config.leaf_chunk_tokens,
            leaf_target=config.leaf_target_tokens,
            condensed_target=config.condensed_target_tokens,
            leaf_fanout=config.leaf_min_fanout,
            condensed_fanout=config.condensed_min_fanout,
            hard_fanout=config.condensed_min_fanout_hard,
            context_window=summarizer.context_window,
        )


def _nothing(outcome: str, done: Sweep) -> Compaction:
    return Compaction(outcome, done.tokens_before, done.tokens_before, calls=done.calls)


class _Reader:
    """What a sweep reads of the store."""

    def __init__(self, store: Store):
        self.messages = store.messages.load
        self.summaries = store.summaries.load
