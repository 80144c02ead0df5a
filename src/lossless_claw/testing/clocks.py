"""A clock that stands still until it is told to move."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

START = datetime(2026, 1, 1, 12, tzinfo=UTC)


class FakeClock:
    """A `Clock` for tests: both of its times move only by `advance`."""

    def __init__(self, start: datetime = START):
        self._start = start
        self._passed = 0.0

    def now(self) -> datetime:
        return self._start + timedelta(seconds=self._passed)

    def monotonic(self) -> float:
        return self._passed

    def advance(self, seconds: float) -> None:
        """Let *seconds* pass."""
        self._passed += seconds
