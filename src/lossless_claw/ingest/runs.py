"""How far a list and the stored rows run together, for all ends at once. Pure.

Lists of repeated texts have many runs: comparing each message by message would cost the square
of the list.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate

PATIENCE = 8
"""Single comparisons a list may cost for each of its messages, beyond equal ones."""


def common_suffixes(left: Sequence[bytes], right: Sequence[bytes]) -> list[int]:
    """Return for each *end* how many items `left[:end]` and *right* share at their ends.

    Linear: the Z function over both, reversed.
    """
    joined = [*reversed(right), None, *reversed(left)]
    reach = [0] * len(joined)
    begin = end = 0
    for at in range(1, len(joined)):
        length = min(end - at, reach[at - begin]) if at < end else 0
        while at + length < len(joined) and joined[length] == joined[at + length]:
            length += 1
        reach[at] = length
        if at + length > end:
            begin, end = at, at + length
    return [0, *reversed(reach[len(right) + 1 :])]


class Extended:
    """Runs that go on where a message only shrank, within the patience for the whole list."""

    def __init__(
        self, equal: Sequence[int], most: int, is_same: Callable[[int, int], bool]
    ) -> None:
        """Make the runs.

        Args:
            equal: The lengths of exact equality, by end.
            most: How long a run can be at most: the stored rows.
            is_same: Whether the message at `end - 1 - offset` is the row at that offset.
        """
        self._equal = equal
        self._most = most
        self._is_same = is_same
        self._left = PATIENCE * len(equal) + 64

    def length(self, end: int) -> int:
        """Return the length of the run that ends before *end* and at the newest row."""
        length, most = self._equal[end], min(end, self._most)
        while length < most and self._left > 0 and self._is_same(end - 1 - length, length):
            length += 1
            self._left -= 1
        return length


class Counted:
    """How many of a stretch of a list have a property, for any stretch at once."""

    def __init__(self, flags: Sequence[bool]) -> None:
        self._sums = [0, *accumulate(flags)]

    def any(self, start: int, end: int) -> bool:
        """Whether any of `[start:end]` has it."""
        return self._sums[end] > self._sums[start]
