"""What a figure is, and what measuring one needs. Values only."""

from __future__ import annotations

import math

from msgspec import Struct

from benchmarks.measure import Spent
from benchmarks.stages import Stages


class Figure(Struct, frozen=True):
    """A measured value at a size (None: it has none).

    `wall` and `cpu` are in the unit of the reference; what is no time has `wall` alone. `note`
    says what the value rests on; a figure without a value says there why. `is_exact`: a search
    that bounded nothing.
    """

    name: str
    size: int | None
    wall: float | None
    cpu: float | None = None
    note: str = ""
    is_exact: bool = False


class Run(Struct, frozen=True):
    """What the measuring functions need: the databases, seconds for each figure, turns to take."""

    stages: Stages
    sizes: tuple[int, ...]
    seconds: float
    turns: int


def milliseconds(name: str, size: int | None, spent: Spent, note: str = "") -> Figure:
    """Return a figure in milliseconds."""
    return Figure(name, size, spent.wall * 1e3, spent.cpu * 1e3, note)


def rate(name: str, size: int, count: int, spent: Spent, note: str = "") -> Figure:
    """Return a figure of *count* things per second."""
    return Figure(name, size, _per(count, spent.wall), _per(count, spent.cpu), note)


def _per(count: int, seconds: float) -> float:
    return count / seconds if seconds else math.inf
