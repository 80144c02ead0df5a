"""Which provider's shape a message has, judged by what only one of them writes.

A message that could be anyone's has no shape of its own. Nothing here reads a whole block.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lossless_claw.model import Raw, Shape

_ROLES = {
    "toolResult": Shape.OPENCLAW,
    "bashExecution": Shape.OPENCLAW,
    "tool": Shape.OPENAI,
    "developer": Shape.OPENAI,
    "function": Shape.OPENAI,
}
_OPENAI_KEYS = frozenset(
    (
        "tool_calls",
        "tool_call_id",
        "tool_call_ids",
        "function_call",
        "refusal",
        "reasoning_content",
        "reasoning_details",
        "finish_reason",
        "annotations",
        "audio",
    )
)
_OPENCLAW_KEYS = frozenset(("toolCallId", "stopReason", "api", "isError", "toolName"))
_ANTHROPIC_KEYS = frozenset(("stop_reason", "stop_sequence"))
_BLOCKS = {
    "toolCall": Shape.OPENCLAW,
    "tool_use": Shape.ANTHROPIC,
    "tool_result": Shape.ANTHROPIC,
    "redacted_thinking": Shape.ANTHROPIC,
    "document": Shape.ANTHROPIC,
    "search_result": Shape.ANTHROPIC,
    "server_tool_use": Shape.ANTHROPIC,
    "container_upload": Shape.ANTHROPIC,
    "image_url": Shape.OPENAI,
    "input_audio": Shape.OPENAI,
    "refusal": Shape.OPENAI,
    "file": Shape.OPENAI,
    "input_text": Shape.RESPONSES,
    "output_text": Shape.RESPONSES,
    "input_image": Shape.RESPONSES,
    "input_file": Shape.RESPONSES,
}
_ITEM_ENDINGS = ("_call", "_call_output", "_call_response")
_ITEMS = frozenset(("reasoning", "item_reference", "compaction", "mcp_list_tools"))


def detect(message: Raw) -> Shape | None:
    """Return the shape that *message* must have, or None when it could be any.

    Keys that only one provider writes count before content blocks, and those before what
    kind of object the message says it is.
    """
    role = message.get("role")
    if not isinstance(role, str):
        return Shape.RESPONSES if _is_item(message.get("type")) else None
    told = _of_keys(message, role)
    content = message.get("content")
    if told is None and isinstance(content, list):
        told = _of_blocks(content)
    if told is None and message.get("type") == "message":
        # Both write type "message"; only an answer of Anthropic names its model and usage.
        return Shape.ANTHROPIC if "model" in message or "usage" in message else Shape.RESPONSES
    return told


def detect_list(messages: Sequence[Raw]) -> Shape:
    """Return the shape of the newest message that tells one; OpenAI chat when none does."""
    for message in reversed(messages):
        told = detect(message)
        if told is not None:
            return told
    return Shape.OPENAI


def _of_keys(message: Raw, role: str) -> Shape | None:
    if not _OPENCLAW_KEYS.isdisjoint(message):
        return Shape.OPENCLAW
    if role in _ROLES:
        return _ROLES[role]
    if not _OPENAI_KEYS.isdisjoint(message):
        return Shape.OPENAI
    return None if _ANTHROPIC_KEYS.isdisjoint(message) else Shape.ANTHROPIC


def _is_item(kind: Any) -> bool:
    return isinstance(kind, str) and (kind in _ITEMS or kind.endswith(_ITEM_ENDINGS))


def _of_blocks(content: list[Any]) -> Shape | None:
    for block in content:
        if type(block) is not dict:
            continue
        kind = block.get("type")
        if kind == "text":
            told = _of_text(block)
        elif isinstance(kind, str):
            told = _BLOCKS.get(kind) or _of_media(kind, block)
        else:
            told = None
        if told is not None:
            return told
    return None


def _of_text(block: Raw) -> Shape | None:
    if len(block) <= 2:
        return None
    if "textSignature" in block:
        return Shape.OPENCLAW
    return Shape.ANTHROPIC if "citations" in block else None


def _of_media(kind: str, block: Raw) -> Shape | None:
    if kind == "thinking":
        return Shape.OPENCLAW if "thinkingSignature" in block else Shape.ANTHROPIC
    if kind == "image":
        if "source" in block:
            return Shape.ANTHROPIC
        return Shape.OPENCLAW if "data" in block else None
    return None
