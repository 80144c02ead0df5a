"""Codex rollouts: each Responses item is one message.

Newer files wrap items as `{timestamp, type, payload}`; older ones hold a header and bare items,
the oldest a JSON object of `session` and `items`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

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

ENVELOPES = frozenset({"session_meta", "response_item", "event_msg", "turn_context", "compacted"})
ITEMS = frozenset(
    {
        "message",
        "agent_message",
        "compaction",
        "compaction_summary",
        "computer_call",
        "computer_call_output",
        "context_compaction",
        "custom_tool_call",
        "custom_tool_call_output",
        "file_search_call",
        "function_call",
        "function_call_output",
        "ghost_snapshot",
        "image_generation_call",
        "local_shell_call",
        "local_shell_call_output",
        "mcp_approval_request",
        "mcp_approval_response",
        "mcp_call",
        "mcp_list_tools",
        "reasoning",
        "tool_search_call",
        "tool_search_output",
        "web_search_call",
    }
)
"""Types of Responses items. Inside an envelope every type is taken; bare ones must be known."""


def is_header(record: dict[str, Any]) -> bool:
    """Whether this opens a rollout of the older form."""
    is_plain = "type" not in record and "role" not in record and "message" not in record
    return is_plain and "timestamp" in record and ("instructions" in record or "git" in record)


def unwrap(record: dict[str, Any]) -> tuple[Raw, str | None, Timestamp]:
    """Return the item of a record, or the record itself when it is a bare item."""
    timestamp = pick_timestamp(record.get("timestamp"))
    if record.get("type") == "response_item":
        return record["payload"], None, timestamp
    return record, None, timestamp


class CodexScan(Scan):
    """The first pass over a rollout."""

    format = "codex"
    unwrap = staticmethod(unwrap)
    known = ENVELOPES | {"state", "world_state", "inter_agent_communication"}

    def __init__(self, session_id: str | None = None) -> None:
        super().__init__()
        self._session_id = session_id
        self._has_header = session_id is not None
        self._picks = Picks()

    def see(self, line: int, place: int, record: dict[str, Any]) -> Reason:
        kind = record.get("type")
        if kind == "response_item":
            return self._see_item(line, place, record.get("payload"))
        if kind == "session_meta" or is_header(record):
            return self._see_header(record)
        if kind is None and isinstance(record.get("record_type"), str):
            return self.skip(record["record_type"])
        if "payload" not in record and (_is_item(kind) or "role" in record):
            self._picks.add(line, place)
            return None
        if kind is None:
            return "unknown entry: neither a type nor a role"
        return self.skip(kind)

    def _see_item(self, line: int, place: int, payload: object) -> Reason:
        if not isinstance(payload, dict):
            return f"payload of response_item is {name_type(payload)}, not an object"
        self._picks.add(line, place)
        return None

    def _see_header(self, record: dict[str, Any]) -> Reason:
        # A forked rollout repeats the headers of those it came from behind its own.
        if self._has_header:
            return self.skip("session_meta")
        self._has_header = True
        meta = record.get("payload", record)
        if not isinstance(meta, dict):
            return f"payload of session_meta is {name_type(meta)}, not an object"
        self._session_id = pick_id(meta.get("id"), meta.get("session_id"))
        return None

    def find_lanes(self, naming: Naming) -> Mapping[Lane, Picks]:
        return {name_lane("codex", self._session_id or naming.stem, None): self._picks}


def _is_item(kind: object) -> bool:
    return isinstance(kind, str) and kind in ITEMS
