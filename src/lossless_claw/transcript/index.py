"""The session index that OpenClaw keeps beside its sessions (spec operator-surfaces 10.2).

It gives the session key of a session id. It is only ever read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from msgspec import Struct

from lossless_claw.transcript.detection import is_index
from lossless_claw.transcript.parsing import Broken, parse
from lossless_claw.transcript.source import BOM
from lossless_claw.transcript.transcript import Problem

SUFFIX = "sessions.json"


class Stamp(Struct, frozen=True):
    """A file in one state."""

    path: Path
    mtime_ns: int
    size: int


def stamp(path: Path) -> Stamp:
    """Return the file as it is now."""
    stat = path.stat()
    return Stamp(path, stat.st_mtime_ns, stat.st_size)


class Index(Struct, frozen=True):
    """Session keys by session id, and by name of the session's file."""

    by_id: Mapping[str, str]
    by_file: Mapping[str, str]
    problems: tuple[Problem, ...] = ()

    def find_key(self, session_id: str, file: str) -> str | None:
        """Return the key of a session, by its id or else by the name of its file."""
        return self.by_id.get(session_id) or self.by_file.get(file)


def read_index(folder: Path) -> Index:
    """Return what the indexes of *folder* say; `sessions.json` goes before other names.

    An index that cannot be read is a problem with line 0: sessions then have no key.
    """
    by_id: dict[str, str] = {}
    by_file: dict[str, str] = {}
    problems: list[Problem] = []
    for path in _list_indexes(folder):
        try:
            found = load_keys(stamp(path))
        except OSError as error:
            found = str(error.strerror)
        if isinstance(found, str):
            problems.append(Problem(0, f"session index {path.name} cannot be read: {found}"))
            continue
        for key, session_id, file in found:
            by_id.setdefault(session_id, key)
            by_file.setdefault(file, key)
    return Index(by_id, by_file, tuple(problems))


def _list_indexes(folder: Path) -> Iterator[Path]:
    found = sorted(path for path in folder.glob(f"*{SUFFIX}") if path.is_file())
    return iter(sorted(found, key=lambda path: path.name != SUFFIX))


@lru_cache(maxsize=8)
def load_keys(index: Stamp) -> tuple[tuple[str, str, str], ...] | str:
    """Return (session key, session id, file name) for each session, or why that is impossible.

    A file that is no index has none. The stamp makes the answer safe to remember: a folder has
    one index and many sessions.
    """
    value = parse(index.path.read_bytes().removeprefix(BOM))
    if isinstance(value, Broken):
        return value.reason
    if not is_index(value):
        return ()
    return tuple((key, *_name(each)) for key, each in value.items())


def _name(session: Mapping[str, Any]) -> tuple[str, str]:
    session_id, file = session["sessionId"], session.get("sessionFile")
    name = (
        file.replace("\\", "/").rpartition("/")[2]
        if isinstance(file, str)
        else f"{session_id}.jsonl"
    )
    return str(session_id), name
