"""Who a message is: a hash over all that the model sees of it, and upstream's over its text.

The full-content hash covers role, content and tool ids, taken before anything is rewritten
(design 4). What only the host uses (ids, times, usage, cache marks) is outside of it. One
plain text block and the bare string are the same content.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

import msgspec

from lossless_claw.message.parts import single_text
from lossless_claw.model import Raw

HASH_BYTES = 16

_SEEN = frozenset({
    "toolCallId", "tool_call_id", "toolUseId", "tool_use_id", "call_id", "tool_calls",
    "function_call", "command", "name", "refusal", "audio", "isError", "is_error",
})  # fmt: skip
"""Members beside the content that the model sees; absent, null, empty and false are the same."""

_HOST_KEYS = frozenset({
    "id", "uuid", "timestamp", "createdAt", "created_at", "usage", "model", "provider", "api",
    "stopReason", "stop_reason", "stop_sequence", "responseId", "response_id", "details",
    "reasoning_content", "reasoning", "reasoning_details", "annotations", "metadata", "__openclaw",
})  # fmt: skip
"""Members that only the host uses. What has no content is known by all the others."""

_HOST_ITEM_KEYS = frozenset({"id", "status", "internal_chat_message_metadata_passthrough"})
_METADATA_HEADS = ("Conversation info (untrusted metadata):", "Delivery:")


def full_hash(message: Raw, role: str, text: str | None) -> bytes:
    """Return the 16 bytes that identify *message*, whose stored role is *role*.

    *text* is its `single_text`.
    """
    return hashlib.blake2b(_canonical(message, role, text), digest_size=HASH_BYTES).digest()


def upstream_hash(role: str, content: str) -> str | None:
    """Return upstream's identity hash (spec 2.2), or None for text it canonicalises.

    A row without the hash gets it from upstream at its next start.
    """
    if role == "user" and content.lstrip().startswith(_METADATA_HEADS):
        return None
    return hashlib.sha256(f"{role}\0{content}".encode()).hexdigest()


def _canonical(message: Raw, role: str, text: str | None) -> bytes:
    if "role" not in message and isinstance(message.get("type"), str):
        seen: list[Any] = [role, _without(message, _HOST_ITEM_KEYS)]
    elif not message.get("content", message.get("output")):
        seen = [role, _without(message, _HOST_KEYS)]
    else:
        tools = {key: message[key] for key in _SEEN & message.keys() if message[key]}
        content = _content(message) if text is None else text
        seen = [role, content, tools] if tools else [role, content]
        if role == "system":
            seen.append(message.get("role"))
    try:
        return msgspec.json.encode(seen, order="sorted")
    except (UnicodeEncodeError, TypeError, ValueError):
        return json.dumps(seen, sort_keys=True, separators=(",", ":")).encode()


def _without(message: Raw, keys: frozenset[str]) -> Raw:
    return {k: v for k, v in message.items() if k not in keys and v not in (None, [], "", False)}


def _content(message: Raw) -> Any:
    text = single_text(message)
    if text is not None:
        return text
    content = message.get("content", message.get("output"))
    if isinstance(content, list) and any(
        isinstance(block, dict) and "cache_control" in block for block in content
    ):
        bare = [_without_marks(block) for block in content]
        return _content({"content": bare})
    return content


def _without_marks(block: Any) -> Any:
    if not isinstance(block, dict):
        return block
    return {key: value for key, value in block.items() if key != "cache_control"}
