"""Databases to measure on, made once per run: an imported, a compacted, a ready one of each size.

What is measured works on copies, so that no figure depends on the one before.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

import lossless_claw as lcm
from benchmarks.corpus import Corpus
from benchmarks.measure import Spent, Watch, quantile
from lossless_claw.chat import Chat
from lossless_claw.config import load
from lossless_claw.engine import Engine

KEY = "agent:main:bench"
BUDGET = 128_000
ENDLESS = 10**12
"""A budget that no history fills: no sweep is ever due."""
READY_ITEMS, READY_SUMMARIES, READY_CHARACTERS = 200, 48, 3_500
_PROSE = "They looked at the worker queue and agreed to keep the retry limit as it stands. " * 60
_FOOTER = "\nExpand for details about: worker queue, retry limit"


class Stub:
    """A summarizer that costs next to nothing and answers half of what it is asked for.

    Args:
        footer: The last line of each summary.
        most: The most characters of one.
    """

    name = "stub"
    context_window = 200_000
    free = True

    def __init__(self, footer: str = _FOOTER, most: int = len(_PROSE)):
        self._footer = footer
        self._most = most

    def summarize(self, request: lcm.Request) -> lcm.Text:
        size = min(2 * request.target_tokens, len(request.source) // 4, self._most)
        size -= len(self._footer)
        return lcm.Text(_PROSE[: max(1, size)] + self._footer, model=self.name)


class Imported(Struct, frozen=True):
    """An import that was timed: `stored` up to the last message, `whole` with all indexes."""

    path: Path
    stored: Spent
    whole: Spent


class Compacted(Struct, frozen=True):
    """A sweep that was timed, its budget, and what each pass took."""

    path: Path
    budget: int
    passes: int
    per_pass: Spent


class Stages:
    """The databases of one run, in *folder*; each is made on first use."""

    def __init__(self, folder: Path, corpus: Corpus):
        self.corpus = corpus
        self.bytecode = folder / "bytecode"
        self._folder = folder
        self._copies = 0
        self.imported = cache(self._import)
        self.compacted = cache(self._compact)
        self.ready = cache(self._make_ready)

    def copy(self, path: Path) -> Path:
        """Return a copy of a closed database, to be changed and thrown away."""
        self._copies += 1
        return Path(shutil.copyfile(path, self._folder / f"copy_{self._copies}.db"))

    @contextmanager
    def opened_copy(self, path: Path) -> Iterator[Chat]:
        """Give the conversation of a copy that is gone afterwards."""
        copy = self.copy(path)
        try:
            with opened(copy) as engine:
                yield engine.conversation(KEY)
        finally:
            copy.unlink()

    def _import(self, size: int) -> Imported:
        path = self._folder / f"imported_{size}.db"
        transcript = self.corpus.transcript(size)
        with opened(path) as engine:
            stored, whole = import_timed(engine, transcript, size)
        return Imported(path, stored, whole)

    def _compact(self, size: int) -> Compacted:
        """Compact the imported history; a small one several times, since it has few passes."""
        path = self._folder / f"compacted_{size}.db"
        swept: list[Compacted] = []
        end = time.perf_counter() + 1.0
        while not swept or (time.perf_counter() < end and len(swept) < 20):
            swept.append(self._sweep(size, path, Stub()))
        return replace(swept[0], per_pass=quantile([one.per_pass for one in swept], 0.5))

    def sweep_without_footer(self, size: int) -> Spent:
        """Return what a pass takes when the summarizer leaves out the last line of a summary."""
        path = self._folder / f"without_footer_{size}.db"
        try:
            return self._sweep(size, path, Stub(footer="")).per_pass
        finally:
            path.unlink()

    def _sweep(self, size: int, path: Path, stub: Stub) -> Compacted:
        shutil.copyfile(self.imported(size).path, path)
        watch = Watch()
        with opened(path, stub) as engine:
            chat = engine.conversation(KEY)
            budget = _budget(engine, chat)
            with watch.span():
                done = chat.compact(budget, force=True)
        if done.passes == 0:
            raise RuntimeError(f"nothing was compacted: {done.outcome}, {done.detail}")
        return Compacted(path, budget, done.passes, watch.total.times(1 / done.passes))

    def _make_ready(self, size: int) -> Path:
        """Compact all of the history, then let it grow until its context has 200 items.

        Leaves are as small as it takes to have some forty summaries of any history; the messages
        after them are the same at every size.
        """
        source = self.imported(size).path
        with opened(source) as engine:
            chunk = engine.compactor.context_tokens(engine.conversation(KEY).id) // 40
        path = self.copy(source)
        settings = {"leafChunkTokens": min(20_000, chunk), "freshTailCount": 1}
        with opened(path, Stub(most=READY_CHARACTERS), **settings) as engine:
            chat = engine.conversation(KEY)
            _compact_below(engine, chat, READY_SUMMARIES)
            missing = READY_ITEMS - len(engine.store.context.items(chat.id))
            coming = [message for turn in self.corpus.turns for message in turn]
            chat.append(coming[:missing])
            while engine.store.indexing.catch_up(1_000):
                pass
        return path


def opened(path: Path, stub: Stub | None = None, **settings: Any) -> Engine:
    """Open the database with the stub and default settings, whatever the environment says."""
    config = load(environ={}, file=None, overrides=settings)
    return lcm.open(path, summarizer=stub or Stub(), config=config)


def import_timed(engine: Engine, transcript: Path, size: int) -> tuple[Spent, Spent]:
    """Import and return what it took up to the last stored message, and with all indexes."""
    wall, cpu = time.perf_counter(), time.process_time()
    stored = Spent(0, 0)

    def count(_done: int, _total: int | None) -> None:
        nonlocal stored
        stored = Spent(time.perf_counter() - wall, time.process_time() - cpu)

    items = engine.import_file(transcript, session_key=KEY, progress=count)
    whole = Spent(time.perf_counter() - wall, time.process_time() - cpu)
    added = sum(item.added for item in items)
    if added != size:
        raise RuntimeError(f"{added} of {size} messages were stored")
    return stored, whole


def take_turns(chat: Chat, turns: list[list[dict[str, Any]]], budget: int) -> tuple[Watch, int]:
    """Return what each turn took, and how many of them compacted."""
    watch = Watch()
    sweeps = 0
    for turn in turns:
        with watch.span():
            done = chat.after_turn(turn, budget=budget)
        if done.ingested.added != len(turn):
            raise RuntimeError(f"{done.ingested.added} of {len(turn)} messages were stored")
        sweeps += done.compaction is not None
    return watch, sweeps


def _compact_below(engine: Engine, chat: Chat, items: int) -> None:
    """Compact to smaller and smaller budgets until at most *items* context items are left."""
    budget = _budget(engine, chat)
    while len(engine.store.context.items(chat.id)) > items:
        if not chat.compact(budget, force=True).passes and budget < 1_000:
            raise RuntimeError(f"the context has more than {items} items at any budget")
        budget = budget * 9 // 10


def _budget(engine: Engine, chat: Chat) -> int:
    """Return the usual budget; of a short history one that it is too long for."""
    return min(BUDGET, engine.compactor.context_tokens(chat.id) * 4 // 5)
