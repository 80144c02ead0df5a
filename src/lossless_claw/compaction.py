"""When a conversation is compacted, and how a sweep becomes the context: decide, sweep, publish."""

from __future__ import annotations

from datetime import tzinfo
from typing import TYPE_CHECKING

from msgspec import Struct

from lossless_claw.clock import Clock, Deadline
from lossless_claw.compact.planner import End, Limits
from lossless_claw.compact.sweep import Sweep, sweep
from lossless_claw.message.times import stored
from lossless_claw.store.store import Store
from lossless_claw.summarize.extractive import Extractive
from lossless_claw.summarize.summarizer import Summarizer

if TYPE_CHECKING:
    from lossless_claw.config import Config

HARD_WAIT_SECONDS = 20.0
"""How long an assembly above the hard threshold waits for a sweep (design 5, `hardWaitMs`)."""

BACKLOG = 2
"""Budgets of unsummarised history from which an automatic sweep uses the embedded summarizer."""

STALE = "stale"
"""The context changed while the sweep ran: nothing was published, a later one will."""


class Compaction(Struct, frozen=True):
    """How a compaction ended: `outcome` is a named end state; sizes in tokens of the whole list."""

    outcome: str
    tokens_before: int
    tokens_after: int
    passes: int = 0
    calls: int = 0
    detail: str = ""
    summaries: tuple[str, ...] = ()


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

    def context_tokens(self, conversation: int, *, with_overhead: bool = True) -> int:
        """Return the tokens of the whole context: items, system head and overhead. Flat cost."""
        running = self._store.conversations.running(conversation)
        overhead = running.overhead if with_overhead else 0
        return running.tokens + self._store.context.head_tokens(conversation) + overhead

    def when_due(self, conversation: int, budget: int) -> Compaction | None:
        """Compact when the context is above the soft threshold; None below it."""
        if self.context_tokens(conversation) <= budget * self._config.context_threshold:
            return None
        return self._run(conversation, budget, self._config.sweep_deadline_ms / 1000, manual=False)

    def when_hard(self, conversation: int, budget: int) -> Compaction | None:
        """Compact within the hard wait when the context is above the hard threshold."""
        if self.context_tokens(conversation) <= budget * self._config.hard_threshold:
            return None
        return self._run(conversation, budget, HARD_WAIT_SECONDS, manual=False)

    def compact(self, conversation: int, budget: int, *, force: bool) -> Compaction:
        """Compact on request; without *force* only above the soft threshold."""
        tokens = self.context_tokens(conversation)
        if not force and tokens <= budget * self._config.context_threshold:
            return Compaction(str(End.BELOW_THRESHOLD), tokens, tokens)
        return self._run(conversation, budget, self._config.sweep_deadline_ms / 1000, manual=True)

    def _run(self, conversation: int, budget: int, seconds: float, *, manual: bool) -> Compaction:
        """Sweep over a copy of the items, then publish in one swap."""
        before = self._store.context.items(conversation)
        tokens = self.context_tokens(conversation)
        beside = tokens - sum(item.tokens for item in before)
        is_backlog = not manual and tokens > BACKLOG * budget
        done = sweep(
            before,
            self._limits(budget),
            read=_Reader(self._store),
            summarizer=Extractive() if is_backlog else self._summarizer,
            clock=self._clock,
            deadline=Deadline.after(self._clock, seconds),
            max_calls=self._config.max_sweep_iterations,
            force=tokens > budget * self._config.hard_threshold,
            zone=self._zone,
            overhead_tokens=beside,
            fallback_max_tokens=self._config.fallback_max_tokens,
            overage_factor=self._config.summary_max_overage_factor,
        )
        return self._publish(conversation, done, before)

    def _publish(self, conversation: int, done: Sweep, before: list) -> Compaction:  # type: ignore[type-arg]
        ids: dict[str, str] | None = {}
        if done.drafts:
            with self._store.transaction():
                ids = self._store.summaries.publish(
                    conversation, done.drafts, done.items, before, stored(self._clock.now())
                )
                self._store.conversations.set_cut(conversation, None, None)
        if ids is None:
            return Compaction(STALE, done.tokens_before, done.tokens_before, calls=done.calls)
        return Compaction(
            str(done.end), done.tokens_before, done.tokens_after, done.passes, done.calls,
            done.detail, tuple(ids.values()),
        )  # fmt: skip

    def _limits(self, budget: int) -> Limits:
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
            context_window=self._summarizer.context_window,
        )


class _Reader:
    """What a sweep reads of the store."""

    def __init__(self, store: Store):
        self.messages = store.messages.load
        self.summaries = store.summaries.load
