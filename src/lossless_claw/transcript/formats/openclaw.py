"""OpenClaw and pi sessions, header versions 1 to 4 (spec operator-surfaces 10.1, store 3.1).

A header, then entries that name the one they continue. Version 1 has no ids, and its order is
the history. Legacy lines are bare messages without an envelope.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import UNSET, UnsetType

from lossless_claw.model import Raw
from lossless_claw.transcript.parsing import name_type
from lossless_claw.transcript.scan import Naming, Reason, Scan, pick_id, pick_timestamp
from lossless_claw.transcript.transcript import Lane, Picks, Timestamp
from lossless_claw.transcript.tree import Tree

KNOWN = frozenset(
    {
        "session",
        "compaction",
        "model_change",
        "thinking_level_change",
        "session_info",
        "custom",
        "custom_message",
        "branch_summary",
        "label",
        "leaf",
    }
)


def unwrap(entry: dict[str, Any]) -> tuple[Raw, str | None, Timestamp]:
    """Return the message of an entry, or the entry itself when it is a bare message."""
    message = entry.get("message")
    if not isinstance(message, dict):
        return entry, None, None
    entry_id = pick_id(entry.get("id"), entry.get("uuid"))
    return message, entry_id, pick_timestamp(entry.get("timestamp"))


class Session:
    """The entries of one session as they come by: its header, its tree, its messages."""

    def __init__(self, scan: Scan) -> None:
        self.id: str | None = None
        self.title: str | None = None
        self._has_header = False
        self._scan = scan
        self._tree = Tree()
        self._picks = Picks()

    def see(self, line: int, place: int, entry: dict[str, Any]) -> Reason:
        """Take the next entry."""
        kind = entry.get("type")
        if kind == "session" and not self._has_header:
            self._has_header = True
            self.id = pick_id(entry.get("id"))
            return None
        if kind == "message" or kind is None:
            return self._see_message(line, place, entry)
        self._link(line, entry)
        if kind == "session_info":
            self.title = pick_id(entry.get("name")) or self.title
        return self._scan.skip(kind)

    def _see_message(self, line: int, place: int, entry: dict[str, Any]) -> Reason:
        if "message" not in entry:
            return self._see_bare(line, place, entry)
        self._link(line, entry)
        if not isinstance(entry["message"], dict):
            return f"message is {name_type(entry['message'])}, not an object"
        self._picks.add(line, place)
        return None

    def _see_bare(self, line: int, place: int, entry: dict[str, Any]) -> Reason:
        if isinstance(entry.get("role"), str) and ("content" in entry or "command" in entry):
            self._tree.add_nameless()
            self._picks.add(line, place)
            return None
        if pick_id(entry.get("id"), entry.get("uuid")):
            self._link(line, entry)
        if "type" in entry:
            return "entry of type 'message' without a message"
        return "unknown entry: neither a type nor a message"

    def _link(self, line: int, entry: dict[str, Any]) -> None:
        entry_id = pick_id(entry.get("id"), entry.get("uuid"))
        if entry_id is None:
            self._tree.add_nameless()
        else:
            self._tree.add(entry_id, _find_source(entry), line)

    def finish(self) -> Picks:
        """Return the messages, those on branches that were left marked."""
        self._picks.left = self._tree.find_left()
        return self._picks


def _find_source(entry: dict[str, Any]) -> str | UnsetType | None:
    source = entry.get("parentId", entry.get("parentUuid", UNSET))
    if source is None or isinstance(source, str):
        return source
    return UNSET


class OpenClawScan(Scan):
    """The first pass over a session file."""

    format = "openclaw"
    unwrap = staticmethod(unwrap)
    known = KNOWN

    def __init__(self) -> None:
        super().__init__()
        self._session = Session(self)

    def see(self, line: int, place: int, record: dict[str, Any]) -> Reason:
        return self._session.see(line, place, record)

    def find_lanes(self, naming: Naming) -> Mapping[Lane, Picks]:
        name = self._session.id or naming.stem
        return {Lane(name, naming.find_key(name), self._session.title): self._session.finish()}
