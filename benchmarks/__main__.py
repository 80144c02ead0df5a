"""The program: measure, and print the figures of this machine beside the reference.

Usage: python -m benchmarks [--sizes 1000,10000,100000] [--only NAME,...] [--json FILE]
                            [--seconds S] [--turns N]

A measurement is no test: it ends with 0 whatever it finds, and says what misses its goal.
"""

from __future__ import annotations

import argparse
import os
import platform
import sqlite3
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.corpus import Corpus
from benchmarks.figures import Run
from benchmarks.plan import measure
from benchmarks.report import Report, as_json, as_text, load_reference, rows
from benchmarks.stages import Stages


def main() -> None:
    """Measure and print."""
    given = _arguments()
    reference = load_reference()
    with tempfile.TemporaryDirectory(prefix="lossless-bench-") as name:
        folder = Path(name)
        corpus = Corpus(folder / "corpus")
        run = Run(Stages(folder, corpus), given.sizes, given.seconds, given.turns)
        found = measure(run, given.only, _teller())
    report = Report(_machine(), corpus.origin, given.sizes, rows(found, reference), reference.about)
    if given.json:
        Path(given.json).write_bytes(as_json(report))
    sys.stdout.write(as_text(report) + "\n")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--sizes", type=_sizes, default=(1_000, 10_000, 100_000), metavar="N,...")
    parser.add_argument(
        "--only",
        type=_names,
        default=(),
        metavar="NAME,...",
        help="figures of reference.json, or how their names begin",
    )
    parser.add_argument("--json", metavar="FILE", help="write the report there too")
    parser.add_argument("--seconds", type=float, default=0.4, help="to repeat each figure for")
    parser.add_argument("--turns", type=int, default=500, help="to take in each history")
    return parser.parse_args()


def _sizes(text: str) -> tuple[int, ...]:
    sizes = tuple(sorted({int(size) for size in text.split(",")}))
    if sizes[0] < 200:
        raise argparse.ArgumentTypeError("a history of under 200 messages tells nothing")
    return sizes


def _names(text: str) -> tuple[str, ...]:
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    known = load_reference().figures
    strange = [name for name in names if not any(one.startswith(name) for one in known)]
    if strange:
        raise argparse.ArgumentTypeError(f"no figure {strange[0]!r}; there are: {', '.join(known)}")
    return names


def _teller() -> Any:
    start = time.perf_counter()
    return lambda text: print(f"[{time.perf_counter() - start:6.1f} s] {text}", file=sys.stderr)


def _machine() -> dict[str, Any]:
    return {
        "Python": platform.python_version(),
        "SQLite": sqlite3.sqlite_version,
        "on": platform.machine(),
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 1),
    }


if __name__ == "__main__":
    main()
