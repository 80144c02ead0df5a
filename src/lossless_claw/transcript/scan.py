"""What every format's first pass has in common. Knows no format and opens no file."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, TypeAlias

from msgspec import Struct

from lossless_claw.transcript.parsing import name_type
from lossless_claw.transcript.transcript import Lane, Picks, Timestamp, Unwrap

Reason: TypeAlias = str | None
"""Why a record was not imported; None when there is nothing to report."""


class Naming(Struct, frozen=True):
    """What names conversations besides the records: the file's stem and the index beside it."""

    stem: str
    find_key: Callable[[str], str | None]


class Scan(ABC):
    """A first pass: it is shown each record once and says where the messages are."""

    format: str
    unwrap: Unwrap
    known: ClassVar[frozenset[str]] = frozenset()
    """Types of entries that carry no message, as their writers define them."""

    def __init__(self) -> None:
        self.skipped: Counter[str] = Counter()

    @abstractmethod
    def see(self, line: int, place: int, record: dict[str, Any]) -> Reason:
        """Take the next record; return what is wrong with it, if anything."""

    @abstractmethod
    def find_lanes(self, naming: Naming) -> Mapping[Lane, Picks]:
        """Return the conversations, once all records were seen."""

    def skip(self, kind: object) -> Reason:
        """Count an entry that is no message; an unknown type is also reported."""
        if not isinstance(kind, str):
            return f"unknown entry: its type is {name_type(kind)}, not a string"
        self.skipped[kind] += 1
        return None if kind in self.known else f"unknown entry type {kind!r}"


def pick_id(*candidates: object) -> str | None:
    """Return the first that is a string with something in it."""
    for candidate in candidates:
        if isinstance(candidate, str) and candidate:
            return candidate
    return None


def pick_timestamp(value: object) -> Timestamp:
    """Return a timestamp as it stands, or None for what cannot be one."""
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        return value
    return None


def name_lane(
    format_name: str, session_id: str, number: int | None, title: str | None = None
) -> Lane:
    """Return the lane of a format whose session keys we make ourselves."""
    full = session_id if number is None else f"{session_id}:{number}"
    return Lane(full, f"{format_name}:{full}", title)
