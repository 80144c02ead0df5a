"""SQLite spoken in one place: connections, pragmas, transactions, foreign errors.

One writer behind a lock and a small pool of readers; `:memory:` has one connection for all.
No other handle in this process ever opens and closes the file: closing any descriptor of it
would drop the locks that SQLite holds (design 3). Nothing here knows a table.
"""

from __future__ import annotations

import functools
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path

from lossless_claw.errors import (
    DatabaseNotFoundError,
    StoreBusyError,
    StoreCorruptError,
    StoreError,
    StoreFullError,
    StoreOpenError,
    StoreReadOnlyError,
    UsageError,
)

BUSY_MS = 30_000
READERS = 4
PAGE_BYTES = 16_384
CACHE_KIB = 8_192
MEMORY = ":memory:"

_abandoned: list[sqlite3.Connection] = []
"""Connections inherited over a fork: kept, since closing them would drop the parent's locks."""


def translate(error: sqlite3.Error, path: str) -> StoreError:
    """Return the typed error for what SQLite said about the file at *path*."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    kind = {
        sqlite3.SQLITE_BUSY: StoreBusyError,
        sqlite3.SQLITE_LOCKED: StoreBusyError,
        sqlite3.SQLITE_READONLY: StoreReadOnlyError,
        sqlite3.SQLITE_PERM: StoreReadOnlyError,
        sqlite3.SQLITE_FULL: StoreFullError,
        sqlite3.SQLITE_CORRUPT: StoreCorruptError,
        sqlite3.SQLITE_NOTADB: StoreCorruptError,
        sqlite3.SQLITE_CANTOPEN: StoreOpenError,
    }.get(code, StoreError)
    return kind(f"{path}: {error}", path=path, sqlite=str(error))


class Database:
    """The connections to one file.

    Args:
        path: File path, or `:memory:`.
        read_only: Open without the right to write; the file must exist.
        busy_ms: How long a statement waits for another process's lock, in ms.
    """

    def __init__(self, path: str, *, read_only: bool = False, busy_ms: int = BUSY_MS):
        self.path = path
        self.read_only = read_only
        self._busy_ms = busy_ms
        self._is_memory = path == MEMORY
        self._pid = os.getpid()
        self._lock = threading.RLock()
        self._depth = 0
        self._owner: int | None = None
        self._free: list[sqlite3.Connection] = []
        self._bound = threading.local()
        self._slots = threading.BoundedSemaphore(READERS)
        self._closed = False
        self._uri = _uri(path, read_only=read_only)
        with self._translated():
            self._writer = self._open()
        self.has_fts5 = _has("fts5(x)")
        self.has_trigram = self.has_fts5 and _has("fts5(x, tokenize='trigram')")

    # -- reading and writing -------------------------------------------------------------

    def read(self) -> AbstractContextManager[sqlite3.Connection]:
        """Give a connection to read from; inside a transaction of this thread, the writer.

        Nests: an inner block reads through the same connection.
        """
        if self._owner == threading.get_ident() and self._pid == os.getpid():
            return _Given(self._writer)
        bound = getattr(self._bound, "connection", None)
        return self._reading() if bound is None else _Given(bound)

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        self._check_process()
        if self._is_memory or self.read_only:
            with self._lock, self._translated():
                yield self._writer
        else:
            with self._slots, self._translated():
                yield from self._lent()

    def _lent(self) -> Iterator[sqlite3.Connection]:
        connection = self._free.pop() if self._free else self._open()
        self._bound.connection = connection
        try:
            yield connection
        finally:
            self._bound.connection = None
            self._free.append(connection)

    @contextmanager
    def snapshot(self) -> Iterator[sqlite3.Connection]:
        """Give a connection that sees the file as it is now until the block ends.

        What others commit meanwhile is not seen, so that several statements make one reading.
        """
        with self.read() as connection:
            if connection.in_transaction:
                yield connection
                return
            connection.execute("BEGIN")
            try:
                yield connection
            finally:
                connection.execute("COMMIT")

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Give the writer inside a transaction: all of the block is stored, or nothing of it.

        Nests: an inner block is a savepoint. The first error is the one that is raised.

        Raises:
            StoreReadOnlyError: If the database was opened read-only.
            StoreBusyError: If another process holds the lock for longer than the time-out.
        """
        self._check_process()
        if self.read_only:
            raise StoreReadOnlyError(f"{self.path} was opened read-only", path=self.path)
        with self._lock, self._translated():
            begin, commit, undo = self._statements()
            self._writer.execute(begin)
            self._depth += 1
            self._owner = threading.get_ident()
            try:
                yield self._writer
                self._writer.execute(commit)
            except BaseException:
                self._rollback(undo)
                raise
            finally:
                self._depth -= 1
                if self._depth == 0:
                    self._owner = None

    def writing(self) -> AbstractContextManager[sqlite3.Connection]:
        """Give the writer: inside the transaction of this thread, or in one of its own.

        For a step that is nothing without the whole: an error undoes all of the outer block too.
        A savepoint would make FTS5 write its pending terms out at every step.
        """
        if self._owner == threading.get_ident() and self._pid == os.getpid():
            return _Given(self._writer)
        return self.transaction()

    def _statements(self) -> tuple[str, str, str]:
        if self._depth == 0:
            return "BEGIN IMMEDIATE", "COMMIT", "ROLLBACK"
        name = f"level_{self._depth}"
        return f"SAVEPOINT {name}", f"RELEASE {name}", f"ROLLBACK TO {name}; RELEASE {name}"

    def _rollback(self, undo: str) -> None:
        # SQLite itself rolls back on some errors (disk full): then there is nothing to undo.
        if self._writer.in_transaction:
            for statement in undo.split("; "):
                self._writer.execute(statement)

    def trace(self, listener: Callable[[str], None] | None) -> None:
        """Call *listener* with each statement of the writer as it begins; None stops it."""
        self._writer.set_trace_callback(listener)

    def close(self) -> None:
        """Close every connection. Idempotent."""
        if self._closed or self._pid != os.getpid():
            return
        self._closed = True
        with self._lock:
            for connection in [*self._free, self._writer]:
                connection.close()
            self._free.clear()

    @property
    def closed(self) -> bool:
        """Whether `close` was called."""
        return self._closed

    # -- connections ---------------------------------------------------------------------

    def _open(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self._uri,
            uri=True,
            timeout=self._busy_ms / 1000,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=256,
        )
        try:
            self._configure(connection)
        except sqlite3.Error:
            connection.close()
            raise
        return connection

    def _configure(self, connection: sqlite3.Connection) -> None:
        connection.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA temp_store = MEMORY")
        if self.read_only:
            connection.execute("PRAGMA query_only = ON")
            connection.execute("SELECT count(*) FROM sqlite_master")
        elif not self._is_memory:
            connection.execute(f"PRAGMA page_size = {PAGE_BYTES}")
            _enable_wal(connection, self._busy_ms)
            connection.execute("PRAGMA synchronous = NORMAL")

    def _check_process(self) -> None:
        if self._closed:
            raise StoreError(f"{self.path} is closed", hint="Open it again.", path=self.path)
        if self._pid == os.getpid():
            return
        _abandoned.extend([*self._free, self._writer])
        self._free, self._lock, self._bound = [], threading.RLock(), threading.local()
        self._slots = threading.BoundedSemaphore(READERS)
        self._depth, self._owner, self._pid = 0, None, os.getpid()
        with self._translated():
            self._writer = self._open()

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise translate(error, self.path) from error
        except OverflowError as error:
            raise UsageError("a number is larger than SQLite's, 64 bits") from error
        except UnicodeEncodeError as error:
            raise UsageError("a name holds a lone surrogate: it is no Unicode text") from error


