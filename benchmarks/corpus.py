"""What is measured on: transcripts of a given size, further turns, and the queries to ask.

The shared generator makes them where it is (LCM_SHARED, or `shared` beside the repository), so that
figures compare with those of the design; `synthetic` does elsewhere, and the report says which.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import cached_property
from pathlib import Path
from typing import Any

from benchmarks import synthetic

SEED = 42
TURNS_SEED = 43
TURN_MESSAGES = 2_400

RARE, COMMON = "zephyrquartz", "database"
TEN_WORDS = "database index query cache server request session migration timeout retry"
SELECTIVE = "zephyr[a-z]+z"
ABSENT = "xylophonic[0-9]+absent"
COMMON_TRIGRAMS = r"rollback\w* migration"
NO_LITERAL = "[0-9a-f]{8}-[0-9]+"
ONE_CHARACTER, TWO_CHARACTERS = "数", "数据"


def shared_generator() -> Path | None:
    """Return the shared generator's program; None where it is not."""
    beside = Path(__file__).resolve().parents[2] / "shared"
    program = Path(os.environ.get("LCM_SHARED", beside)) / "bench" / "gen_corpus.py"
    return program if program.is_file() else None


class Corpus:
    """The files of one run, made on first use in *folder*."""

    def __init__(self, folder: Path):
        self._folder = folder
        self._generator = shared_generator()
        folder.mkdir(parents=True, exist_ok=True)

    @property
    def origin(self) -> str:
        """Which generator made it."""
        return "benchmarks/synthetic.py" if self._generator is None else "shared gen_corpus.py"

    def transcript(self, size: int) -> Path:
        """Return the OpenClaw transcript of *size* messages."""
        return self._file("session", size, SEED)

    def text_bytes(self, size: int) -> int:
        """Return the UTF-8 bytes of all text and thinking in the transcript of *size*."""
        with self._file("messages", size, SEED).open(encoding="utf-8") as lines:
            return sum(
                len((block.get("text") or block.get("thinking") or "").encode())
                for line in lines
                for block in json.loads(line)["content"]
            )

    @cached_property
    def turns_file(self) -> Path:
        """The same turns as a file, a list in each line."""
        path = self._folder / "turns.jsonl"
        path.write_text("".join(json.dumps(turn) + "\n" for turn in self.turns))
        return path

    @cached_property
    def turns(self) -> list[list[dict[str, Any]]]:
        """Turns that no transcript holds, each beginning with its user message."""
        turns: list[list[dict[str, Any]]] = []
        for line in self._file("messages", TURN_MESSAGES, TURNS_SEED).open(encoding="utf-8"):
            message = json.loads(line)
            if message["role"] == "user":
                turns.append([])
            turns[-1].append(message)
        return turns[:-1]

    def _file(self, kind: str, size: int, seed: int) -> Path:
        folder = self._folder / str(seed)
        path = folder / f"{kind}_{size}.jsonl"
        if not path.is_file():
            folder.mkdir(exist_ok=True)
            self._write(folder, size, seed)
        return path

    def _write(self, folder: Path, size: int, seed: int) -> None:
        if self._generator is None:
            synthetic.write(folder, size, seed)
            return
        subprocess.run(
            [
                sys.executable,
                str(self._generator),
                "--out",
                str(folder),
                "--sizes",
                str(size),
                "--seed",
                str(seed),
            ],
            check=True,
            stdout=subprocess.DEVNULL,
        )
