"""The tree of a session: which lines lie on branches that were left (spec operator-surfaces 10.1).

Pure: it is told ids and parents in file order, and answers with line numbers.
"""

from __future__ import annotations

from array import array

from msgspec import UNSET, UnsetType


class Tree:
    """The entries of one session as they name one another."""

    def __init__(self) -> None:
        self._ids: list[str] = []
        self._sources: list[str | None] = []
        self._lines: array[int] = array("Q")
        self._is_complete = True
        self._is_chain = True

    def add(self, entry_id: str, source: str | UnsetType | None, line: int) -> None:
        """Take the next entry; *source* is the entry it continues, UNSET when it names none."""
        if self._ids and source is UNSET:
            self._is_complete = False
        if self._ids and source == self._ids[-1]:
            source = self._ids[-1]
        elif self._ids:
            self._is_chain = False
        self._ids.append(entry_id)
        self._sources.append(None if isinstance(source, UnsetType) else source)
        self._lines.append(line)

    def add_nameless(self) -> None:
        """Take an entry without an id: the file has no tree, and its order is the history."""
        self._is_complete = False

    def find_left(self) -> frozenset[int]:
        """Return the lines off the active branch; none when the file order is the history.

        The active branch runs from the last entry back to one without a source. The last of
        several entries with one id decides where it goes on, and all of them count as on it. A
        nameless entry, a source that is not in the file, or a cycle means file order.
        """
        if self._is_chain or not self._is_complete:
            return frozenset()
        branch = self._walk()
        if branch is None:
            return frozenset()
        named = zip(self._ids, self._lines, strict=True)
        return frozenset(line for entry_id, line in named if entry_id not in branch)

    def _walk(self) -> set[str] | None:
        sources = dict(zip(self._ids, self._sources, strict=True))
        branch: set[str] = set()
        at: str | None = self._ids[-1]
        while at is not None:
            if at in branch or at not in sources:
                return None
            branch.add(at)
            at = sources[at]
        return branch