class _Given:
    """A connection that an outer block holds: it translates errors and gives it back."""

    __slots__ = ("_connection",)

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def __enter__(self) -> sqlite3.Connection:
        return self._connection

    def __exit__(self, *raised: object) -> None:
        """Leave it to the outer block."""


def _uri(path: str, *, read_only: bool) -> str:
    if path == MEMORY:
        return "file::memory:"
    file = Path(path).absolute()
    if not read_only:
        return file.as_uri()
    if not file.is_file():
        raise DatabaseNotFoundError(f"no database at {file}", path=str(file))
    # Without a -wal file and without the right to make one, the file cannot change under us.
    is_still = not Path(f"{file}-wal").exists() and not os.access(file.parent, os.W_OK)
    return f"{file.as_uri()}?mode=ro" + ("&immutable=1" if is_still else "")


def _enable_wal(connection: sqlite3.Connection, busy_ms: int) -> None:
    # Turning WAL on does not wait for the busy time-out when another process does the same.
    give_up = time.monotonic() + busy_ms / 1000
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            is_busy = (error.sqlite_errorcode & 0xFF) == sqlite3.SQLITE_BUSY
            if not is_busy or time.monotonic() > give_up:
                raise
            time.sleep(0.01)
        else:
            return


@functools.cache
def _has(module: str) -> bool:
    """Whether this SQLite can make a virtual table of *module*."""
    with closing(sqlite3.connect(":memory:")) as memory:
        try:
            memory.execute(f"CREATE VIRTUAL TABLE probe USING {module}")
        except sqlite3.OperationalError:
            return False
    return True
