"""What runs in a process of its own, so that its memory is its own.

Usage: python -m benchmarks.children import|turns|regex DATABASE [TRANSCRIPT|TURNS|-]
Prints the peak of the process in MB.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from benchmarks.corpus import NO_LITERAL
from benchmarks.measure import peak_megabytes
from benchmarks.stages import BUDGET, KEY, opened

WARM_CONTEXT = """
import sys, lossless_claw
with lossless_claw.open(sys.argv[1]) as store:
    context = store.conversation(sys.argv[2]).assemble(budget=int(sys.argv[3]))
    assert context.fits and context.messages
"""
"""The program of a cold start: from nothing to the first assembled context."""


def main(work: str, database: str, argument: str) -> None:
    """Do *work* and print the peak."""
    {"import": import_all, "turns": compact_and_turn, "regex": scan}[work](Path(database), argument)
    print(peak_megabytes())


def import_all(database: Path, transcript: str) -> None:
    """Import a transcript into a new database, indexes and all."""
    with opened(database) as engine:
        engine.import_file(transcript, session_key=KEY)


def compact_and_turn(database: Path, turns: str) -> None:
    """Compact a long history, then take turns in it."""
    with opened(database) as engine, Path(turns).open(encoding="utf-8") as lines:
        chat = engine.conversation(KEY)
        chat.compact(BUDGET, force=True)
        for line in lines:
            chat.after_turn(json.loads(line), budget=BUDGET)


def scan(database: Path, _: str) -> None:
    """Search for a pattern that every message has to be read for."""
    with opened(database) as engine:
        engine.conversation(KEY).grep(NO_LITERAL, mode="regex", limit=200)


if __name__ == "__main__":
    main(*sys.argv[1:])
