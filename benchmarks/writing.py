"""Figures of what comes in: imports, turns, sweeps, and the file they fill."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benchmarks.figures import Figure, Run, milliseconds, rate
from benchmarks.stages import ENDLESS, take_turns

WARM_UP_TURNS = 20

Turn = list[dict[str, Any]]


def importing(run: Run, size: int) -> Iterator[Figure]:
    """Messages per second of a first import, up to the last message and with all indexes."""
    done = run.stages.imported(size)
    yield rate("import.stored", size, size, done.stored)
    yield rate("import.whole", size, size, done.whole)


def size_on_disk(run: Run, size: int) -> Iterator[Figure]:
    """The file after it was closed, with everything beside it."""
    path = run.stages.imported(size).path
    taken = sum(file.stat().st_size for file in path.parent.glob(f"{path.name}*"))
    text = run.stages.corpus.text_bytes(size)
    yield Figure("bytes.message", size, taken / size, note=f"{text / size:.0f} B of text each")
    yield Figure("bytes.text", size, taken / text)


def turns(run: Run, size: int) -> Iterator[Figure]:
    """Turns in a history that is not compacted, with a budget that never asks for it."""
    with run.stages.opened_copy(run.stages.imported(size).path) as chat:
        warm, rest = _split_turns(run)
        take_turns(chat, warm, ENDLESS)
        watch, _ = take_turns(chat, rest, ENDLESS)
    note = f"{len(rest)} turns"
    yield milliseconds("turn.uncompacted.median", size, watch.at(0.5), note)
    yield milliseconds("turn.uncompacted.p99", size, watch.at(0.99), note)
    yield rate("turn.many", size, sum(map(len, rest)), watch.total, note)


def turns_compacted(run: Run, size: int) -> Iterator[Figure]:
    """Turns in a compacted history with the usual budget: the sweeps that fall due are in it."""
    compacted = run.stages.compacted(size)
    with run.stages.opened_copy(compacted.path) as chat:
        warm, rest = _split_turns(run)
        take_turns(chat, warm, compacted.budget)
        watch, sweeps = take_turns(chat, rest, compacted.budget)
    note = f"{len(rest)} turns, {sweeps} of them swept"
    yield milliseconds("turn.compacted.median", size, watch.at(0.5), note)
    yield milliseconds("turn.compacted.p99", size, watch.at(0.99), note)


def sweeping(run: Run, size: int) -> Iterator[Figure]:
    """A whole sweep over the imported history, divided by its passes.

    The stub ends its summaries as it is asked to; a summarizer that does not has the last line
    made for it, from all of the source.
    """
    done = run.stages.compacted(size)
    yield milliseconds("sweep.pass", size, done.per_pass, f"{done.passes} passes")
    spent = run.stages.sweep_without_footer(size)
    yield milliseconds("sweep.footer", size, spent, "no goal of its own")


def _split_turns(run: Run) -> tuple[list[Turn], list[Turn]]:
    every = run.stages.corpus.turns
    return every[:WARM_UP_TURNS], every[WARM_UP_TURNS : WARM_UP_TURNS + run.turns]
