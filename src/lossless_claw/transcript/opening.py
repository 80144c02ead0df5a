"""Tells a file that is one JSON text from a file of JSON lines, before anything is imported.

It looks at two lines and holds a whole file only when that file is one text. What the text
means is not decided here.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lossless_claw.transcript.parsing import Broken, parse
from lossless_claw.transcript.source import BOM, Oversize, walk_lines

DOCUMENT_LIMIT = 1024 * 1024 * 1024
"""Bytes of the largest file that is read as one JSON text, which is held in memory."""

_HEAD = 8192


def looks_binary(path: Path) -> bool:
    """Whether the file opens with NUL bytes and not with JSON."""
    head = _read_head(path)
    return b"\0" in head and not head.startswith((b"{", b"["))


def peek(path: Path, size: int) -> list[bytes | Oversize]:
    """Return the first two lines that are not blank."""
    found: list[bytes | Oversize] = []
    with path.open("rb") as stream:
        for line in walk_lines(stream, size):
            if isinstance(line.raw, Oversize) or not line.raw.isspace():
                found.append(line.raw)
            if len(found) == 2:
                break
    return found


def parse_document(path: Path, size: int, opening: list[bytes | Oversize]) -> Any:
    """Return the value of a file that is one JSON text, `Broken`, or None for JSON lines.

    A text on one line is tried as a whole. So is one whose first line alone is no value and
    whose second is no object, as no line inside an object stands for an object by itself.

    Args:
        path: The file.
        size: Its size in bytes.
        opening: What `peek` found, at least one line.
    """
    first, *others = opening
    if size > DOCUMENT_LIMIT:
        return None
    if isinstance(first, Oversize):
        return _load(path) if _read_head(path).startswith(b"[") else None
    value = parse(first)
    if not others:
        return value
    if not isinstance(value, Broken) or not first.lstrip().startswith((b"{", b"[")):
        return None
    if first.lstrip().startswith(b"{") and _is_object(others[0]):
        return None
    return _load(path)


def _is_object(line: bytes | Oversize) -> bool:
    return isinstance(line, bytes) and isinstance(parse(line), dict)


def _read_head(path: Path) -> bytes:
    with path.open("rb") as stream:
        return stream.read(_HEAD).removeprefix(BOM).lstrip()


def _load(path: Path) -> Any:
    return parse(path.read_bytes().removeprefix(BOM))
