"""Any provider's message as a `Turn`, whatever is wrong with it. Never raises, never mends.

One table serves every shape, because hosts mix them: a block is known by its type. What has
the wrong type becomes `Other` and so stays visible.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lossless_claw.model import Raw, Shape
from lossless_claw.shapes import openai_responses
from lossless_claw.shapes.block import Block, Call, Media, Other, Result, Text, Thinking, Turn
from lossless_claw.shapes.detect import detect

_ROLES = {
    "user": "user",
    "assistant": "assistant",
    "system": "system",
    "developer": "system",
    "tool": "tool",
    "toolResult": "tool",
    "function": "tool",
    "bashExecution": "user",
}
_KINDS: dict[str, str] = {"image_url": "image", "input_audio": "audio"}
_CALL_IDS = ("tool_use_id", "toolUseId", "toolCallId", "tool_call_id", "call_id")


def parse(message: Raw) -> Turn:
    """Return *message* as blocks. Never raises, for any JSON object.

    A role that no provider takes gives the role `unknown` with one `Other`. A user message
    of nothing but tool results has the role `tool` (spec store-and-ingest 3.1, 3.2).
    """
    shape = detect(message)
    if shape is Shape.RESPONSES:
        return openai_responses.parse(message)
    given = message.get("role")
    role = _ROLES.get(given) if isinstance(given, str) else None
    if role is None:
        return Turn("unknown", (Other(message),), shape, message)
    if role == "tool":
        return Turn("tool", (_message_result(message),), shape, message)
    if given == "bashExecution":
        return Turn(role, _shell_run(message), shape, message)
    blocks = read_content(message.get("content"), role)
    if role == "assistant":
        extra = _beside_content(message, has_content=bool(blocks))
        return Turn(role, (*blocks, *extra) if extra else blocks, shape, message)
    if role == "user" and blocks and all(type(block) is Result for block in blocks):
        role = "tool"
    return Turn(role, blocks, shape, message)


def read_content(content: Any, role: str) -> tuple[Block, ...]:
    """Return the blocks of a content member that stands in a message of *role*."""
    if type(content) is str:
        return (Text(content),)
    if type(content) is list:
        return tuple([read_block(element, role) for element in content])
    return () if content is None else (Other(content),)


def read_block(raw: Any, role: str) -> Block:
    """Return one element of a content list; a call is one only where an assistant speaks."""
    if type(raw) is not dict:
        return Text(raw) if type(raw) is str else Other(raw)
    kind = raw.get("type")
    if kind == "text":
        text = raw.get("text")
        return Text(text, raw) if type(text) is str else Other(raw)
    read = _READERS.get(kind) if type(kind) is str else None
    return Other(raw) if read is None else read(raw, role)


def result_text(content: Any) -> str:
    """Return the words in a result's content, blocks joined by newline."""
    if type(content) is str:
        return content
    if type(content) is not list:
        return ""
    found = [block.text for block in read_content(content, "tool") if type(block) is Text]
    return found[0] if len(found) == 1 else "\n".join(found)


def _thinking(raw: Raw, _role: str) -> Block:
    if raw["type"] == "redacted_thinking":
        return Thinking("", text_or_none(raw.get("data")), raw)
    text = raw.get("thinking", raw.get("text"))
    signature = raw.get("signature", raw.get("thinkingSignature"))
    return Thinking(text if isinstance(text, str) else "", text_or_none(signature), raw)


def _call(raw: Raw, role: str) -> Block:
    name = raw.get("name")
    if role != "assistant" or not isinstance(name, str):
        return Other(raw)
    given = next((raw[key] for key in ("arguments", "input", "toolInput") if key in raw), None)
    return Call(_first_text(raw, ("call_id", "id", *_CALL_IDS)), name, given, raw)


def _result(raw: Raw, role: str) -> Block:
    if role not in ("user", "tool"):
        return Other(raw)
    content = raw.get("content", raw.get("output"))
    name = text_or_none(raw.get("name", raw.get("toolName")))
    call_id = _first_text(raw, _CALL_IDS)
    return Result(call_id, name, result_text(content), _error(raw), content, raw)


