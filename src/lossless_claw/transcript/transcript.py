"""What an opened transcript is: lanes, problems, and entries on demand.

Nothing here opens a file or knows a format; a source fetches and a format unwraps.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from msgspec import Struct, field

from lossless_claw.errors import UsageError
from lossless_claw.model import Entry, Raw

Timestamp: TypeAlias = str | float | int | None
Unwrap: TypeAlias = Callable[[Any], tuple[Raw, str | None, Timestamp]]
"""From a record of the file to the message, its entry id and the envelope's timestamp."""


class Problem(Struct, frozen=True):
    """A line that was not imported, and why.

    `line` counts from 1. In a whole-JSON file it is the position in the list; 0 means the file
    as a whole.
    """

    line: int
    reason: str


class Lane(Struct, frozen=True):
    """One conversation inside a file. `session_id` is unique among the lanes of the file."""

    session_id: str
    session_key: str | None
    title: str | None = None


def numbers() -> array[int]:
    return array("Q")


class Picks(Struct):
    """Where the messages of one lane lie: parallel lists of line numbers and places.

    A place is what the source fetches by. `left` holds the lines on branches that were left.
    """

    lines: array[int] = field(default_factory=numbers)
    places: array[int] = field(default_factory=numbers)
    left: frozenset[int] = frozenset()

    def add(self, line: int, place: int) -> None:
        self.lines.append(line)
        self.places.append(place)


class Source(Protocol):
    """Where records come from on the second pass."""

    def fetch(self, places: Sequence[int]) -> Iterator[Any]:
        """Yield the parsed record at each place, in the order given."""
        ...


class Transcript:
    """A transcript after its first pass: it knows where each message is and holds none.

    Attributes:
        path: The file.
        format: "openclaw", "claude-code", "codex", "openai", "anthropic", "transcript-events"
            or "swe-agent".
        size: Bytes read, up to the end of the last whole line.
        mtime_ms: Modification time of the file before it was read, in milliseconds.
        lanes: The conversations in it, the main one first.
        skipped: Entries that are no messages, counted by type. The file's header is not an
            entry and not counted.
        problems: What could not be read, in the order of the file.
        read: Messages found, in all lanes together.
    """

    def __init__(
        self,
        *,
        path: Path,
        format_name: str,
        size: int,
        mtime_ms: int,
        skipped: Mapping[str, int],
        problems: Sequence[Problem],
        picks: Mapping[Lane, Picks],
        source: Source,
        unwrap: Unwrap,
    ) -> None:
        self.path = path
        self.format = format_name
        self.size = size
        self.mtime_ms = mtime_ms
        self.lanes = tuple(picks)
        self.skipped = skipped
        self.problems = problems
        self.read = sum(len(picked.lines) for picked in picks.values())
        self._picks = picks
        self._source = source
        self._unwrap = unwrap

    def entries(self, lane: Lane) -> Iterator[Entry]:
        """Return the messages of *lane* in file order, read again as they are asked for.

        Raises:
            UsageError: If *lane* is not one of `lanes`.
            TranscriptError: While iterating, if the file is no longer what the first pass read.
                Whatever was added behind its end does not matter.
        """
        picks = self._picks.get(lane)
        if picks is None:
            raise UsageError(f"{lane.session_id!r} is no lane of {self.path}")
        return self._entries(picks)

    def _entries(self, picks: Picks) -> Iterator[Entry]:
        unwrap, left = self._unwrap, picks.left
        records = self._source.fetch(picks.places)
        for line, record in zip(picks.lines, records, strict=True):
            message, entry_id, timestamp = unwrap(record)
            yield Entry(message, entry_id, timestamp, line in left, line)
