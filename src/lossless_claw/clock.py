"""Time, given to whoever needs it, so that tests can hold it still."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import Protocol

from msgspec import Struct


class Clock(Protocol):
    """What the library asks about time."""

    def now(self) -> datetime:
        """Return the wall-clock time, in UTC."""
        ...

    def monotonic(self) -> float:
        """Return seconds from an arbitrary start; never goes backwards."""
        ...


class SystemClock:
    """The machine's own clock."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return time.monotonic()


class Deadline(Struct, frozen=True):
    """A point on a clock's monotonic time, in seconds, or none at all."""

    clock: Clock
    at: float | None = None

    @classmethod
    def after(cls, clock: Clock, seconds: float | None) -> Deadline:
        """Return the deadline *seconds* from now; None never passes."""
        return cls(clock, None if seconds is None else clock.monotonic() + seconds)

    def passed(self) -> bool:
        """Whether the time is over."""
        return self.at is not None and self.clock.monotonic() >= self.at

    def remaining(self) -> float | None:
        """Return the seconds left, at least 0; None when there is no deadline."""
        return None if self.at is None else max(0.0, self.at - self.clock.monotonic())
