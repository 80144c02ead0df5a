"""Taking the time of something: wall beside CPU, repeated, here or in a process of its own.

Knows nothing about what is measured.
"""

from __future__ import annotations

import os
import re
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct

import lossless_claw

ROOT = Path(__file__).resolve().parents[1]
LEAST, MOST, LEAST_PROCESSES = 5, 300, 3


class Spent(Struct, frozen=True):
    """Seconds: what the clock on the wall and what the processor said."""

    wall: float
    cpu: float

    def times(self, factor: float) -> Spent:
        """Return both multiplied by *factor*."""
        return Spent(self.wall * factor, self.cpu * factor)


class Watch:
    """Collects spans of time. `spans` are in the order they were taken."""

    def __init__(self) -> None:
        self.spans: list[Spent] = []

    @contextmanager
    def span(self) -> Iterator[None]:
        """Take the time of the block."""
        wall, cpu = time.perf_counter(), time.process_time()
        yield
        cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
        self.spans.append(Spent(wall, cpu))

    @property
    def total(self) -> Spent:
        """The sum of all spans."""
        return Spent(sum(one.wall for one in self.spans), sum(one.cpu for one in self.spans))

    def at(self, share: float) -> Spent:
        """Return the quantile *share* (.5 is the median), wall and CPU each by itself."""
        return quantile(self.spans, share)


def quantile(spans: Sequence[Spent], share: float) -> Spent:
    """Return the quantile *share* of *spans*, wall and CPU each by itself."""
    return Spent(
        _quantile([one.wall for one in spans], share), _quantile([one.cpu for one in spans], share)
    )


def _quantile(values: Sequence[float], share: float) -> float:
    if share == 0.5:
        return statistics.median(values)
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def repeat(
    work: Callable[[], object],
    seconds: float,
    before: Callable[[], object] = lambda: None,
) -> Spent:
    """Return the median of doing *work* again and again for about *seconds*, once warmed up.

    Args:
        before: Done before each repetition and not counted.
    """
    before()
    work()
    watch = Watch()
    end = time.perf_counter() + seconds
    while len(watch.spans) < LEAST or (time.perf_counter() < end and len(watch.spans) < MOST):
        before()
        with watch.span():
            work()
    return watch.at(0.5)


def run_process(arguments: Sequence[str], seconds: float, bytecode: Path) -> Spent:
    """Return the median of a fresh interpreter with *arguments*, from its start to its end.

    Args:
        bytecode: A folder for compiled modules, which an installed package has; a first run,
            which does not count, fills it.

    Raises:
        RuntimeError: If it fails; the message holds what it said.
    """
    spans: list[Spent] = []
    end = time.perf_counter() + seconds
    _one_process(arguments, bytecode)
    while len(spans) < LEAST_PROCESSES or time.perf_counter() < end:
        spans.append(_one_process(arguments, bytecode))
    return quantile(spans, 0.5)


def _one_process(arguments: Sequence[str], bytecode: Path) -> Spent:
    before, wall = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    answer(arguments, bytecode)
    wall, after = time.perf_counter() - wall, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Spent(wall, cpu)


def answer(arguments: Sequence[str], bytecode: Path | None = None) -> str:
    """Return what a fresh interpreter with *arguments* prints.

    Raises:
        RuntimeError: If it fails; the message holds what it said.
    """
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env=_environment(bytecode),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(arguments)} ended with {done.returncode}: {done.stderr}")
    return done.stdout


def _environment(bytecode: Path | None) -> dict[str, str]:
    """Return the environment without settings of this library's own, and with the library."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("LCM_")}
    if bytecode is not None:
        kept.pop("PYTHONDONTWRITEBYTECODE", None)
        kept["PYTHONPYCACHEPREFIX"] = str(bytecode)
    source = Path(lossless_claw.__file__).resolve().parents[1]
    return {**kept, "PYTHONPATH": os.pathsep.join([str(source), str(ROOT)])}


def peak_megabytes() -> float:
    """Return the most memory that this process held, in MB (10^6 bytes).

    Where /proc is, the process's own mark: the one of getrusage begins with what the process
    that started this one held.
    """
    status = Path("/proc/self/status")
    if status.is_file():
        found = re.search(r"VmHWM:\s+(\d+) kB", status.read_text())
        if found:
            return int(found.group(1)) * 1024 / 1e6
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / 1e6 if sys.platform == "darwin" else most * 1024 / 1e6
