"""When a message happened, in the spelling of the file (spec store-and-ingest 2.4)."""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime
from typing import Any

from lossless_claw.model import Raw

_FIELDS = ("timestamp", "createdAt", "created_at")
_ISO = re.compile(
    r"(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2})?)(?:[.,]\d+)?)?(Z|[+-]\d{2}:\d{2})?"
)
_OLDEST, _NEWEST = -62135596800.0, 253402300799.0


def stored(moment: datetime) -> str:
    """Return *moment* as `YYYY-MM-DD HH:MM:SS` in UTC, truncated to the second."""
    moment = moment if moment.tzinfo is UTC else moment.astimezone(UTC)
    return moment.isoformat(" ", "seconds")[:19]


def moment_of(message: Raw, envelope: Any) -> datetime | None:
    """Return the time of *message*: its own when it has one, else the *envelope*'s, else None.

    Accepts epoch milliseconds and ISO text; text without a zone is UTC. Anything else is none.
    """
    for field in _FIELDS:
        if field in message and message[field] is not None:
            return parse(message[field]) or parse(envelope)
    return parse(envelope)


def parse(value: Any) -> datetime | None:
    """Return the instant that *value* spells, or None when it spells none."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float):
        return _of_number(float(value) if abs(value) < 1e18 else math.inf)
    return _of_text(value) if isinstance(value, str) else None


def _of_number(milliseconds: float) -> datetime | None:
    seconds = milliseconds / 1000
    if not math.isfinite(seconds) or not _OLDEST <= seconds <= _NEWEST:
        return None
    return datetime.fromtimestamp(seconds, UTC)


def _of_text(text: str) -> datetime | None:
    found = _ISO.fullmatch(text.strip())
    if found is None:
        return None
    day, clock, zone = found.groups()
    try:
        moment = datetime.fromisoformat(f"{day}T{clock or '00:00'}{(zone or 'Z')}")
        return moment.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
