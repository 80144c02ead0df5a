"""The project as the story's agent sees it: a tree of text files and the tools that work on it.

The tree lives in memory; only the shell may touch a disk. Files that commands make are seen by
commands alone.
"""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any

from benchmarks.demo_session.shell import Shell
from benchmarks.demo_session.story import Step, StoryError
from msgspec import Struct

DIVIDER = "\n=======\n"


class Call(Struct, frozen=True):
    """A tool call as the session writes it down."""

    name: str
    arguments: dict[str, Any]


class Result(Struct, frozen=True):
    """What a tool answered."""

    text: str
    failed: bool = False


class Workspace:
    """The files of the project, changed by one call after the other."""

    def __init__(self, files: dict[str, str], shell: Shell) -> None:
        self._files = dict(files)
        self._shell = shell

    def carry_out(self, step: Step, at: datetime) -> tuple[Call, Result]:
        """Return the call that *step* stands for and what its tool answers.

        Raises:
            StoryError: If the call fails and the story does not say so, or the other way round.
        """
        call = _call(step)
        result = self._answer(call, step, at)
        if result.failed != step.fails:
            raise StoryError(f"line {step.line}: {call.name} failed={result.failed}: {result.text}")
        return call, result

    def offstage(self, step: Step, at: datetime) -> None:
        """Let a colleague change the project, unseen by the agent."""
        who, _, path = step.words.partition(" ")
        if path:
            self._files[path] = step.body + "\n"
        else:
            self._files |= self._shell.run(step.body, self._files, at, who).changed

    def _answer(self, call: Call, step: Step, at: datetime) -> Result:
        match call.name:
            case "read":
                return self._read(**call.arguments)
            case "write":
                return self._write(**call.arguments)
            case "edit":
                return self._edit(*call.arguments.values())
            case "grep":
                return self._grep(**call.arguments)
            case "web_fetch":
                return Result(step.body)
            case _:
                return self._exec(call.arguments["command"], at)

    def _read(self, path: str, offset: int = 1, limit: int = 2000) -> Result:
        if path not in self._files:
            return Result(f"ENOENT: no such file or directory, open '{path}'", failed=True)
        lines = self._files[path].splitlines()
        shown = lines[offset - 1 : offset - 1 + limit]
        rows = [f"{number:>5}\t{line}" for number, line in enumerate(shown, offset)]
        left = len(lines) - (offset - 1 + len(shown))
        more = f"\n\n[{left} more lines; continue with offset={offset + limit}]" if left else ""
        return Result("\n".join(rows) + more)

    def _write(self, path: str, content: str) -> Result:
        self._files[path] = content
        return Result(f"Successfully wrote {len(content.encode())} bytes to {path}")

    def _edit(self, path: str, old: str, new: str) -> Result:
        count = self._files.get(path, "").count(old)
        if count != 1:
            found = "not found" if count == 0 else f"found {count} times; it must be unique"
            return Result(f"Could not edit {path}: oldText {found}.", failed=True)
        self._files[path] = self._files[path].replace(old, new)
        return Result(f"Successfully replaced text in {path}.")

    def _grep(self, pattern: str, path: str = ".") -> Result:
        wanted = re.compile(pattern)
        hits = [
            f"{name}:{number}:{line}"
            for name in sorted(self._files)
            if path == "." or name.startswith(path)
            for number, line in enumerate(self._files[name].splitlines(), 1)
            if wanted.search(line)
        ]
        return Result("\n".join(hits) or "No matches found.")

    def _exec(self, command: str, at: datetime) -> Result:
        ran = self._shell.run(command, self._files, at)
        self._files |= ran.changed
        if ran.status == 0:
            return Result(ran.output or "(no output)")
        return Result(
            f"{ran.output}\n\nCommand exited with code {ran.status}".lstrip(), failed=True
        )


def _call(step: Step) -> Call:
    match step.kind:
        case "read":
            path, *numbers = step.words.split()
            where = dict(zip(("offset", "limit"), map(int, numbers), strict=False))
            return Call("read", {"path": path, **where})
        case "write":
            return Call("write", {"path": step.words, "content": step.body + "\n"})
        case "edit":
            old, _, new = f"\n{step.body}\n".partition(DIVIDER)
            texts = {"oldText": old.removeprefix("\n"), "newText": new.removesuffix("\n")}
            return Call("edit", {"path": step.words, **texts})
        case "grep":
            pattern, _, path = step.words.partition(" :: ")
            return Call("grep", {"pattern": pattern, **({"path": path} if path else {})})
        case "fetch":
            return Call("web_fetch", {"url": step.words})
        case _:
            return Call("exec", {"command": step.words or step.body})
