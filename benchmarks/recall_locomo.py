"""Recall of natural questions on the LoCoMo development half: recall@k of the evidence.

Usage: python benchmarks/recall_locomo.py [path of locomo_dev.json]

The data (CC BY-NC 4.0) is for measuring only and not part of this repository. It is looked for at
the path given, under the folder that LCM_SHARED names, or under `shared` beside the repository.
Prints JSON; says so and succeeds when the data is absent.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import lossless_claw as lcm

DEPTHS = (5, 10, 20)
CATEGORIES = frozenset({1, 2, 3, 4})


def main() -> None:
    """Measure and print."""
    path = find_data(sys.argv[1:])
    if path is None:
        print(json.dumps({"skipped": "locomo_dev.json is not here; set LCM_SHARED"}))
        return
    samples = json.loads(path.read_text())
    results = [result for sample in samples for result in measure(sample)]
    count = len(results)
    report: dict[str, Any] = {
        f"recall@{depth}": round(
            sum(share(found, wanted, depth) for found, wanted, _ in results) / count, 4
        )
        for depth in DEPTHS
    }
    spent = sum(cost for _, _, cost in results)
    print(
        json.dumps(
            {"questions": count, **report, "cpu_ms_per_question": round(1e3 * spent / count, 3)}
        )
    )


def find_data(arguments: list[str]) -> Path | None:
    """Return where the data is; None when it is not there."""
    beside = Path(__file__).resolve().parents[2] / "shared"
    shared = Path(os.environ.get("LCM_SHARED", beside))
    path = Path(arguments[0]) if arguments else shared / "data" / "locomo_dev.json"
    return path if path.is_file() else None


def measure(sample: dict[str, Any]) -> Iterator[tuple[list[str], set[str], float]]:
    """Yield what each question found (turn ids in order), should find, and its CPU seconds."""
    turns = [turn for session in sessions(sample["conversation"]) for turn in session]
    with lcm.open(":memory:") as store:
        chat = store.conversation("agent:main:locomo")
        chat.append(
            [{"role": "user", "content": text_of(turn), "id": turn["dia_id"]} for turn in turns]
        )
        names = {number + 1: turn["dia_id"] for number, turn in enumerate(turns)}
        for question in sample["qa"]:
            wanted = {name for name in question["evidence"] if name in names.values()}
            if question["category"] in CATEGORIES and wanted:
                started = time.process_time()
                found = chat.grep(str(question["question"]), scope="messages", limit=max(DEPTHS))
                spent = time.process_time() - started
                yield [names[match.seq or 0] for match in found.matches], wanted, spent


def sessions(conversation: dict[str, Any]) -> Iterator[list[dict[str, Any]]]:
    """Yield the sessions of a conversation in order."""
    number = 1
    while f"session_{number}" in conversation:
        yield conversation[f"session_{number}"]
        number += 1


def text_of(turn: dict[str, Any]) -> str:
    """Return a turn as its speaker said it, with the caption of its image."""
    caption = f" [image: {turn['blip_caption']}]" if turn.get("blip_caption") else ""
    return f"{turn['speaker']}: {turn['text']}{caption}"


def share(found: list[str], wanted: set[str], depth: int) -> float:
    """Return the share of the evidence among the first *depth* hits."""
    return len(wanted & set(found[:depth])) / len(wanted)


if __name__ == "__main__":
    main()
