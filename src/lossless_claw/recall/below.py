"""The messages below a summary, one leaf after the other: as far as they are asked for.

The way goes through the sources in order, each summary and each message once, whatever the size
of the DAG. A place on it is a path: the number of the source at every step down.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, TypeAlias

from lossless_claw.errors import CursorError

if TYPE_CHECKING:
    from lossless_claw.store.summaries import Summaries

Path: TypeAlias = tuple[int, ...]
"""The way down from a summary: which source, which source of it and so on."""


class Below:
    """What lies below one summary.

    A summary or message that can be reached in several ways belongs to the first one: there only
    it is given. So a walk can begin anywhere and knows what came before.
    """

    def __init__(self, summaries: Summaries, root: str):
        self._root = root
        self._derived = cache(summaries.derived)
        self._sources = cache(summaries.sources)
        self._messages = cache(summaries.leaf_messages)
        self._others = summaries.others_over
        self._first: dict[str, Path | None] = {root: ()}

    def walk(self, path: Path = (), at: int = 0) -> Iterator[tuple[Path, int, int]]:
        """Yield path, number in the leaf and id of the messages from a place on.

        Raises:
            CursorError: If there is no such place.
        """
        names = self._names(path)
        if not 0 <= at < max(1, len(self._messages(names[-1]))):
            raise CursorError("the cursor names no text")
        yield from self._of_leaf(names[-1], path, at)
        yield from self._under(names[-1], path, 0)
        for depth in range(len(path) - 1, -1, -1):
            yield from self._under(names[depth], path[:depth], path[depth] + 1)

    def end(self, *, is_last: bool) -> str:
        """Return the first or the last summary that one comes to, always going the same way."""
        name, seen = self._root, {self._root}
        while sources := [one for one in self._sources(name) if one not in seen]:
            name = sources[-1 if is_last else 0]
            seen.add(name)
        return name

    def _names(self, path: Path) -> list[str]:
        """Return the summaries that a path leads over, the root first."""
        names = [self._root]
        for number in path:
            sources = self._sources(names[-1])
            if not 0 <= number < len(sources):
                raise CursorError("the cursor names no text")
            names.append(sources[number])
        return names

    def _under(self, name: str, path: Path, start: int) -> Iterator[tuple[Path, int, int]]:
        """Yield the messages below the sources of a summary, from one of them on."""
        for number, source in enumerate(self._sources(name)[start:], start):
            below = (*path, number)
            if self._first_path(source) == below:
                yield from self._of_leaf(source, below, 0)
                yield from self._under(source, below, 0)

    def _of_leaf(self, name: str, path: Path, start: int) -> Iterator[tuple[Path, int, int]]:
        """Yield the messages of a leaf that no leaf before it gave."""
        messages = self._messages(name)
        given = {
            message
            for message, other in (self._others(name) if messages else ())
            if (first := self._first_path(other)) is not None and first < path
        }
        for at, message in enumerate(messages[start:], start):
            if message not in given:
                yield path, at, message

    def _first_path(self, name: str) -> Path | None:
        """Return the first of the paths to a summary; None when it does not lie below."""
        if name not in self._first:
            self._first[name] = None  # a circle, which only damage makes, leads nowhere
            paths = [
                (*above, self._sources(derived).index(name))
                for derived in self._derived(name)
                if (above := self._first_path(derived)) is not None
            ]
            self._first[name] = min(paths, default=None)
        return self._first[name]
