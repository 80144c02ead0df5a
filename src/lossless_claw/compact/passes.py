"""One pass over a copy of the items: read the sources, ask for a summary, hand back a draft.

Writes nothing and replaces nothing; `sweep` puts the draft in its place.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Sequence
from datetime import tzinfo
from typing import Protocol

from msgspec import Struct

from lossless_claw.clock import Deadline
from lossless_claw.compact.planner import PROMPT_ROOM, CondensedPass, Layout, LeafPass, Limits
from lossless_claw.model import Item, Message, Summary, SummaryDraft
from lossless_claw.summarize.answer import without_reasoning
from lossless_claw.summarize.ladder import SMALLEST_SUMMARY, Cause, Failure, write
from lossless_claw.summarize.source_text import (
    Source,
    condensed_source,
    leaf_source,
    verbatim,
)
from lossless_claw.summarize.summarizer import Request, Summarizer, Text
from lossless_claw.tokens import SUMMARY_OVERHEAD, summary_item_tokens, truncate

VERBATIM_MODEL = "verbatim"
"""The model of a draft that holds its messages word for word."""

_CAPTION_TOKENS = 64
_PREVIOUS = 2


class Reader(Protocol):
    """Where a sweep reads what its items stand for."""

    def messages(self, ids: Sequence[int]) -> list[Message]:
        """Return the messages of these ids, in this order."""
        ...

    def summaries(self, ids: Sequence[str]) -> list[Summary]:
        """Return the summaries of these ids, in this order."""
        ...


class Terms(Struct, frozen=True):
    """What holds for every pass of one sweep."""

    limits: Limits
    zone: tzinfo
    deadline: Deadline
    cancel: threading.Event
    force: bool
    fallback_max_tokens: int
    overage_factor: float


class Made(Struct, frozen=True):
    """A draft, the item that stands for it, and the draft as a summary to read from."""

    draft: SummaryDraft
    item: Item
    summary: Summary


class Outcome(Struct, frozen=True):
    """What came of a pass over `items[start:end]`."""

    start: int
    end: int
    made: Made | Failure


class Passes:
    """Carries out passes, and remembers what it made so that later passes can build on it."""

    def __init__(self, read: Reader, summarizer: Summarizer, terms: Terms) -> None:
        self._read = read
        self._summarizer = summarizer
        self._terms = terms
        self._made: dict[str, Summary] = {}
        self._cost_before: dict[int | str, int] = {}

    def run(self, layout: Layout, step: LeafPass | CondensedPass) -> Outcome:
        """Return what *step* makes of its items, or why it makes nothing.

        A leaf over more than the summarizer can read at once is shortened at a border; the
        outcome names the range that was taken.
        """
        if isinstance(step, CondensedPass):
            outcome = self._condensed(layout, step)
        elif step.joins:
            outcome = self._word_for_word(layout, step)
        else:
            outcome = self._leaf(layout, step)
        if isinstance(outcome.made, Made):
            self._made[outcome.made.draft.key] = outcome.made.summary
        return outcome

    def _leaf(self, layout: Layout, step: LeafPass) -> Outcome:
        step, messages, source = self._fitted(layout, step)
        items = layout.items[step.start : step.end]
        if not source.is_meaningful:
            return Outcome(step.start, step.end, self._caption(items, messages, source))
        before = layout.items[max(0, step.start - 2 * _PREVIOUS) : step.start]
        answer = self._ask(items, source, 0, self._previous(before))
        return Outcome(step.start, step.end, self._draft(items, 0, answer, messages))

    def _fitted(self, layout: Layout, step: LeafPass) -> tuple[LeafPass, list[Message], Source]:
        room = self._room()
        while True:
            messages = self._messages(layout.items[step.start : step.end])
            source = leaf_source(messages, self._terms.zone, room)
            if source.fits:
                return step, messages, source
            groups = list(layout.groups(step.start, step.end))
            if len(groups) == 1:
                return step, messages, source
            step = LeafPass(step.start, groups[len(groups) // 2][0])

    def _condensed(self, layout: Layout, step: CondensedPass) -> Outcome:
        items = layout.items[step.start : step.end]
        summaries = self._summaries(items)
        source = condensed_source(summaries, self._terms.zone)
        before = layout.items[max(0, step.start - 2 * _PREVIOUS) : step.start]
        leaves = [item for item in before if item.depth == 0] if step.depth == 1 else []
        answer = self._ask(items, source, step.depth, self._previous(leaves))
        return Outcome(step.start, step.end, self._draft(items, step.depth, answer, summaries))

    def _ask(
        self, items: Sequence[Item], source: Source, depth: int, previous: str
    ) -> Text | Failure:
        tokens = sum(self._cost_before.get(item.ref, item.tokens) for item in items)
        sources = len(items) if depth else 0
        target = self._target(tokens, sources, depth)
        if target < SMALLEST_SUMMARY:
            return Failure(Cause.NOT_SMALLER, "The source is too small to be summarised.")
        terms = self._terms
        request = Request(
            kind="condensed" if depth else "leaf",
            depth=depth,
            source=source.text,
            target_tokens=target,
            previous=previous,
            deadline=terms.deadline,
            cancel=terms.cancel,
            pieces=source.pieces,
        )
        return write(
            self._summarizer,
            request,
            source_tokens=tokens,
            sources=sources,
            fallback_max_tokens=terms.fallback_max_tokens,
            force=terms.force,
            overage_factor=self._overage(target),
        )

    def _target(self, tokens: int, sources: int, depth: int) -> int:
        """Return the length to ask for (spec compaction 3.4), always under the source's own."""
        limits = self._terms.limits
        if depth:
            largest, wanted = limits.condensed_target, tokens // 2
            least = min(512, largest)
        else:
            largest, wanted = limits.leaf_target, int(tokens * 0.35)
            least = min(192, largest)
        room = tokens - summary_item_tokens("", sources) - 1
        return min(largest, max(least, wanted), room * 4 // 5)

    def _overage(self, target: int) -> float:
        """Return how many times *target* a summary may have: two must fit beside the tail."""
        limits = self._terms.limits
        tail = limits.target // 2 if limits.tail_tokens is None else limits.tail_tokens
        room = (limits.target - tail) // 2 - SUMMARY_OVERHEAD
        return max(1.0, min(self._terms.overage_factor, room / target))

    def _previous(self, before: Sequence[Item]) -> str:
        near = [item for item in before if item.is_summary][-_PREVIOUS:]
        told = (without_reasoning(summary.content) for summary in self._summaries(near))
        limit = self._terms.limits.leaf_target
        return "\n\n".join(truncate(text, limit) for text in told if text)

    def _word_for_word(self, layout: Layout, step: LeafPass) -> Outcome:
        items = layout.items[step.start : step.end]
        messages = self._messages(items)
        text = Text(verbatim(messages, self._terms.zone), "normal", VERBATIM_MODEL)
        made = self._draft(items, 0, text, messages)
        if isinstance(made, Made):
            # It costs more than its messages did; what is made of it has to beat those.
            self._cost_before[made.draft.key] = sum(item.tokens for item in items)
        return Outcome(step.start, step.end, made)

    def _caption(
        self, items: Sequence[Item], messages: Sequence[Message], source: Source
    ) -> Made | Failure:
        """Return a caption for messages without words: no summarizer is asked about nothing."""
        marks = " ".join(dict.fromkeys(piece.text for piece in source.pieces))
        text = truncate(f"[{len(messages)} messages without text] {marks}".strip(), _CAPTION_TOKENS)
        if summary_item_tokens(text) >= sum(item.tokens for item in items):
            return Failure(Cause.EMPTY_SOURCE, "The messages say nothing.")
        return self._draft(items, 0, Text(text, "normal", VERBATIM_MODEL), messages)

    def _draft(
        self,
        items: Sequence[Item],
        depth: int,
        answer: Text | Failure,
        sources: Sequence[Message] | Sequence[Summary],
    ) -> Made | Failure:
        if isinstance(answer, Failure):
            return answer
        refs = tuple(item.ref for item in items)
        tokens = summary_item_tokens(answer.text, len(refs) if depth else 0)
        key = _key(refs, answer.text)
        draft = SummaryDraft(key, depth, answer.text, tokens, refs, answer.level, answer.model)
        item = Item(items[0].ordinal, key, tokens, "summary", depth)
        return Made(draft, item, _as_summary(draft, sources))

    def _messages(self, items: Sequence[Item]) -> list[Message]:
        return self._read.messages([item.ref for item in items if isinstance(item.ref, int)])

    def _summaries(self, items: Sequence[Item]) -> list[Summary]:
        refs = [str(item.ref) for item in items]
        stored = [ref for ref in refs if ref not in self._made]
        read = {summary.id: summary for summary in self._read.summaries(stored)} if stored else {}
        return [self._made.get(ref) or read[ref] for ref in refs]

    def _room(self) -> int:
        window = self._summarizer.context_window
        return max(window // 2, window - self._terms.limits.leaf_target - PROMPT_ROOM)


def _key(refs: Sequence[int | str], text: str) -> str:
    digest = hashlib.sha256(repr((tuple(refs), text)).encode("utf-8", "surrogatepass"))
    return f"draft:{digest.hexdigest()[:16]}"


def _as_summary(draft: SummaryDraft, sources: Sequence[Message] | Sequence[Summary]) -> Summary:
    spans = [_span(source) for source in sources]
    latest = max((last for _, last in spans), default=None)
    return Summary(
        id=draft.key,
        conversation=sources[0].conversation if sources else 0,
        depth=draft.depth,
        content=draft.text,
        tokens=draft.tokens,
        earliest_at=min((first for first, _ in spans), default=None),
        latest_at=latest,
        descendant_count=0,
        descendant_tokens=0,
        source_tokens=0,
        created_at=latest or "",
        model=draft.model,
        level=draft.level,
    )


def _span(source: Message | Summary) -> tuple[str, str]:
    if isinstance(source, Message):
        return source.created_at, source.created_at
    return source.earliest_at or source.created_at, source.latest_at or source.created_at
