"""Commands of the story: run once for the record, replayed ever after.

`RecordingShell` needs Python, pytest, git and curl; `ReplayingShell` needs nothing but
the recordings, so that building the session gives the same bytes on every machine.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Protocol

from benchmarks.demo_session.story import StoryError
from msgspec import Struct, to_builtins

HOME = "/home/mika"
PROJECT = "tideline"
DEVELOPER = "Mika"
CLOCK = Path(__file__).resolve().parent / "clock"


class Ran(Struct, frozen=True):
    """What a command printed, its exit status, and the known files that it changed."""

    command: str
    output: str
    status: int
    changed: dict[str, str] = {}


class Shell(Protocol):
    """Runs a command of the story in the project folder."""

    def run(
        self, command: str, files: Mapping[str, str], at: datetime, who: str = DEVELOPER
    ) -> Ran:
        """Return what *command* printed, the project's files being *files*."""
        ...


class ReplayingShell:
    """Gives back recorded runs, in order."""

    def __init__(self, recordings: Iterable[Ran]) -> None:
        self._recordings = iter(recordings)

    def run(
        self, command: str, files: Mapping[str, str], at: datetime, who: str = DEVELOPER
    ) -> Ran:
        """Return the recorded run of *command*.

        Raises:
            StoryError: If the story runs something else than it did when it was recorded.
        """
        ran = next(self._recordings, None)
        if ran is None or ran.command != command:
            raise StoryError(f"no recording for: {command!r}; run the record step again")
        return ran


class RecordingShell:
    """Runs commands for real in a scratch home folder and keeps what they printed."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._project = home / PROJECT
        self._written: dict[str, str] = {}
        self.recordings: list[Ran] = []

    def run(
        self, command: str, files: Mapping[str, str], at: datetime, who: str = DEVELOPER
    ) -> Ran:
        self._write_changed(files)
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=self._project,
            env=self._environment(at, who),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=120,
            check=False,
        )
        output = self._without_machine(done.stdout.decode("utf-8", "replace"))
        ran = Ran(command, output.rstrip("\n"), done.returncode, self._read_changed(files))
        self.recordings.append(ran)
        return ran

    def _write_changed(self, files: Mapping[str, str]) -> None:
        for path, text in files.items():
            if self._written.get(path) != text:
                target = self._project / path
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(text, encoding="utf-8")
                self._written[path] = text

    def _read_changed(self, files: Mapping[str, str]) -> dict[str, str]:
        found = {}
        for path, text in files.items():
            now = (self._project / path).read_text(encoding="utf-8")
            if now != text:
                found[path] = self._written[path] = now
        return found

    def _environment(self, at: datetime, who: str) -> dict[str, str]:
        mail = f"{who.lower()}@tideline.example"
        return {
            "PATH": f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin",
            "HOME": str(self._home),
            "TMPDIR": str(self._home / ".cache"),
            "LOGNAME": "mika",
            "LANG": "C.UTF-8",
            "TZ": "Asia/Tokyo",
            "PYTHONPATH": f"{CLOCK}:src",
            "STORY_NOW": str(at.timestamp()),
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            "PYTEST_ADDOPTS": "-p no:cacheprovider --color=no",
            "COLUMNS": "100",
            "GIT_PAGER": "cat",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": "init.defaultBranch",
            "GIT_CONFIG_VALUE_0": "main",
            "GIT_AUTHOR_NAME": who,
            "GIT_AUTHOR_EMAIL": mail,
            "GIT_COMMITTER_NAME": who,
            "GIT_COMMITTER_EMAIL": mail,
            "GIT_AUTHOR_DATE": at.isoformat(),
            "GIT_COMMITTER_DATE": at.isoformat(),
        }

    def _without_machine(self, output: str) -> str:
        clean = output.replace(str(self._home), HOME)
        clean = clean.replace(os.path.realpath(self._home), HOME)
        clean = re.sub(r"/\S*?/lib/python3\.(\d+)/", r"/usr/lib/python3.\1/", clean)
        return re.sub(r"/\S*?/bin/python(3[.\d]*)?(?=[:\s])", "/usr/bin/python3", clean)


def load(text: str) -> list[Ran]:
    """Return the recorded runs of a recordings file."""
    return [Ran(**json.loads(line)) for line in text.splitlines()]


def dump(recordings: Iterable[Ran]) -> str:
    """Return *recordings* as the text of a recordings file, one JSON object a line."""
    rows = (json.dumps(to_builtins(ran), ensure_ascii=False) for ran in recordings)
    return "".join(row + "\n" for row in rows)
