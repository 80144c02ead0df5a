"""What one invocation knows: its options, its paths, its settings. Opens what a command needs.

The global options may stand before or after the command's name, so they are gathered here while
the line is parsed. Nothing here prints.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from lossless_claw.config.load import Config, load
from lossless_claw.config.paths import Paths, resolve
from lossless_claw.errors import DatabaseNotFoundError, StoreOpenError

if TYPE_CHECKING:
    from lossless_claw.engine import Engine
    from lossless_claw.store.sqlite import Database


@dataclass
class Session:
    """One invocation of the program.

    Attributes:
        form: `json`, `table`, or None: what suits the terminal or the pipe.
        is_pretty: Whether JSON is indented.
    """

    db: str | None = None
    config_path: str | None = None
    openclaw_dir: str | None = None
    form: str | None = None
    is_pretty: bool = False

    @cached_property
    def paths(self) -> Paths:
        """Where this invocation reads and writes.

        Raises:
            ConfigError: If the configuration file is there and cannot be used.
        """
        return resolve(
            db=self.db,
            config=self.config_path,
            openclaw_dir=self.openclaw_dir,
            environ=os.environ,
            home=Path.home(),
        )

    @cached_property
    def config(self) -> Config:
        """The settings.

        Raises:
            ConfigError: If one cannot be used.
        """
        return load(
            environ=os.environ,
            file=self.paths.config_path.path,
            overrides={"databasePath": str(self.paths.database_path)},
        )

    @property
    def problems(self) -> tuple[str, ...]:
        """What is wrong with the host's file, if a command needed the settings at all."""
        return self.config.problems if "config" in vars(self) else ()

    @property
    def is_for_people(self) -> bool:
        """Whether the answer goes to a terminal in no format that was asked for."""
        return self.form is None and sys.stdout.isatty()

    def meta(self) -> dict[str, str]:
        """Return the paths that an answer names."""
        return {
            "databasePath": str(self.paths.database_path),
            "configPath": str(self.paths.config_path),
        }

    def database_file(self) -> str:
        """Return the path of a database that is there, to be read.

        Raises:
            DatabaseNotFoundError: If nothing is there.
            StoreOpenError: If it is no regular file.
        """
        path = self.paths.database_path.path
        if not path.exists():
            raise DatabaseNotFoundError(f"no database at {path}", path=str(path))
        if not path.is_file():
            raise StoreOpenError(
                f"{path} is not a file", hint="Give the database file with --db.", path=str(path)
            )
        return str(path)

    def read_database(self) -> Database:
        """Open the database read-only; never creates one."""
        from lossless_claw.store.migrate import check_tables
        from lossless_claw.store.sqlite import Database

        database = Database(self.database_file(), read_only=True)
        check_tables(database)
        return database

    def read_engine(self) -> Engine:
        """Open the engine read-only; never creates a database."""
        from lossless_claw.engine import Engine

        return Engine.open(self.database_file(), config=self.config, read_only=True)

    def write_engine(self, *, create: bool) -> Engine:
        """Open the engine for writing; makes the file and its folder only with *create*."""
        from lossless_claw.engine import Engine

        path = str(self.paths.database_path) if create else self.database_file()
        return Engine.open(path, config=self.config)
