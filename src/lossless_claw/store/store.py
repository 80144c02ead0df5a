"""One database and the rooms of it: what the stages are given to work with."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from lossless_claw.errors import StoreOpenError, StoreReadOnlyError
from lossless_claw.store.adopt import adopt
from lossless_claw.store.context import ContextItems
from lossless_claw.store.conversations import Conversations
from lossless_claw.store.messages import Messages
from lossless_claw.store.migrate import check_tables, check_version, is_current, migrate
from lossless_claw.store.rows import Rows
from lossless_claw.store.search.indexing import Indexing
from lossless_claw.store.sources import Sources
from lossless_claw.store.sqlite import BUSY_MS, MEMORY, Database
from lossless_claw.store.summaries import Summaries

if TYPE_CHECKING:
    from lossless_claw.store.search.search import Search


class Store:
    """An open database. Thread-safe; one writer at a time, also across processes.

    No row and no cursor leaves it: every method gives frozen values.
    """

    def __init__(self, database: Database):
        self.database = database
        self.indexing = Indexing(database)
        self.conversations = Conversations(database)
        self.messages = Messages(database, self.indexing)
        self.summaries = Summaries(database, self.indexing)
        self.context = ContextItems(database)
        self.sources = Sources(database)

    @classmethod
    def open(cls, path: str | Path, *, read_only: bool = False, busy_ms: int = BUSY_MS) -> Store:
        """Open the database at *path*, creating it (mode 0600) unless *read_only*.

        Raises:
            DatabaseNotFoundError: If *read_only* and there is no file.
            StoreError: If it is locked, damaged, not SQLite, too new, or cannot be written.
        """
        name = str(path)
        if name != MEMORY and not read_only:
            _create(Path(name))
        database = Database(name, read_only=read_only, busy_ms=busy_ms)
        try:
            _check(database) if read_only else migrate(database)
            store = cls(database)
            if not read_only:
                adopt(database, store.messages)
        except BaseException:
            database.close()
            raise
        return store

    @cached_property
    def search(self) -> Search:
        """Questions to the search indexes."""
        from lossless_claw.store.search.search import Search

        return Search(self.database)

    @property
    def path(self) -> str:
        """The path of the file, or `:memory:`."""
        return self.database.path

    def transaction(self) -> AbstractContextManager[object]:
        """Store all of the block or nothing; nests."""
        return self.database.transaction()

    def snapshot(self) -> AbstractContextManager[object]:
        """Read all of the block from one state of the file; nests."""
        return self.database.snapshot()

    def rows(self, conversation: int) -> Rows:
        """Return the rows of a conversation as the alignment reads them."""
        return Rows(self.database, conversation)

    def close(self) -> None:
        """Close the file. Idempotent."""
        self.database.close()


def _create(path: Path) -> None:
    """Make an empty file for its owner alone, in a folder likewise, where there is none."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if path.is_dir():
            raise StoreOpenError(f"{path} is a folder", path=str(path))
        path.touch(mode=0o600, exist_ok=False)
    except FileExistsError:
        return
    except OSError as error:
        raise StoreReadOnlyError(
            f"cannot create {path}: {error.strerror}", path=str(path)
        ) from error


def _check(database: Database) -> None:
    check_tables(database)
    with database.read() as connection:
        check_version(connection, database.path)
        if not is_current(connection):
            raise StoreOpenError(
                f"{database.path} has no tables of ours yet",
                hint="Open it once for writing, for example with `lcm import PATH`.",
                path=database.path,
            )
