"""Figures of whole processes, their starts and their memory; and how well recall answers."""

from __future__ import annotations

import json
from collections.abc import Iterator

from benchmarks import recall_locomo
from benchmarks.children import WARM_CONTEXT
from benchmarks.figures import Figure, Run, milliseconds
from benchmarks.measure import answer, run_process
from benchmarks.stages import BUDGET, KEY

RECALL_DEPTH = 10


def starting(run: Run, size: int) -> Iterator[Figure]:
    """Fresh interpreters, from their start to their end."""
    ready = str(run.stages.ready(size))
    patience = 4 * run.seconds
    context = run_process(
        ["-c", WARM_CONTEXT, ready, KEY, str(BUDGET)], patience, run.stages.bytecode
    )
    yield milliseconds("start.context", size, context)
    imported = str(run.stages.imported(size).path)
    status = run_process(
        ["-m", "lossless_claw", "status", "--db", imported], patience, run.stages.bytecode
    )
    yield milliseconds("start.status", size, status)


def starting_python(run: Run, _size: int) -> Iterator[Figure]:
    """What of a start is the interpreter's own."""
    yield milliseconds(
        "start.python", None, run_process(["-c", ""], run.seconds, run.stages.bytecode)
    )


def memory(run: Run, size: int) -> Iterator[Figure]:
    """The peak of a process that does one thing, in MB."""
    stages = run.stages
    imported, transcript = stages.imported(size).path, stages.corpus.transcript(size)
    fresh = imported.with_name(f"imported_again_{size}.db")
    yield _peak("memory.import", size, "import", str(fresh), str(transcript))
    fresh.unlink()
    coming, copy = stages.corpus.turns_file, stages.copy(imported)
    yield _peak("memory.turns", size, "turns", str(copy), str(coming))
    copy.unlink()
    yield _peak("memory.regex", size, "regex", str(imported), "-")


def _peak(name: str, size: int, *arguments: str) -> Figure:
    return Figure(name, size, float(answer(["-m", "benchmarks.children", *arguments])))


def recall(_run: Run, _size: int) -> Iterator[Figure]:
    """How much of the evidence of natural questions is found; not a matter of size."""
    path = recall_locomo.find_data([])
    if path is None:
        yield Figure("recall.locomo", None, None, note="skipped: the data is not here")
        return
    samples = json.loads(path.read_text())
    results = [result for sample in samples for result in recall_locomo.measure(sample)]
    shares = [recall_locomo.share(found, wanted, RECALL_DEPTH) for found, wanted, _ in results]
    cost = 1e3 * sum(cpu for _, _, cpu in results) / len(results)
    note = f"{len(results)} questions, {cost:.2f} ms of CPU each"
    yield Figure("recall.locomo", None, sum(shares) / len(shares), note=note)
