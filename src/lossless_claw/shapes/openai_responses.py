"""Items of the OpenAI Responses API (Codex) as turns. They are read here, never written."""

from __future__ import annotations

from typing import Any

from lossless_claw.model import Raw, Shape
from lossless_claw.shapes.block import Block, Call, Media, Other, Result, Text, Thinking, Turn

_ROLES = {"user": "user", "assistant": "assistant", "system": "system", "developer": "system"}
_GIVEN = {"function_call": "arguments", "custom_tool_call": "input", "local_shell_call": "action"}


def parse(item: Raw) -> Turn:
    """Return *item* as a turn; never raises.

    An item without a role is the assistant's own work, except a call's output: a tool's.
    """
    kind = item.get("type")
    if isinstance(item.get("role"), str):
        return _message(item)
    if kind == "reasoning":
        return _turn("assistant", Thinking(_reasoning(item), None, item), item)
    if isinstance(kind, str) and kind in _GIVEN:
        return _turn("assistant", _call(item, kind), item)
    if isinstance(kind, str) and kind.endswith("_output"):
        return _turn("tool", _result(item), item)
    return _turn("assistant", Other(item), item)


def _turn(role: str, block: Block, item: Raw) -> Turn:
    return Turn(role, (block,), Shape.RESPONSES, item)


def _message(item: Raw) -> Turn:
    role = _ROLES.get(item["role"])
    if role is None:
        return Turn("unknown", (Other(item),), Shape.RESPONSES, item)
    content = item.get("content")
    if isinstance(content, str):
        return _turn(role, Text(content), item)
    blocks = tuple([_part(part) for part in content]) if isinstance(content, list) else ()
    return Turn(role, blocks, Shape.RESPONSES, item)


def _part(part: Any) -> Block:
    if not isinstance(part, dict):
        return Other(part)
    text = part.get("text", part.get("refusal"))
    if isinstance(text, str):
        return Text(text, part)
    if part.get("type") == "input_image":
        return Media("image", _mime(part.get("image_url")), None, part)
    return Other(part)


def _mime(url: Any) -> str | None:
    if not isinstance(url, str) or not url.startswith("data:"):
        return None
    return url[5:].partition(",")[0].partition(";")[0] or None


def _reasoning(item: Raw) -> str:
    summary = item.get("summary")
    parts = [_part(part) for part in summary] if isinstance(summary, list) else []
    return _joined(parts)


def _joined(parts: list[Block]) -> str:
    return "\n".join(part.text for part in parts if isinstance(part, Text))


def _call(item: Raw, kind: str) -> Block:
    call_id = item.get("call_id", item.get("id"))
    name = item.get("name", "local_shell" if kind == "local_shell_call" else None)
    if not isinstance(name, str):
        return Other(item)
    return Call(call_id if isinstance(call_id, str) else "", name, item.get(_GIVEN[kind]), item)


def _result(item: Raw) -> Block:
    call_id, output = item.get("call_id", item.get("id")), item.get("output")
    parts = [_part(part) for part in output] if isinstance(output, list) else []
    text = output if isinstance(output, str) else _joined(parts)
    return Result(call_id if isinstance(call_id, str) else "", None, text, None, output, item)
