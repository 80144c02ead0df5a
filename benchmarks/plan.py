"""Which figures there are, at which sizes, in which order; and how they grow with the size.

A figure that cannot be measured here says why; one that fails is shown as failed, and the others
go on.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Collection, Iterator, Sequence

from benchmarks import processes, reading, writing
from benchmarks.figures import Figure, Run

Group = Callable[[Run, int], Iterator[Figure]]


def measure(run: Run, only: Sequence[str], tell: Callable[[str], None]) -> list[Figure]:
    """Return the figures whose names begin with one of *only* (all when it is empty).

    Args:
        tell: Called with what is being measured.
    """
    found: list[Figure] = []
    for names, group, sizes in _plan(run):
        if not _is_wanted(names, only):
            continue
        for size in sizes:
            tell(f"{', '.join(names)} at {size:,}")
            found += _tried(names, group, run, size)
    wanted = [figure for figure in found if _is_wanted([figure.name], only)]
    return [*wanted, *_growth(wanted, run.sizes)]


def _plan(run: Run) -> list[tuple[list[str], Group, Sequence[int]]]:
    """Return the groups in order: the names they measure, how, and at which sizes."""
    every = run.sizes
    largest = every[-1:]
    ends = sorted({every[0], every[-1]})
    return [
        (["import.stored", "import.whole"], writing.importing, every),
        (["bytes.message", "bytes.text"], writing.size_on_disk, every),
        (["turn.uncompacted.median", "turn.uncompacted.p99", "turn.many"], writing.turns, every),
        (["assemble.uncompacted"], reading.assembling_uncompacted, every),
        (["sweep.pass", "sweep.footer"], writing.sweeping, every),
        (["turn.compacted.median", "turn.compacted.p99"], writing.turns_compacted, every),
        (["assemble.ready"], reading.assembling, every),
        (["describe", "expand"], reading.reopening, every),
        (["grep.rare", "grep.recency", "grep.relevance", "grep.question"], reading.words, every),
        (["regex.selective", "regex.absent", "regex.common_trigrams", "regex.no_literal"], reading.patterns, every),
        (["cjk.one", "cjk.two"], reading.characters, every),
        (["start.context", "start.status"], processes.starting, ends),
        (["start.python"], processes.starting_python, every[:1]),
        (["memory.import", "memory.turns", "memory.regex"], processes.memory, largest),
        (["recall.locomo"], processes.recall, largest),
    ]  # fmt: skip


def _is_wanted(names: Collection[str], only: Sequence[str]) -> bool:
    # Growth is computed of others: asking for it asks for them.
    asked = [name.removeprefix("flat").removeprefix(".") for name in only]
    return not asked or any(name.startswith(one) for name in names for one in asked)


def _tried(names: Sequence[str], group: Group, run: Run, size: int) -> list[Figure]:
    found: list[Figure] = []
    try:
        found.extend(group(run, size))
    except Exception as error:  # noqa: BLE001 - one broken figure must not hide the others
        traceback.print_exc()
        why = f"failed: {(str(error).strip() or repr(error)).splitlines()[-1]}"
        done = {figure.name for figure in found}
        found += [Figure(name, size, None, note=why) for name in names if name not in done]
    return found


def _growth(found: Sequence[Figure], sizes: Sequence[int]) -> Iterator[Figure]:
    """Yield how much longer the largest size takes than the smallest."""
    if sizes[0] == sizes[-1]:
        return
    grown = {
        "flat.turn.uncompacted": "turn.uncompacted.median",
        "flat.turn.compacted": "turn.compacted.median",
        "flat.assemble": "assemble.ready",
        "flat.sweep": "sweep.pass",
    }
    for name, of in grown.items():
        first, last = (_find(found, of, size) for size in (sizes[0], sizes[-1]))
        if first is None or last is None:
            continue
        note = f"{sizes[-1]:,} / {sizes[0]:,}"
        yield Figure(name, None, _ratio(last.wall, first.wall), _ratio(last.cpu, first.cpu), note)


def _find(found: Sequence[Figure], name: str, size: int) -> Figure | None:
    return next((one for one in found if (one.name, one.size) == (name, size)), None)


def _ratio(last: float | None, first: float | None) -> float | None:
    return None if last is None or not first else last / first
