"""The alignment against a pretend host: nothing lost, nothing doubled (G2, spec alignment)."""

from __future__ import annotations

import random
from collections import Counter
from datetime import UTC

import pytest

from lossless_claw.clock import SystemClock
from lossless_claw.ingest.importer import Importer
from lossless_claw.model import LIVE_OUTSIDE, Entry, Message
from lossless_claw.store.store import Store
from lossless_claw.store.verify import verify
from lossless_claw.testing.hosts import PretendHost, Shown

ALL = ("prune", "clear", "clear_last", "summary", "head_change", "rewind")


class Count:
    """What happened to the messages of some trials."""

    def __init__(self) -> None:
        self.shown = self.lost = self.doubled = self.missing = self.extra = 0

    def add(self, host: PretendHost, stored: list[int], live: list[int]) -> None:
        counts = Counter(stored)
        self.shown += len(host.shown)
        self.lost += sum(counts[number] == 0 for number in host.shown)
        self.doubled += sum(count - 1 for count in counts.values())
        self.missing += len(set(host.truth) - set(live))
        self.extra += len(set(live) - set(host.truth))

    def per_thousand(self, count: int) -> float:
        return 1000 * count / self.shown


def trial(seed: int, repetition: float, disturbances: tuple[str, ...], replays: bool) -> Count:
    """Show one random history to a fresh store, reopening nothing: the store is the memory."""
    chance = random.Random(seed)
    host = PretendHost(chance, repetition, disturbances)
    memory = Memory()
    for _ in range(12):
        view = host.turn()
        for _ in range(2 if replays and chance.random() > 0.8 else 1):
            memory.show(view)
    rows, numbers = memory.rows(), memory.numbers
    assert verify(memory.store.database).ok
    stored = [n for row in rows if (n := numbers[row.id]) is not None]
    live = [
        n
        for row in rows
        if (row.outside is None or row.outside in LIVE_OUTSIDE)
        and (n := numbers[row.id]) is not None
    ]
    count = Count()
    count.add(host, stored, live)
    return count


class Memory:
    """A store that is shown lists, and the number of each row that it keeps."""

    def __init__(self) -> None:
        self.store = Store.open(":memory:")
        self.conversation = self.store.conversations.get_or_create("lane", None).id
        self.numbers: dict[int, int | None] = {}
        self._importer = Importer(self.store, SystemClock(), UTC)

    def show(self, view: list[Shown]) -> None:
        """Sync *view*; what is added is its end, but for a system head at its beginning."""
        done = self._importer.sync(self.conversation, [Entry(shown.message) for shown in view])
        ends = view[len(view) - len(done.ids) :]
        self.numbers |= {row: shown.number for row, shown in zip(done.ids, ends, strict=True)}

    def rows(self) -> list[Message]:
        """Return what is stored of the conversation itself, without its system heads."""
        rows = self.store.messages.walk(self.conversation)
        return [row for row in rows if row.id in self.numbers]


def total(
    trials: int, repetition: float, disturbances: tuple[str, ...], replays: bool = False
) -> Count:
    sums = Count()
    for seed in range(trials):
        one = trial(seed, repetition, disturbances, replays)
        for name in ("shown", "lost", "doubled", "missing", "extra"):
            setattr(sums, name, getattr(sums, name) + getattr(one, name))
    return sums


@pytest.mark.parametrize(
    ("disturbances", "repetition"),
    [
        ((), 0.0),
        ((), 0.8),
        (("prune",), 0.0),
        (("clear", "clear_last"), 0.0),
        (("head_change",), 0.8),
        (("summary",), 0.0),
        (("prune", "clear", "clear_last", "summary", "head_change"), 0.0),
    ],
)
def test_nothing_is_lost_or_doubled(disturbances: tuple[str, ...], repetition: float) -> None:
    count = total(25, repetition, disturbances, replays=True)
    assert (count.lost, count.doubled) == (0, 0)


@pytest.mark.parametrize(
    ("disturbances", "repetition", "lost", "doubled"),
    [
        (("rewind",), 0.0, 0.0, 0.0),
        (ALL, 0.0, 0.0, 1.0),
        (("prune", "clear", "clear_last", "summary", "head_change"), 0.8, 1.0, 2.0),
        (ALL, 0.8, 3.0, 5.0),
    ],
)
def test_known_limits_stay_within_the_trials(
    disturbances: tuple[str, ...], repetition: float, lost: float, doubled: float
) -> None:
    """The table of spec alignment, with room for the smaller number of trials."""
    count = total(150, repetition, disturbances, replays=True)
    assert count.per_thousand(count.lost) <= lost
    assert count.per_thousand(count.doubled) <= doubled
