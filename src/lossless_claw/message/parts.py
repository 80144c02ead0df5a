"""Content blocks to rows of `message_parts` and back (spec store-and-ingest 3.4 to 3.6).

A block whose columns hold all of it has no `raw` in its metadata, and a message that is one
text keeps that text in `messages.content` alone (design 12 "Layout"): upstream reads both.
"""

from __future__ import annotations

from typing import Any

from lossless_claw.message import kinds
from lossless_claw.message.encoding import decode, json_text
from lossless_claw.message.text import CALL_TYPES, RESULT_TYPES
from lossless_claw.model import Part, Raw

_KINDS = (
    dict.fromkeys((CALL_TYPES | RESULT_TYPES | {"tool"}) - {"tool_call", "tool_use_result"}, "tool")
    | dict.fromkeys(("tool_call", "tool_use_result", "custom_tool_call"), "tool")
    | dict.fromkeys(("custom_tool_call_output", "local_shell_call", "server_tool_use"), "tool")
    | dict.fromkeys(("local_shell_call_output", "web_search_call"), "tool")
    | dict.fromkeys(kinds.REASONING, "reasoning")
    | dict.fromkeys(kinds.MEDIA, "file")
    | {"text": "text", "input_text": "text", "output_text": "text"}
    | {name: name for name in ("patch", "subtask", "compaction", "snapshot", "retry", "agent")}
    | {"step_start": "step_start", "step-start": "step_start"}
    | {"step_finish": "step_finish", "step-finish": "step_finish"}
)
_IDS = ("toolCallId", "tool_call_id", "toolUseId", "tool_use_id", "call_id")
_NAMES = ("toolName", "tool_name")
_MODEL = (("modelProvider", "provider"), ("modelApi", "api"), ("modelId", "model"))

_PLAIN = {
    "text": (frozenset({"type", "text"}), "text"),
    "thinking": (frozenset({"type", "thinking"}), "thinking"),
}
_RESULT_KEYS = {"type", "tool_use_id", "content"}
_PLAIN_CALLS = {
    "toolCall": (frozenset({"type", "id", "name", "arguments"}), "arguments"),
    "tool_use": (frozenset({"type", "id", "name", "input"}), "input"),
}


def first_string(value: Raw, keys: tuple[str, ...]) -> str | None:
    """Return the first non-empty string among the members *keys* of *value*."""
    for key in keys:
        found = value.get(key)
        if isinstance(found, str) and found:
            return found
    return None


def blocks_of(message: Raw) -> list[Any] | None:
    """Return the blocks of *message*: its content list, or the item itself when it has no role."""
    content = message.get("content")
    if isinstance(content, list):
        return content
    if "content" not in message and "role" not in message and isinstance(message.get("type"), str):
        return [message]
    return None


def single_text(message: Raw) -> str | None:
    """Return the text of a message that is exactly one plain text, else None."""
    content = message.get("content")
    if isinstance(content, str):
        return content
    if isinstance(content, list) and len(content) == 1 and _is_plain_text(content[0]):
        return str(content[0]["text"])
    return None


def _is_plain_text(block: Any) -> bool:
    return (
        isinstance(block, dict)
        and len(block) == 2
        and block.get("type") == "text"
        and isinstance(block.get("text"), str)
    )


def parts_of(message: Raw, role: str, content: str, text: str | None) -> list[Part]:
    """Return the parts of *message*, whose stored role and text are *role* and *content*.

    *text* is its `single_text`.
    """
    calls = message.get("tool_calls")
    extra = calls if isinstance(calls, list) else []
    if text is not None and text == content and text.strip() and not extra:
        return _of_single_text(message, role)
    blocks = blocks_of(message)
    if blocks is not None:
        parts = [_of_block(block, message, index) for index, block in enumerate(blocks)]
    else:
        parts = _of_scalar(message, content)
    return parts + [_of_openai_call(call, message) for call in extra]


def _of_single_text(message: Raw, role: str) -> list[Part]:
    if role == "user":
        return []
    facts = _model_facts(message) | _error_fact(message)
    call_id, name = first_string(message, _IDS), first_string(message, _NAMES)
    if not facts and call_id is None and name is None:
        return []
    metadata = json_text(facts | {"topLevelReasoningOnly": True})
    return [Part("tool" if role == "tool" else "text", None, call_id, name, metadata=metadata)]


def _of_scalar(message: Raw, content: str) -> list[Part]:
    value = message.get("content")
    if isinstance(value, str):
        facts = _message_facts(message, 0)
        return [Part("text", value, metadata=json_text(facts))]
    if value is None and "content" in message and message.get("tool_calls"):
        return []
    if isinstance(message.get("command"), str) and isinstance(message.get("output"), str):
        facts = {"source": "bash-exec", "command": message["command"]}
        return [Part("text", content, metadata=json_text(facts))]
    source = "non-array-content" if "content" in message else "unknown-message-shape"
    # The whole value is in lossless_message; a second copy here serves nobody.
    return [Part("agent", content or None, metadata=json_text({"source": source}))]


