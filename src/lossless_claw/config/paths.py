"""Where things lie: the state directory, the host's configuration and the database.

The first non-blank source wins; every path comes out absolute (spec operator-surfaces 1.4).
Reads the host's configuration file, since it may name the database, and nothing else.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from msgspec import Struct

from lossless_claw.config import host_file
from lossless_claw.config.keys import Declared
from lossless_claw.config.parse import parse


class Place(Struct, frozen=True):
    """An absolute path and what named it."""

    path: Path
    origin: str

    def __str__(self) -> str:
        return str(self.path)


class Paths(Struct, frozen=True):
    """The three places, each with its origin."""

    state_dir: Place
    config_path: Place
    database_path: Place


def resolve(
    *,
    db: str | None,
    config: str | None,
    openclaw_dir: str | None,
    environ: Mapping[str, str],
    home: Path,
) -> Paths:
    """Return where this invocation reads and writes.

    Args:
        db: What `--db` said.
        config: What `--config` said.
        openclaw_dir: What `--openclaw-dir` said.
        environ: The environment.
        home: The home directory of the process.

    Raises:
        ConfigError: If the configuration file is there and cannot be used, and no option or
            variable names the database.
    """
    own_home = _home(environ, home)
    state = _first(
        own_home,
        [
            ("option --openclaw-dir", openclaw_dir),
            *_variables(environ, "LCM_OPENCLAW_DIR", "OPENCLAW_STATE_DIR"),
            ("default", str(own_home / ".openclaw")),
        ],
    )
    host = _first(
        own_home,
        [
            ("option --config", config),
            *_variables(environ, "OPENCLAW_CONFIG_PATH"),
            ("default", str(state.path / "openclaw.json")),
        ],
    )
    named = [("option --db", db), *_variables(environ, "LCM_DATABASE_PATH")]
    if not any(text and text.strip() for _, text in named):
        named += [*_from_config(host.path), ("default", str(state.path / "lcm.db"))]
    return Paths(state, host, _first(own_home, named))


def _home(environ: Mapping[str, str], home: Path) -> Path:
    text = environ.get("OPENCLAW_HOME", "").strip()
    return _absolute(text, home) if text else home


def _variables(environ: Mapping[str, str], *names: str) -> list[tuple[str, str | None]]:
    return [(f"environment {name}", environ.get(name)) for name in names]


def _from_config(path: Path) -> Iterable[tuple[str, str | None]]:
    given = host_file.read(path)
    key = Declared.database_path
    for name in (key.name, *key.aliases):
        yield f"file {path}", parse(key, given.get(name), f"file {path}, {name}")


def _first(home: Path, sources: Iterable[tuple[str, str | None]]) -> Place:
    for origin, text in sources:
        if text is not None and text.strip():
            return Place(_absolute(text.strip(), home), origin)
    raise AssertionError("the last source is a default")


def _absolute(text: str, home: Path) -> Path:
    if text == "~" or text.startswith(("~/", "~" + os.sep)):
        return Path(os.path.normpath(home / text[2:]))
    # Not resolve(): a link stays a link, as the host sees it.
    return Path(os.path.normpath(Path(text).absolute()))
