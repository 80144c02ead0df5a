"""Builds the demo session of the package from the authored story and the recorded commands.

    python -m benchmarks.demo_session.build            write session.jsonl.gz and questions.json
    python -m benchmarks.demo_session.build --record   run the story's commands again first

Recording needs pytest, git and curl and changes what the tools printed; building does not.
"""

from __future__ import annotations

import gzip
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.demo_session.session import Entry, SessionWriter, dump
from benchmarks.demo_session.shell import PROJECT, RecordingShell, ReplayingShell, Shell
from benchmarks.demo_session.shell import dump as dump_recordings
from benchmarks.demo_session.shell import load as load_recordings
from benchmarks.demo_session.story import Step, StoryError, parse
from benchmarks.demo_session.tide_file import office_file
from benchmarks.demo_session.workspace import Workspace

HERE = Path(__file__).resolve().parent
RECORDINGS = HERE / "recordings.jsonl"
PACKAGE = HERE.parents[1] / "src" / "lossless_claw" / "demo"


def build() -> tuple[bytes, bytes]:
    """Return the session as JSON lines and the questions as JSON, from the files beside this one.

    Raises:
        StoryError: If story and recordings do not fit each other.
    """
    shell = ReplayingShell(load_recordings(RECORDINGS.read_text(encoding="utf-8")))
    entries = _play(shell)
    return dump(entries), _answered(entries)


def record() -> None:
    """Run the story's commands in a scratch home folder and keep what they print."""
    with tempfile.TemporaryDirectory() as scratch:
        home = Path(scratch) / "home" / "mika"
        downloads = home / "Downloads"
        downloads.mkdir(parents=True)
        (home / PROJECT).mkdir()
        (home / ".cache").mkdir()
        (downloads / "KZ2026.txt").write_bytes(office_file(reissued=False))
        (downloads / "KZ2026-2.txt").write_bytes(office_file(reissued=True))
        shell = RecordingShell(home)
        _play(shell)
        RECORDINGS.write_text(dump_recordings(shell.recordings), encoding="utf-8")


def _play(shell: Shell) -> list[Entry]:
    steps: list[Step] = []
    for path in sorted((HERE / "story").glob("*.txt")):
        steps += parse(path.read_text(encoding="utf-8"))
    return SessionWriter(Workspace(_seed(), shell)).play(steps)


def _seed() -> dict[str, str]:
    root = HERE / "seed"
    return {
        path.relative_to(root).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }


def _answered(entries: list[Entry]) -> bytes:
    asked = json.loads((HERE / "questions.json").read_text(encoding="utf-8"))
    rows = [{**question, "entry": _entry_with(entries, question["needle"])} for question in asked]
    return (json.dumps(rows, ensure_ascii=False, indent=2) + "\n").encode()


def _entry_with(entries: list[Entry], needle: str) -> str:
    found = [str(entry["id"]) for entry in entries if needle in _texts(entry)]
    if len(found) != 1:
        raise StoryError(f"{needle!r} is in {len(found)} messages; it must be in one")
    return found[0]


def _texts(value: Any) -> str:
    """Return every string inside *value*, joined."""
    if isinstance(value, dict):
        return "\n".join(_texts(inner) for inner in value.values())
    if isinstance(value, list):
        return "\n".join(_texts(inner) for inner in value)
    return value if isinstance(value, str) else ""


def main(arguments: list[str]) -> None:
    if "--record" in arguments:
        record()
    session, questions = build()
    (PACKAGE / "session.jsonl.gz").write_bytes(gzip.compress(session, 9, mtime=0))
    (PACKAGE / "questions.json").write_bytes(questions)


if __name__ == "__main__":
    main(sys.argv[1:])
