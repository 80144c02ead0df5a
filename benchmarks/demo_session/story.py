"""Reads the authored story: plain text with one directive a line. Decides nothing, runs nothing.

A directive is a line that begins with `§`; what follows up to the next one is its body:

    §day 2026-10-13                 the date of what follows, in the story's time zone
    §model demo-model-1             a model change
    §user 09:04                     what the developer, or a colleague at her keyboard, writes
    §think, §say                    thinking and text of the assistant
    §read PATH [OFFSET LIMIT]       a tool call; likewise §write, §edit, §exec, §grep and §fetch
    §offstage NAME COMMAND          a colleague's command: changes the project, leaves no message

`§+exec` puts the call into the same assistant message as the call before it; `§exec!` says that
the call fails. The body of an edit holds the old and the new text around a line `=======`.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

MARK = "§"
CALLS = frozenset({"read", "write", "edit", "exec", "grep", "fetch"})
OTHERS = frozenset({"day", "model", "user", "think", "say", "offstage"})


class StoryError(Exception):
    """The story, or what it does to the project, is not as written."""


class Step(Struct, frozen=True):
    """One directive: its kind, the words beside it and the body under it."""

    kind: str
    words: str
    body: str
    joins: bool = False
    fails: bool = False
    line: int = 0

    @property
    def is_call(self) -> bool:
        return self.kind in CALLS


def parse(text: str) -> list[Step]:
    """Return the steps of a story in order.

    Raises:
        StoryError: If there is text before the first directive, or a directive is unknown.
    """
    return [_step(number, head, body) for number, head, body in _blocks(text)]


def _blocks(text: str) -> Iterator[tuple[int, str, str]]:
    head, start = "", 0
    body: list[str] = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.startswith(MARK):
            body.append(line)
            continue
        if head:
            yield start, head, "\n".join(body).strip("\n")
        elif any(body):
            raise StoryError(f"line {number}: text before the first directive")
        head, start, body = line[len(MARK) :], number, []
    if head:
        yield start, head, "\n".join(body).strip("\n")


def _step(number: int, head: str, body: str) -> Step:
    word, _, words = head.partition(" ")
    kind = word.removeprefix("+").removesuffix("!")
    if kind not in CALLS | OTHERS:
        raise StoryError(f"line {number}: unknown directive {word!r}")
    return Step(kind, words.strip(), body, word.startswith("+"), word.endswith("!"), number)
