"""Wires the stages over one database: what `lossless_claw.open` gives."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Sequence
from datetime import UTC, tzinfo
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, cast

from msgspec import Struct

from lossless_claw.chat import Chat
from lossless_claw.clock import Clock, SystemClock
from lossless_claw.compaction import Compactor
from lossless_claw.config import Config, load
from lossless_claw.errors import ConfigError, ConversationNotFoundError, StoreError, UsageError
from lossless_claw.ingest.importer import Importer
from lossless_claw.message.times import stored
from lossless_claw.store.listing.listing import Listing
from lossless_claw.store.sources import Source
from lossless_claw.store.store import Store
from lossless_claw.store.verify import Verification, verify
from lossless_claw.summarize.extractive import Extractive
from lossless_claw.summarize.summarizer import Summarizer, from_callable

if TYPE_CHECKING:
    from lossless_claw.recall.ask import Answer
    from lossless_claw.recall.describe import Description
    from lossless_claw.recall.expand import Expansion
    from lossless_claw.recall.grep import Grep
    from lossless_claw.transcript import Lane, Problem, Transcript

_log = logging.getLogger(__name__)

INDEX_LAG = 1_024
"""So many messages may wait for the substring indexes; a search scans them."""

ImportProgress = Callable[[int, int | None], None]


class ImportItem(Struct, frozen=True):
    """What importing one conversation of a file led to: counts of messages."""

    path: str
    format: str
    conversation_id: int
    session_key: str | None
    read: int
    added: int
    known: int
    skipped: dict[str, int]
    problems: list[Problem]
    ambiguous: int
    conflicts: int


class Engine:
    """An open database and everything that is done with it. A context manager; thread-safe."""

    def __init__(self, store: Store, config: Config, summarizer: Summarizer, clock: Clock):
        self.store = store
        self.config = config
        self.zone = _zone(config)
        self._clock = clock
        self._waiting: int | None = None
        self.listing = Listing(store.database)
        self.importer = Importer(store, clock, self.zone)
        self.compactor = Compactor(store, config, summarizer, clock, self.zone)

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str],
        *,
        summarizer: Summarizer | Callable[..., Any] | None = None,
        config: Config | None = None,
        clock: Clock | None = None,
        read_only: bool = False,
    ) -> Engine:
        """Open the database at *path*; it is created where there is none.

        Args:
            path: A file, or `:memory:`.
            summarizer: Who writes summaries; the embedded `Extractive` when None.
            config: Settings; defaults and `LCM_...` variables when None.
            read_only: Never write; the file must exist.

        Raises:
            StoreError: If the file cannot be used; the subclass and `hint` say why.
        """
        return cls(
            Store.open(os.fspath(path), read_only=read_only),
            config or load(environ=os.environ, file=None, overrides={}),
            _summarizer(summarizer),
            clock or SystemClock(),
        )

    # -- conversations -------------------------------------------------------------------

    def conversation(
        self, session_key: str | None = None, *, session_id: str | None = None
    ) -> Chat:
        """Return the conversation of a session key (or id); it exists afterwards.

        Raises:
            UsageError: If neither is a text that names one.
        """
        for name in (session_key, session_id):
            if name is not None and not isinstance(name, str):
                raise UsageError(f"a session key is a text, not {type(name).__name__}")
        return Chat(self, self.store.conversations.get_or_create(session_key, session_id))

    def chat(self, *, conversation_id: int | None = None, session_key: str | None = None) -> Chat:
        """Return a stored conversation; of a key the active one, else the newest.

        Raises:
            ConversationNotFoundError: If there is none.
        """
        if conversation_id is not None:
            return Chat(self, self.store.conversations.get(conversation_id))
        found = self.store.conversations.newest(session_key or "")
        if found is None:
            raise ConversationNotFoundError(
                f"no conversation with session key {session_key!r}", sessionKey=session_key
            )
        return Chat(self, found)

    # -- transcripts ---------------------------------------------------------------------

    def import_file(
        self,
        path: str | os.PathLike[str],
        *,
        session_key: str | None = None,
        progress: ImportProgress | None = None,
    ) -> list[ImportItem]:
        """Store a transcript; what is stored already is known. One item per conversation in it.

        Args:
            session_key: Instead of the one that the file gives.
            progress: Called with messages done and messages in all.

        Raises:
            TranscriptError: If the file is no transcript.
        """
        from lossless_claw.transcript import read

        transcript = read(Path(path))
        done = 0

        def count(messages: int) -> None:
            nonlocal done
            done += messages
            if progress is not None:
                progress(done, transcript.read)

        items = [
            self._import_lane(transcript, lane, _key(session_key, index), count)
            for index, lane in enumerate(transcript.lanes)
        ]
        while self._index(1_000):
            pass
        return items

    def _import_lane(
        self, transcript: Transcript, lane: Lane, key: str | None, count: Callable[[int], None]
    ) -> ImportItem:
        key = key or lane.session_key
        conversation = self.store.conversations.get_or_create(key, lane.session_id)
        if lane.title:
            self.store.conversations.set_title(conversation.id, lane.title)
        done = self.importer.bring_in(conversation.id, lambda: transcript.entries(lane), count)
        self._record(conversation.id, transcript, lane)
        is_first = lane is transcript.lanes[0]
        return ImportItem(
            path=str(transcript.path), format=transcript.format,
            conversation_id=conversation.id, session_key=key,
            read=done.added + done.known, added=done.added, known=done.known,
            skipped=dict(transcript.skipped) if is_first else {},
            problems=list(transcript.problems) if is_first else [],
            ambiguous=done.ambiguous, conflicts=done.conflicts,
        )  # fmt: skip

    def _record(self, conversation: int, transcript: Transcript, lane: Lane) -> None:
        source = Source(
            path=str(transcript.path.absolute()), conversation=conversation,
            format=transcript.format, size=transcript.size, mtime_ms=transcript.mtime_ms,
            processed=transcript.size, messages=transcript.read,
            read_at=stored(self._clock.now()),
        )  # fmt: skip
        self.store.sources.record(source, lane.session_id)

    def index_some(self, added: int) -> None:
        """Fill the substring indexes a little further when enough messages wait.

        Args:
            added: Messages stored since the last call.
        """
        if self._waiting is None:
            self._waiting = self._index(0)
        else:
            self._waiting += added
        if self._waiting >= INDEX_LAG:
            self._waiting = self._index(INDEX_LAG)

    def _index(self, limit: int) -> int:
        """Index *limit* messages more and return the lag; 0 when it failed.

        The messages are stored by then: a full disk or a damaged index must not tell the host
        otherwise. The next thousand messages try again; a search reads what is not indexed.
        """
        try:
            return self.store.indexing.catch_up(limit) if limit else self.store.indexing.lag()
        except StoreError as error:
            _log.warning("the search indexes stay behind: %s", error)
            return 0

    # -- recall --------------------------------------------------------------------------

    def grep(
        self, pattern: str, *, conversations: Sequence[int] | None = None, **options: Any
    ) -> Grep:
        """Search messages and summaries; None for *conversations* is everything.

        Args:
            pattern: Words, or a regular expression with `mode="regex"`.
            options: `mode`, `sort`, `scope`, `limit`, `cursor`, `since`, `before`.

        Raises:
            PatternError: If the pattern is refused; it says why and what to call instead.
        """
        from lossless_claw.recall.grep import grep

        return grep(self.store, pattern, conversations=conversations, **options)

    def describe(self, node: str, *, conversations: Sequence[int] | None = None) -> Description:
        """Say what a summary (`sum_...`) or message (`msg_<n>`) is and what expanding it costs."""
        from lossless_claw.recall.describe import describe

        return describe(self.store, node, conversations=conversations)

    def expand(
        self, node: str, *, conversations: Sequence[int] | None = None, **options: Any
    ) -> Expansion:
        """Return the original text behind a node, verbatim, by page.

        Args:
            options: `token_cap` (the configured `maxExpandTokens` when absent), `cursor`, `level`.
        """
        options.setdefault("token_cap", self.config.max_expand_tokens)
        from lossless_claw.recall.expand import expand

        return expand(self.store, node, conversations=conversations, **options)

    def ask(
        self, question: str, *, conversations: Sequence[int] | None = None, **options: Any
    ) -> Answer:
        """Return the passages that answer *question*, with citations. No model is called."""
        from lossless_claw.recall.ask import ask

        return ask(self.store, question, conversations=conversations, **options)

    # -- the whole -----------------------------------------------------------------------

    def verify(self, progress: Callable[[int], None] | None = None) -> Verification:
        """Prove that nothing is missing, doubled or altered; faults are values."""
        return verify(self.store.database, progress)

    def close(self) -> None:
        """Close the database; a running sweep is cancelled. Idempotent."""
        self.compactor.close()
        self.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _summarizer(given: Summarizer | Callable[..., Any] | None) -> Summarizer:
    if given is None:
        return Extractive()
    if not hasattr(given, "summarize"):
        return from_callable(given)
    lacking = [n for n in ("name", "context_window", "free") if not hasattr(given, n)]
    if lacking:
        raise UsageError(f"the summarizer has no {', '.join(lacking)}; see lcm.Summarizer")
    return cast("Summarizer", given)


def _zone(config: Config) -> tzinfo:
    if config.timezone is None:
        return UTC
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    try:
        return ZoneInfo(config.timezone)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise ConfigError(
            f"timezone: no zone {config.timezone!r} ({config.origin('timezone')})",
            hint="Give an IANA name such as Europe/Berlin.",
        ) from error


def _key(session_key: str | None, index: int) -> str | None:
    if session_key is None or index == 0:
        return session_key
    return f"{session_key}:{index}"


open = Engine.open  # noqa: A001 - `lossless_claw.open` reads like the builtin, on purpose
