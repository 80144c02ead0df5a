"""Bare messages: OpenAI chat, Anthropic, or the hosts' own shape, one list or one run per list.

The shape is told by the first message that could be of one provider only; a list that never
shows one is called openai. What a message means is not decided here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from lossless_claw.model import Raw
from lossless_claw.transcript.formats.codex import ITEMS
from lossless_claw.transcript.scan import Naming, Reason, Scan, name_lane
from lossless_claw.transcript.transcript import Lane, Picks, Timestamp

_PAYLOADS = frozenset({"content", "tool_calls", "function_call", "command"})
_FIELDS = _PAYLOADS | {"role"}
_ROLES = {
    **dict.fromkeys(("tool", "function", "developer"), "openai"),
    **dict.fromkeys(("toolResult", "bashExecution"), "openclaw"),
}
_KEYS = {
    **dict.fromkeys(("tool_calls", "function_call", "tool_call_id"), "openai"),
    **dict.fromkeys(("toolCallId", "stopReason"), "openclaw"),
    **dict.fromkeys(("stop_reason", "stop_sequence"), "anthropic"),
}
_BLOCKS = {
    **dict.fromkeys(
        (
            "image_url",
            "input_audio",
            "input_text",
            "input_image",
            "input_file",
            "output_text",
            "refusal",
            "file",
        ),
        "openai",
    ),
    **dict.fromkeys(
        (
            "tool_use",
            "tool_result",
            "thinking",
            "redacted_thinking",
            "document",
            "search_result",
            "server_tool_use",
            "web_search_tool_result",
        ),
        "anthropic",
    ),
    **dict.fromkeys(("toolCall", "toolResult"), "openclaw"),
}


def find_style(message: dict[str, Any]) -> str | None:
    """Return the only format this message can be of, or None when it says nothing."""
    kind, role = message.get("type"), message.get("role")
    if isinstance(kind, str) and kind in ITEMS and kind != "message":
        return "openai"
    if isinstance(role, str) and role in _ROLES:
        return _ROLES[role]
    for key, style in _KEYS.items():
        if key in message:
            return style
    content = message.get("content")
    return _find_block_style(content) if isinstance(content, list) else None


def _find_block_style(blocks: Iterable[object]) -> str | None:
    styles = [_name_style(block) for block in blocks if isinstance(block, dict)]
    # Hosts' messages hold thinking blocks too, and only then the calls that tell them apart.
    if "openclaw" in styles:
        return "openclaw"
    return next((style for style in styles if style), None)


def _name_style(block: dict[str, Any]) -> str | None:
    kind = block.get("type")
    if kind == "image":
        return "anthropic" if "source" in block else "openclaw"
    if isinstance(kind, str) and kind in _BLOCKS:
        return _BLOCKS[kind]
    return "anthropic" if "cache_control" in block else None


def is_message(record: dict[str, Any]) -> bool:
    """Whether a record can be a message; a role is not needed, an item of known type is one."""
    if not _FIELDS.isdisjoint(record):
        return True
    kind = record.get("type")
    return isinstance(kind, str) and kind in ITEMS


def is_plainly_message(record: dict[str, Any]) -> bool:
    """Whether a record proves by itself that its file holds messages."""
    return "role" in record and not _PAYLOADS.isdisjoint(record)


def unwrap(message: dict[str, Any]) -> tuple[Raw, str | None, Timestamp]:
    """Return the message: there is no envelope."""
    return message, None, None


class MessagesScan(Scan):
    """The first pass over bare messages.

    Args:
        session_id: What the file says its conversation is called; else the stem is.
        format_name: The format, where it is known before any message.
    """

    unwrap = staticmethod(unwrap)

    def __init__(self, session_id: str | None = None, format_name: str | None = None) -> None:
        super().__init__()
        self.format = format_name or "openai"
        self._is_settled = format_name is not None
        self._session_id = session_id
        self._runs: dict[int | None, tuple[str | None, Picks]] = {}
        self._picks = Picks()
        self.begin_run(None, None)

    def begin_run(self, number: int | None, title: str | None) -> None:
        """Let the messages that follow belong to this run; None is the only conversation."""
        self._picks = Picks()
        self._runs[number] = (title, self._picks)

    def see(self, line: int, place: int, record: dict[str, Any]) -> Reason:
        if not is_message(record):
            return "unknown entry: neither a role nor content"
        if not self._is_settled:
            self._settle(find_style(record))
        self._picks.add(line, place)
        return None

    def _settle(self, style: str | None) -> None:
        if style is not None:
            self.format = style
            self._is_settled = True

    def find_lanes(self, naming: Naming) -> Mapping[Lane, Picks]:
        base = self._session_id or naming.stem
        return {
            self._name(naming, base, number, title): picks
            for number, (title, picks) in self._runs.items()
            if len(picks.lines)
        }

    def _name(self, naming: Naming, base: str, number: int | None, title: str | None) -> Lane:
        if self.format != "openclaw":
            return name_lane(self.format, base, number, title)
        full = base if number is None else f"{base}:{number}"
        return Lane(full, naming.find_key(full), title)