def _of_block(block: Any, message: Raw, index: int) -> Part:
    facts = _message_facts(message, index)
    if not isinstance(block, dict):
        return Part("agent", None, metadata=json_text(facts | {"raw": block}))
    kind = block.get("rawType", block.get("type"))
    kind = kind if isinstance(kind, str) else ""
    part_type = _KINDS.get(kind, "agent")
    facts["rawType"] = kind
    result = _result_facts(block, kind)
    if result is not None:
        facts |= result
    elif not _is_plain(block, kind):
        facts["raw"] = block
    is_tool = part_type == "tool"
    ids = (*_IDS, "id") if is_tool else _IDS
    return Part(
        part_type,
        _text_of(block),
        first_string(block, ids) or first_string(message, _IDS),
        first_string(block, ("name", *_NAMES)) or first_string(message, _NAMES),
        _json_of(block, ("input", "arguments", "toolInput")) if is_tool else None,
        _json_of(block, ("output", "toolOutput")) if is_tool else None,
        json_text(facts),
    )


def _of_openai_call(call: Any, message: Raw) -> Part:
    function = call.get("function") if isinstance(call, dict) else None
    if not isinstance(function, dict):
        return Part("agent", None, metadata=json_text({"rawType": "tool_call", "raw": call}))
    arguments = function.get("arguments")
    return Part(
        "tool",
        None,
        first_string(call, ("id",)),
        first_string(function, ("name",)),
        arguments if isinstance(arguments, str) else json_text(arguments),
        metadata=json_text({"originalRole": message.get("role"), "rawType": "toolCall"}),
    )


def _result_facts(block: Raw, kind: str) -> dict[str, Any] | None:
    """Return what a plain Anthropic result needs beside its columns; None when it is not plain."""
    if kind != "tool_result" or block.keys() - {"is_error"} != _RESULT_KEYS:
        return None
    if not isinstance(block["tool_use_id"], str) or not block["tool_use_id"]:
        return None
    if not isinstance(block.get("is_error", False), bool):
        return None
    facts = {"isError": block["is_error"]} if "is_error" in block else {}
    if isinstance(block["content"], str):
        return facts
    return facts | {"asBlocks": True} if single_text(block) is not None else None


def _is_plain(block: Raw, kind: str) -> bool:
    if kind in _PLAIN:
        keys, value = _PLAIN[kind]
        return block.keys() == keys and isinstance(block[value], str)
    if kind in _PLAIN_CALLS:
        keys, _ = _PLAIN_CALLS[kind]
        return block.keys() == keys and all(
            isinstance(block[key], str) and block[key] for key in ("id", "name")
        )
    return False


def _text_of(block: Raw) -> str | None:
    for key in ("text", "thinking"):
        if isinstance(block.get(key), str):
            return str(block[key])
    for key in ("content", "summary"):
        inner = block.get(key)
        if isinstance(inner, str):
            return inner
        if isinstance(inner, list):
            return "\n".join(_texts(inner)) or None
    return None


def _texts(blocks: list[Any]) -> list[str]:
    return [
        block["text"]
        for block in blocks
        if isinstance(block, dict) and isinstance(block.get("text"), str)
    ]


def _json_of(block: Raw, keys: tuple[str, ...]) -> str | None:
    for key in keys:
        if key in block:
            return json_text(block[key])
    return None


def _message_facts(message: Raw, index: int) -> dict[str, Any]:
    facts: dict[str, Any] = {}
    if isinstance(message.get("role"), str):
        facts["originalRole"] = message["role"]
    if index == 0:
        facts |= _model_facts(message)
    call_id, name = first_string(message, _IDS), first_string(message, _NAMES)
    if call_id:
        facts["toolCallId"] = call_id
    if name:
        facts["toolName"] = name
    return facts | _error_fact(message)


def _model_facts(message: Raw) -> dict[str, Any]:
    if message.get("role") != "assistant":
        return {}
    found = {name: message.get(key) for name, key in _MODEL}
    return found if all(isinstance(value, str) for value in found.values()) else {}


def _error_fact(message: Raw) -> dict[str, Any]:
    is_error = message.get("isError")
    return {"isError": is_error} if isinstance(is_error, bool) else {}


def content_of(parts: list[Part]) -> list[Any]:
    """Return the content list that *parts* were made from.

    Raises:
        ValueError: If a part has neither its raw block nor columns that hold all of it.
    """
    return [_block_of(part) for part in parts]


def _block_of(part: Part) -> Any:
    facts = decode(part.metadata or "{}")
    if "raw" in facts:
        return facts["raw"]
    kind = facts.get("rawType")
    if kind in _PLAIN:
        return {"type": kind, _PLAIN[kind][1]: part.text}
    if kind in _PLAIN_CALLS:
        value = decode(part.tool_input or "null")
        return {
            "type": kind,
            "id": part.call_id,
            "name": part.tool_name,
            _PLAIN_CALLS[kind][1]: value,
        }
    if kind == "tool_result":
        return _result_of(part, facts)
    raise ValueError(f"a part of type {part.kind} does not hold its block")


def _result_of(part: Part, facts: dict[str, Any]) -> Raw:
    text = part.text
    content = [{"type": "text", "text": text}] if facts.get("asBlocks") else text
    block = {"type": "tool_result", "tool_use_id": part.call_id, "content": content}
    return block | {"is_error": facts["isError"]} if "isError" in facts else block
