"""Claude Code sessions: a main lane, and a lane for each sidechain.

Lines carry the message beside a uuid. Sidechains are the conversations of sub-agents; they are
told apart by agent id, or by the line they go back to.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct

from lossless_claw.model import Raw
from lossless_claw.transcript.parsing import name_type
from lossless_claw.transcript.scan import (
    Naming,
    Reason,
    Scan,
    name_lane,
    pick_id,
    pick_timestamp,
)
from lossless_claw.transcript.transcript import Lane, Picks, Timestamp

MESSAGE_KINDS = frozenset({"user", "assistant"})
KNOWN = frozenset(
    {
        "agent-color",
        "agent-name",
        "agent-setting",
        "ai-title",
        "attachment",
        "attribution-snapshot",
        "content-replacement",
        "custom-title",
        "file-history-snapshot",
        "last-prompt",
        "mode",
        "permission-mode",
        "pr-link",
        "progress",
        "queue-operation",
        "result",
        "speculation-accept",
        "stream_event",
        "summary",
        "system",
        "tag",
        "task-summary",
        "worktree-state",
    }
)


def unwrap(line: dict[str, Any]) -> tuple[Raw, str | None, Timestamp]:
    """Return the message of a line, its uuid and its time."""
    return line["message"], pick_id(line.get("uuid")), pick_timestamp(line.get("timestamp"))


class SideLine(Struct, frozen=True):
    """A line of a sidechain and what connects it."""

    line: int
    place: int
    is_message: bool
    uuid: str | None
    source: str | None
    agent: str | None


def part_sidechains(lines: Iterable[SideLine]) -> list[Picks]:
    """Return the messages of each sidechain, in the order of their first messages.

    An agent's lines belong together. Without an agent id a line belongs where the line it
    continues does; lines that name nothing share one sidechain.
    """
    lines = list(lines)
    by_uuid = {each.uuid: each for each in lines if each.uuid is not None}
    roots: dict[str | None, tuple[str, str | None]] = {}
    sidechains: dict[tuple[str, str | None], Picks] = {}
    for each in lines:
        if each.is_message:
            root = _find_root(each, by_uuid, roots)
            sidechains.setdefault(root, Picks()).add(each.line, each.place)
    return list(sidechains.values())


def _find_root(
    line: SideLine,
    by_uuid: Mapping[str, SideLine],
    roots: dict[str | None, tuple[str, str | None]],
) -> tuple[str, str | None]:
    trail: dict[str | None, None] = {}
    at = line
    while at.agent is None and at.uuid not in roots and at.uuid not in trail:
        following = by_uuid.get(at.source) if at.source is not None else None
        if following is None:
            break
        trail[at.uuid] = None
        at = following
    root = roots.get(at.uuid) if at.uuid is not None and at.agent is None else None
    if root is None:
        root = ("agent", at.agent) if at.agent is not None else ("root", at.uuid or at.source)
    roots.update((uuid, root) for uuid in trail if uuid is not None)
    return root


class ClaudeCodeScan(Scan):
    """The first pass over a session."""

    format = "claude-code"
    unwrap = staticmethod(unwrap)
    known = KNOWN

    def __init__(self) -> None:
        super().__init__()
        self._main = Picks()
        self._sides: list[SideLine] = []
        self._session_ids: dict[str, None] = {}
        self._uuids: set[str] = set()
        self._title: str | None = None
        self._summaries: list[tuple[str, str]] = []

    def see(self, line: int, place: int, record: dict[str, Any]) -> Reason:
        kind, message = record.get("type"), record.get("message")
        is_side = record.get("isSidechain") is True
        is_message = kind in MESSAGE_KINDS if isinstance(kind, str) else kind is None
        is_whole = is_message and isinstance(message, dict)
        if is_side:
            self._sides.append(_connect(line, place, record, is_message=is_whole))
        else:
            self._name(record)
            if is_whole:
                self._main.add(line, place)
        if is_whole:
            return None
        if not is_message:
            self._read_title(record)
            return self.skip(kind)
        if kind is None and "message" not in record:
            return "unknown entry: neither a type nor a message"
        return f"message is {name_type(message)}, not an object"

    def _name(self, record: dict[str, Any]) -> None:
        session_id = pick_id(record.get("sessionId"), record.get("session_id"))
        if session_id is not None:
            self._session_ids.setdefault(session_id)
        uuid = pick_id(record.get("uuid"))
        if uuid is not None:
            self._uuids.add(uuid)

    def _read_title(self, record: dict[str, Any]) -> None:
        title = pick_id(record.get("customTitle"), record.get("aiTitle"))
        summary, leaf = pick_id(record.get("summary")), pick_id(record.get("leafUuid"))
        self._title = title or self._title
        if summary and leaf:
            self._summaries.append((leaf, summary))

    def find_lanes(self, naming: Naming) -> Mapping[Lane, Picks]:
        sides = part_sidechains(self._sides)
        lanes = [self._main, *sides] if len(self._main.lines) or not sides else sides
        # A file of sidechains alone belongs to one sub-agent, and its lines name the session of
        # the main file: its own name is the stem.
        has_main = lanes[0] is self._main
        name = self._find_session_id(naming.stem) if has_main else naming.stem
        title = self._find_title() if has_main else None
        return {
            name_lane("claude-code", name, n or None, None if n else title): picks
            for n, picks in enumerate(lanes)
        }

    def _find_session_id(self, stem: str) -> str:
        # A resumed session opens with lines of the one it continues; the file bears its own id.
        if stem in self._session_ids:
            return stem
        return next(iter(self._session_ids), stem)

    def _find_title(self) -> str | None:
        # Summaries of other sessions are written into this file too; the leaf tells whose it is.
        own = [summary for leaf, summary in self._summaries if leaf in self._uuids]
        return self._title or (own[-1] if own else None)


def _connect(line: int, place: int, record: dict[str, Any], *, is_message: bool) -> SideLine:
    return SideLine(
        line=line,
        place=place,
        is_message=is_message,
        uuid=pick_id(record.get("uuid")),
        source=pick_id(record.get("parentUuid")),
        agent=pick_id(record.get("agentId")),
    )
