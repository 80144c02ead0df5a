"""Where records come from: the lines of a file, or the items of a JSON list.

A line file is read twice and never held; a line beyond the limit is passed over in pieces. This
room knows lines and bytes, not what a record means.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from msgspec import Struct

from lossless_claw.errors import TranscriptError
from lossless_claw.transcript.parsing import Broken, parse

LINE_LIMIT = 64 * 1024 * 1024
"""Bytes of the longest line that is read (the newline not counted)."""

BOM = b"\xef\xbb\xbf"
BLANK = object()
"""Stands for a line of nothing but white space."""
_BUFFER = 256 * 1024
_PIECE = 1024 * 1024
_PROBE = 4096


class Oversize(Struct, frozen=True):
    """Stands for a line that is too long to hold."""

    size: int
    has_end: bool


class Line(NamedTuple):
    """One line: its number from 1, where it starts, its bytes with the newline."""

    number: int
    offset: int
    raw: bytes | Oversize


class Record(NamedTuple):
    """One parsed record: its number, the place to fetch it by, and its value or `Broken`."""

    line: int
    place: int
    value: Any


def walk_lines(stream: BinaryIO, size: int, limit: int = LINE_LIMIT) -> Iterator[Line]:
    """Yield the lines of the first *size* bytes, without a byte order mark.

    Never more than *limit* bytes of a line are held.
    """
    offset = len(BOM) if stream.read(len(BOM)) == BOM else 0
    stream.seek(offset)
    number = 0
    while offset < size:
        number += 1
        raw = stream.readline(min(limit + 1, size - offset))
        if not raw:
            return
        if len(raw) <= limit or raw.endswith(b"\n"):
            yield Line(number, offset, raw)
            offset += len(raw)
        else:
            over = _pass_over(stream, len(raw), size - offset)
            yield Line(number, offset, over)
            offset += over.size


def _pass_over(stream: BinaryIO, length: int, rest: int) -> Oversize:
    while length < rest:
        piece = stream.readline(min(_PIECE, rest - length))
        if not piece:
            break
        length += len(piece)
        if piece.endswith(b"\n"):
            return Oversize(length, has_end=True)
    return Oversize(length, has_end=False)


class LineSource:
    """The JSON lines of a file, as it was when the source was made.

    `size` is what the file had then and, after `scan`, the end of its last whole line.
    """

    def __init__(self, path: Path, stat: os.stat_result, limit: int = LINE_LIMIT) -> None:
        self.path = path
        self.size = stat.st_size
        self._limit = limit
        self._probe = (0, 0)

    def scan(self) -> Iterator[Record]:
        """Yield every line that is not blank, in order: the first pass."""
        end = 0
        with self.path.open("rb", _BUFFER) as stream:
            for number, offset, raw in walk_lines(stream, self.size, self._limit):
                if isinstance(raw, Oversize):
                    end = offset + raw.size if raw.has_end else end
                    yield Record(number, offset, self._refuse(raw))
                    continue
                value = BLANK if raw.isspace() else parse(raw)
                if isinstance(value, Broken) and not raw.endswith(b"\n"):
                    yield Record(number, offset, Broken("last line is incomplete"))
                    continue
                end = offset + len(raw)
                if value is not BLANK:
                    yield Record(number, offset, value)
            self.size = end
            self._probe = _fingerprint(stream, end)

    def _refuse(self, line: Oversize) -> Broken:
        return Broken(f"line of {line.size:,} bytes is over the limit of {self._limit:,} bytes")

    def fetch(self, places: Sequence[int]) -> Iterator[Any]:
        """Yield the records at these offsets: the second pass.

        Raises:
            TranscriptError: If the bytes of the first pass are no longer there.
        """
        try:
            with self.path.open("rb", _BUFFER) as stream:
                self._check(stream)
                yield from self._values(stream, places)
                self._check(stream)
        except OSError as error:
            raise explain(self.path, error) from error

    def _values(self, stream: BinaryIO, places: Sequence[int]) -> Iterator[Any]:
        at = stream.seek(0)
        readline = stream.readline
        for place in places:
            if place != at:
                stream.seek(place)
            raw = readline(self.size - place)
            at = place + len(raw)
            value = parse(raw)
            if type(value) is not dict:
                raise _changed(self.path)
            yield value

    def _check(self, stream: BinaryIO) -> None:
        if os.fstat(stream.fileno()).st_size < self.size:
            raise _changed(self.path)
        if _fingerprint(stream, self.size) != self._probe:
            raise _changed(self.path)


class ItemSource:
    """The items of a JSON list that is held in memory; a place is an index."""

    def __init__(self, items: Sequence[Any]) -> None:
        self._items = items

    def fetch(self, places: Sequence[int]) -> Iterator[Any]:
        """Yield the items at these indexes."""
        return map(self._items.__getitem__, places)


def _fingerprint(stream: BinaryIO, size: int) -> tuple[int, int]:
    """Return checksums of the first and the last bytes before *size*."""
    stream.seek(0)
    head = zlib.crc32(stream.read(min(_PROBE, size)))
    start = max(0, size - _PROBE)
    stream.seek(start)
    return head, zlib.crc32(stream.read(size - start))


def _changed(path: Path) -> TranscriptError:
    return TranscriptError(
        f"{path} changed while it was being read",
        hint="Import it again.",
        path=str(path),
    )


def explain(path: Path, error: OSError) -> TranscriptError:
    """Return the error to raise for one of the operating system's."""
    return TranscriptError(f"{path} cannot be read: {error.strerror}", path=str(path))
