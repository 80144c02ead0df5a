"""Which files of a folder may be transcripts.

Names decide here, and only here: `read` looks into each file and refuses what is none.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from lossless_claw.errors import TranscriptError, TranscriptNotFoundError
from lossless_claw.transcript.index import SUFFIX, load_keys, stamp
from lossless_claw.transcript.source import explain

SUFFIXES = frozenset({".jsonl", ".json", ".ndjson", ".traj"})


def find(path: Path) -> Iterator[Path]:
    """Return the file itself, or of a folder, recursively and sorted, what may be a transcript.

    Session indexes are left out; links to folders are not followed.

    Raises:
        TranscriptNotFoundError: If there is nothing at *path*.
        TranscriptError: If a folder holds no such file, or one inside cannot be listed.
    """
    path = Path(path)
    if not path.exists():
        raise TranscriptNotFoundError(f"there is no file or folder {path}", path=str(path))
    if not path.is_dir():
        return iter((path,))
    found = sorted(each for each in _walk(path) if not _is_index(each))
    if not found:
        raise TranscriptError(
            f"{path} has no transcripts in it",
            hint=f"A transcript's name ends in one of {', '.join(sorted(SUFFIXES))}.",
            path=str(path),
        )
    return iter(found)


def _walk(folder: Path) -> Iterator[Path]:
    def refuse(error: OSError) -> None:
        raise explain(Path(error.filename), error) from error

    for name, _, files in os.walk(folder, onerror=refuse):
        for file in files:
            each = Path(name, file)
            if each.suffix.lower() in SUFFIXES and each.is_file():
                yield each


def _is_index(path: Path) -> bool:
    if not path.name.endswith(SUFFIX):
        return False
    try:
        keys = load_keys(stamp(path))
    except OSError as error:
        raise explain(path, error) from error
    # A broken or empty file of the index's own name is still the index and no transcript.
    return path.name == SUFFIX or bool(keys and not isinstance(keys, str))
