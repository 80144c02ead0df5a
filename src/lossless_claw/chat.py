"""One conversation as its host sees it: what comes in, what the model gets, what is found again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from lossless_claw.assemble.assembler import Context, assemble
from lossless_claw.errors import UsageError
from lossless_claw.ingest.importer import Ingested
from lossless_claw.message.plain import plain_message
from lossless_claw.model import Conversation, Entry, Message, Outside, Raw, Shape

if TYPE_CHECKING:
    from lossless_claw.compaction import Compaction
    from lossless_claw.engine import Engine
    from lossless_claw.recall.ask import Answer
    from lossless_claw.recall.describe import Description
    from lossless_claw.recall.expand import Expansion
    from lossless_claw.recall.grep import Grep

DEFAULT_BUDGET = 128_000
"""Tokens of a list when nobody ever gave a budget (design 5)."""

_MOST = 10**12
_LEFT = frozenset({Outside.REWOUND, Outside.BRANCH, Outside.CHANGED})


class AfterTurn(Struct, frozen=True):
    """What a turn led to: what was stored, and the compaction where one was due."""

    ingested: Ingested
    compaction: Compaction | None


class Chat:
    """A conversation of an open engine. Made by `Engine.conversation`; safe to use from threads."""

    def __init__(self, engine: Engine, conversation: Conversation):
        self._engine = engine
        self._store = engine.store
        self.id = conversation.id
        self.session_key = conversation.session_key

    # -- what comes in -------------------------------------------------------------------

    def append(self, messages: Sequence[Any], ids: Sequence[str | None] | None = None) -> Ingested:
        """Store an increment.

        Messages with an id that is stored already are known; those without an id are always new.

        Args:
            messages: Message objects of any provider's shape, in order.
            ids: The host's id of each message, where it has them; else a message's own `id`.

        Raises:
            HostError: If a message is no JSON object.
            StoreError: If nothing could be stored.
        """
        done = self._engine.importer.append(self.id, _entries(messages, ids))
        self._engine.index_some(done.added)
        return done

    def sync(self, history: Sequence[Any], ids: Sequence[str | None] | None = None) -> Ingested:
        """Store what is new in the whole list that the host has now.

        The list may be a copy that the host pruned, cleared in place, compacted or rewound; the
        store is the memory of what was there (spec alignment). Never changes *history*.

        Raises:
            HostError: If a message is no JSON object.
            StoreError: If nothing could be stored.
        """
        done = self._engine.importer.sync(self.id, _entries(history, ids))
        self._engine.index_some(done.added)
        return done

    def after_turn(
        self, batch: Sequence[Any], budget: int | None = None, observed_tokens: int | None = None
    ) -> AfterTurn:
        """Store a turn by the rules of `sync`, then compact when the context has grown too large.

        Args:
            batch: The turn's messages or the whole list; empty after `append`.
            budget: Tokens that the list may take; remembered. The last one when None.
            observed_tokens: What the provider counted for the last request: the difference to
                what was sent is overhead and is kept free from now on.
        """
        if observed_tokens is not None:
            _check_count(observed_tokens, "observed_tokens")
        ingested = self.sync(batch) if batch else Ingested.nothing()
        known = self._budget(budget)
        if observed_tokens is not None:
            self._engine.compactor.observe(self.id, observed_tokens, known)
        return AfterTurn(ingested, self._engine.compactor.when_due(self.id, known))

    # -- what the model gets -------------------------------------------------------------

    def assemble(
        self, budget: int | None = None, shape: Shape | str | None = None, *, live: bool = True
    ) -> Context:
        """Return the list for the model: summaries and fresh tail, inside *budget* tokens.

        Valid for a provider of *shape* (the one the messages came in when None). Never raises
        for a budget that is too small: the smallest valid list then comes with `fits=False`.

        Args:
            budget: Tokens that the list may take; remembered when *live*.
            live: The host's own request: it may compact above the hard threshold and moves the
                stored cut. Read commands pass False and change nothing.
        """
        wanted = None if shape is None else _shape(shape)
        if not live:
            known = self._budget(budget, remember=False)
            return assemble(self._store, self.id, known, self._engine.zone, wanted)
        known = self._budget(budget)
        self._engine.compactor.when_hard(self.id, known)
        context = assemble(self._store, self.id, known, self._engine.zone, wanted)
        self._engine.compactor.note_sent(self.id, context.tokens)
        self._keep_cut(context)
        return context

    def _keep_cut(self, context: Context) -> None:
        running = self._store.conversations.running(self.id)
        if context.report.cut != running.cut:
            self._store.conversations.set_cut(self.id, context.report.cut, context.budget)

    def compact(self, budget: int | None = None, *, force: bool = False) -> Compaction:
        """Summarise older messages until the context is under its target, and say how it ended.

        Without *force* nothing happens below the soft threshold. Messages are never touched.
        """
        return self._engine.compactor.compact(self.id, self._budget(budget), force=force)

    # -- what is found again -------------------------------------------------------------

    def grep(self, pattern: str, **options: Any) -> Grep:
        """Search this conversation and its archived predecessors; see `Engine.grep`."""
        return self._engine.grep(pattern, **self._own(options))

    def describe(self, node: str) -> Description:
        """Say what a summary or message is, and what expanding it costs."""
        return self._engine.describe(node, conversations=self.family())

    def expand(self, node: str, **options: Any) -> Expansion:
        """Return the original text behind a summary or of a message, by page."""
        return self._engine.expand(node, **self._own(options))

    def ask(self, question: str, **options: Any) -> Answer:
        """Return the passages that answer *question*, with citations."""
        return self._engine.ask(question, **self._own(options))

    def _own(self, options: dict[str, Any]) -> dict[str, Any]:
        if "conversations" in options:
            raise UsageError("a chat reads its own family; the engine reads several conversations")
        return {**options, "conversations": self.family()}

    def family(self) -> tuple[int, ...]:
        """Return the ids of this conversation and its archived predecessors."""
        return self._store.conversations.family(self.id)

    def messages(self) -> Iterator[Message]:
        """Yield every stored message in order, in the context or not."""
        return self._store.messages.walk(self.id)

    def export(self, *, include_outside: bool = False) -> Iterator[Raw]:
        """Yield every message JSON-equal to what was handed in, in order.

        Args:
            include_outside: Also what was rewound, lies on a branch that was left, or stands
                under the id of another message.
        """
        for message in self.messages():
            if include_outside or message.outside not in _LEFT:
                yield message.original

    # -- settings ------------------------------------------------------------------------

    def _budget(self, given: int | None, *, remember: bool = True) -> int:
        if given is not None:
            _check_count(given, "a budget")
        stored = self._store.conversations.running(self.id).budget
        if remember and given is not None and given != stored:
            self._store.conversations.set_budget(self.id, given)
        budget = given or stored or DEFAULT_BUDGET
        cap = self._engine.config.max_assembly_token_budget
        return min(budget, cap) if cap else budget


def _check_count(given: object, what: str) -> None:
    is_count = isinstance(given, int) and not isinstance(given, bool) and 1 <= given <= _MOST
    if not is_count:
        raise UsageError(f"{what} is a positive whole number of tokens, not {given!r}")


def _shape(name: Shape | str) -> Shape:
    try:
        return Shape(name)
    except ValueError as error:
        raise UsageError(
            f"no shape {name!r}", hint=f"One of: {', '.join(sorted(Shape))}."
        ) from error


def _entries(messages: Iterable[Any], ids: Sequence[str | None] | None) -> list[Entry]:
    if isinstance(messages, str | bytes | Mapping) or not isinstance(messages, Iterable):
        raise UsageError(f"messages is a list of messages, not {type(messages).__name__}")
    raws = [plain_message(message, f"message {n}") for n, message in enumerate(messages)]
    if ids is None:
        return [Entry(raw, _own_id(raw)) for raw in raws]
    if len(ids) != len(raws):
        raise UsageError(f"{len(ids)} ids for {len(raws)} messages")
    if not all(one is None or isinstance(one, str) for one in ids):
        raise UsageError("an id is a text, or None for a message without one")
    return [Entry(raw, entry_id) for raw, entry_id in zip(raws, ids, strict=True)]


def _own_id(message: Raw) -> str | None:
    """Return a message's own id where it tells one message from another.

    The parts of one Anthropic response share its id.
    """
    entry_id = message.get("id")
    is_part = message.get("type") == "message" and message.get("role") == "assistant"
    return entry_id if isinstance(entry_id, str) and entry_id.strip() and not is_part else None