def _media(raw: Raw, _role: str) -> Block:
    source = raw.get("source", raw.get("file", raw))
    source = source if isinstance(source, dict) else raw
    mime = source.get("media_type", source.get("mimeType"))
    name = raw.get("title", source.get("filename", raw.get("name")))
    kind: str = _KINDS.get(raw["type"]) or raw["type"]
    return Media(kind, text_or_none(mime) or _mime_of(raw), text_or_none(name), raw)


_READERS: dict[str, Callable[[Raw, str], Block]] = {
    **dict.fromkeys(("thinking", "redacted_thinking", "reasoning"), _thinking),
    **dict.fromkeys(
        (
            "toolCall",
            "toolUse",
            "tool_use",
            "tool-use",
            "tool_call",
            "functionCall",
            "function_call",
        ),
        _call,
    ),
    **dict.fromkeys(
        ("tool_result", "toolResult", "tool_use_result", "function_call_output"), _result
    ),
    **dict.fromkeys(("image", "image_url", "input_audio", "document", "file"), _media),
}


READ_TYPES = frozenset(_READERS)
"""The types of blocks, beside text, that are read; in the wrong place they become `Other`."""


def _message_result(message: Raw) -> Result:
    content = message.get("content")
    call_id = _first_text(message, ("toolCallId", "tool_call_id", *_CALL_IDS))
    many = message.get("tool_call_ids")
    if not call_id and isinstance(many, list) and len(many) == 1:
        call_id = text_or_none(many[0]) or ""
    name = text_or_none(message.get("toolName", message.get("name")))
    return Result(call_id, name, result_text(content), _error(message), content)


def _shell_run(message: Raw) -> tuple[Block, ...]:
    # A command that its user kept from the model stays kept from it.
    if message.get("excludeFromContext") is True:
        return ()
    command, output = message.get("command"), message.get("output")
    if not isinstance(command, str) or not isinstance(output, str):
        return read_content(message.get("content"), "user")
    return (Text(f"$ {command}\n{output}"),)


def _beside_content(message: Raw, *, has_content: bool) -> list[Block]:
    """The blocks of an assistant that OpenAI chat keeps in members of their own."""
    found: list[Block] = []
    reasoning = message.get("reasoning_content")
    if isinstance(reasoning, str) and reasoning.strip():
        found.append(Thinking(reasoning))
    refusal = message.get("refusal")
    if not has_content and isinstance(refusal, str):
        found.append(Text(refusal))
    if isinstance(message.get("audio"), dict):
        found.append(Media("audio", None, None, message["audio"]))
    called = message.get("tool_calls")
    if isinstance(called, list):
        found.extend([_chat_call(raw) for raw in called])
    elif called is not None:
        found.append(Other(called))
    legacy = message.get("function_call")
    if legacy is not None:
        found.append(_chat_call(legacy))
    return found


def _chat_call(raw: Any) -> Block:
    if not isinstance(raw, dict):
        return Other(raw)
    inner = raw.get("function", raw.get("custom", raw))
    if not isinstance(inner, dict) or not isinstance(inner.get("name"), str):
        return Other(raw)
    given = inner.get("arguments", inner.get("input"))
    return Call(text_or_none(raw.get("id")) or "", inner["name"], given, raw)


def _mime_of(raw: Raw) -> str | None:
    linked = raw.get("image_url")
    url = linked.get("url") if isinstance(linked, dict) else linked
    if isinstance(url, str) and url.startswith("data:"):
        return url[5:].partition(",")[0].partition(";")[0] or None
    return None


def _error(raw: Raw) -> bool | None:
    flag = raw.get("is_error", raw.get("isError"))
    return flag if isinstance(flag, bool) else None


def _first_text(raw: Raw, keys: tuple[str, ...]) -> str:
    for key in keys:
        value = raw.get(key)
        if type(value) is str and value:
            return value
    return ""


def text_or_none(value: Any) -> str | None:
    """Return *value* when it is text."""
    return value if isinstance(value, str) else None
