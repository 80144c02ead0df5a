"""Session globs: which session keys a list of patterns names. Pure text matching.

`*` is any run without a colon, `**` any run at all; every other character stands for itself
(spec compaction-assembly-recall 8.4).
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from msgspec import Struct

_WILDCARD = re.compile(r"(\*\*|\*)")
_MEANING = {"*": "[^:]*", "**": ".*"}


class Patterns(Struct, frozen=True):
    """A list of session globs, ready to be asked."""

    globs: tuple[str, ...] = ()

    def match(self, name: str) -> bool:
        """Return whether the whole of *name* fits one of the globs."""
        return any(_expression(glob).fullmatch(name) for glob in self.globs)

    def ignore(self, session_key: str | None, session_id: str) -> bool:
        """Return whether a session is named by its key, or by its id when it has no key."""
        return self.match(session_id if session_key is None else session_key)

    def name_stateless(self, session_key: str | None) -> bool:
        """Return whether a session is named by its key; one without a key never is."""
        return session_key is not None and self.match(session_key)


def parse(globs: Iterable[str]) -> Patterns:
    """Return the patterns of *globs*, trimmed, without the blank ones."""
    return Patterns(tuple(glob for glob in (raw.strip() for raw in globs) if glob))


def _expression(glob: str) -> re.Pattern[str]:
    # re keeps compiled expressions itself, so nothing has to be held here.
    pieces = (_MEANING.get(piece) or re.escape(piece) for piece in _WILDCARD.split(glob))
    return re.compile("".join(pieces), re.DOTALL)
