"""What a record or a whole JSON document is, told by its content.

Pure: it takes parsed values, and neither file names nor order matter to it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct, field

from lossless_claw.transcript.formats import claude_code, codex, messages, openclaw
from lossless_claw.transcript.scan import pick_id

RUNS = "runs"
"""The answer for a record that holds a conversation of its own."""


def recognise(record: dict[str, Any]) -> str | None:
    """Return the family of formats a record proves, a key of `SCANS` or `RUNS`, or None."""
    if is_row(record):
        return "transcript-events"
    if is_codex(record):
        return "codex"
    if is_claude_code(record):
        return "claude-code"
    if is_openclaw(record):
        return "openclaw"
    if is_run(record):
        return RUNS
    return "messages" if messages.is_plainly_message(record) else None


def is_row(record: dict[str, Any]) -> bool:
    """Whether this is a row of `transcript_events`."""
    return "event_json" in record or "event_zstd" in record


def is_codex(record: dict[str, Any]) -> bool:
    """Whether this is a line of a rollout, newer or older."""
    kind = record.get("type")
    if isinstance(kind, str) and kind in codex.ENVELOPES and "payload" in record:
        return True
    if codex.is_header(record) or isinstance(record.get("record_type"), str):
        return True
    return is_bare_item(record)


def is_bare_item(record: dict[str, Any]) -> bool:
    """Whether this is a Responses item without the envelope of a rollout."""
    kind = record.get("type")
    if not isinstance(kind, str) or kind not in codex.ITEMS or "message" in record:
        return False
    return kind != "message" or messages.find_style(record) == "openai"


def is_claude_code(record: dict[str, Any]) -> bool:
    """Whether this is a line of a Claude Code session."""
    kind = record.get("type")
    if not isinstance(kind, str):
        return False
    if kind in claude_code.MESSAGE_KINDS and "message" in record:
        return True
    if kind in {"file-history-snapshot", "summary"}:
        return "messageId" in record or "leafUuid" in record
    is_named = "sessionId" in record or "session_id" in record
    return is_named and ("uuid" in record or kind in claude_code.KNOWN)


def is_openclaw(record: dict[str, Any]) -> bool:
    """Whether this is a header or an entry of an OpenClaw or pi session."""
    kind = record.get("type")
    if kind == "session":
        return "id" in record or "timestamp" in record
    if kind is None:
        message = record.get("message")
        return isinstance(message, dict) and "role" in message
    if kind == "message" and "message" in record:
        return True
    is_linked = "id" in record and "parentId" in record
    return isinstance(kind, str) and (is_linked or kind in openclaw.KNOWN - {"label", "custom"})


def is_run(record: dict[str, Any]) -> bool:
    """Whether this holds a list of messages of its own."""
    return find_messages(record) is not None


def find_messages(record: dict[str, Any]) -> list[Any] | None:
    """Return the messages a run holds, or None."""
    for key in ("traj", "messages"):
        if isinstance(record.get(key), list):
            return list(record[key])
    return None


class Document(Struct, frozen=True):
    """A whole JSON text as a list of records.

    `family` is a key of `SCANS`, `RUNS`, or None where the records have to prove it.
    """

    items: list[Any]
    family: str | None = None
    session_id: str | None = None
    skipped: Mapping[str, int] = field(default_factory=dict)


def outline(value: object) -> Document | None:
    """Return what a whole JSON text holds, or None if that is no transcript."""
    if isinstance(value, list):
        return Document(value, _recognise_items(value))
    if not isinstance(value, dict):
        return None
    if isinstance(value.get("loglines"), list):
        return Document(value["loglines"], "claude-code")
    if isinstance(value.get("history"), list) and not {"trajectory", "info"}.isdisjoint(value):
        return Document(value["history"], "swe-agent")
    if isinstance(value.get("items"), list) and isinstance(value.get("session"), dict):
        return Document(value["items"], "codex", pick_id(value["session"].get("id")))
    return _outline_run(value)


def _recognise_items(items: list[Any]) -> str | None:
    records = (item for item in items if isinstance(item, dict))
    # Bare Responses items are a rollout as lines of a file; as a list they are a conversation.
    families = ("messages" if is_bare_item(each) else recognise(each) for each in records)
    return next((family for family in families if family), None)


def _outline_run(value: dict[str, Any]) -> Document | None:
    listed = find_messages(value)
    if listed is None:
        return None
    first = next((item for item in listed if isinstance(item, dict)), {})
    named = pick_id(value.get("session_id"), value.get("sessionId"), value.get("id"))
    # A request keeps its system prompt beside the messages: it is none of them.
    skipped = {"system": 1} if value.get("system") else {}
    family = "claude-code" if is_claude_code(first) else "messages"
    return Document(listed, family, named if family == "messages" else None, skipped)


def is_index(value: object) -> bool:
    """Whether this is a `sessions.json`: session keys with the sessions they stand for."""
    if not isinstance(value, dict) or not value:
        return False
    return all(isinstance(each, dict) and "sessionId" in each for each in value.values())
