"""A process that is killed at a given SQL statement of a turn, a compaction or an import.

Usage: victim.py DATABASE STATEMENT [TRANSCRIPT]. Prints how many statements ran when it lives on.
"""

from __future__ import annotations

import os
import sys

import lossless_claw as lcm

BUDGET = 2_000


def history(turns: int) -> list[dict[str, object]]:
    """Return a list of *turns* turns, the same in every process."""
    messages: list[dict[str, object]] = []
    for n in range(turns):
        messages += [
            {"role": "user", "content": f"question {n}: " + f"why does part {n} fail? " * 20},
            {"role": "assistant", "content": f"answer {n}: " + f"because of cause {n}. " * 20},
        ]
    return messages


class Killer:
    """Ends the process, without any clean-up, when the given statement begins."""

    def __init__(self, last: int):
        self.count = 0
        self._last = last

    def __call__(self, statement: str) -> None:
        self.count += 1
        if self.count == self._last:
            os._exit(9)


def main() -> None:
    path, last = sys.argv[1], int(sys.argv[2])
    killer = Killer(last)
    with lcm.open(path) as engine:
        chat = engine.conversation("lane")
        engine.store.database.trace(killer)
        chat.after_turn(history(12), budget=BUDGET)
        engine.store.database.trace(None)
    print(killer.count)


if __name__ == "__main__":
    main()
