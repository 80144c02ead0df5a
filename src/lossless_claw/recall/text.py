"""A message as text to read: everything that was said or done in it, in order. Pure.

Texts stand verbatim. What is no text is named in brackets: a call, a result, an image; thinking
is marked. Understands the message objects of OpenClaw, OpenAI, Anthropic and Responses.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from lossless_claw.message import kinds
from lossless_claw.model import Raw

_MIME_KEYS = ("mimeType", "mime_type", "media_type", "format")
_NAME_KEYS = ("name", "toolName", "tool_name", "filename", "file_name", "title")
_ARGUMENT_KEYS = ("arguments", "input", "toolInput", "action")
_THOUGHT_KEYS = ("reasoning_content", "reasoning")


def full_text(original: Raw) -> str:
    """Return all of *original* that can be read, a block a line."""
    return "\n".join(piece for piece in _message(original) if piece)


def _message(message: Raw) -> Iterator[str]:
    kind = _kind(message)
    if kind in kinds.CALLS | kinds.RESULTS | kinds.REASONING:
        yield from _block(message)
        return
    for key in _THOUGHT_KEYS:
        if isinstance(message.get(key), str) and message[key]:
            yield _thought(message[key])
    yield from _content(message.get("content"))
    if isinstance(message.get("refusal"), str):
        yield message["refusal"]
    for call in _listed(message.get("tool_calls")):
        yield from _tool_call(call)
    if isinstance(message.get("function_call"), dict):
        yield _call(message["function_call"])
    yield from _execution(message)


def _content(content: Any) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    elif isinstance(content, list):
        for block in content:
            yield from _block(block)
    elif content is not None:
        yield _json(content)


def _block(block: Any) -> Iterator[str]:
    if not isinstance(block, dict):
        yield block if isinstance(block, str) else _json(block)
        return
    kind = _kind(block)
    if kind in kinds.TEXTS and isinstance(block.get("text"), str):
        yield block["text"]
    elif kind == "redacted_thinking":
        yield "[thinking, redacted by the provider]"
    elif kind in kinds.REASONING:
        yield from _thinking(block)
    elif kind in kinds.CALLS:
        yield _call(block)
    elif kind in kinds.RESULTS:
        yield from _result(block)
    elif kind in kinds.MEDIA:
        yield _media(kind, block)
    elif kind == "refusal" and isinstance(block.get("refusal"), str):
        yield block["refusal"]
    else:
        yield _json(block)


def _thinking(block: Raw) -> Iterator[str]:
    for key in ("thinking", "text"):
        if isinstance(block.get(key), str) and block[key]:
            yield _thought(block[key])
            return
    for key in ("summary", "content"):
        for piece in _content(block.get(key)):
            yield _thought(piece)


def _thought(text: str) -> str:
    return f"[thinking]\n{text}\n[/thinking]"


def _tool_call(call: Any) -> Iterator[str]:
    if not isinstance(call, dict):
        yield _json(call)
        return
    for key in ("function", "custom"):
        if isinstance(call.get(key), dict):
            yield _call(call[key])
            return
    yield _call(call)


def _call(block: Raw) -> str:
    arguments = next((block[key] for key in _ARGUMENT_KEYS if key in block), None)
    text = (
        arguments if isinstance(arguments, str) else "" if arguments is None else _json(arguments)
    )
    return f"[call {_first(block, _NAME_KEYS) or _kind(block) or 'tool'}] {text}".rstrip(" ")


def _result(block: Raw) -> Iterator[str]:
    failed = " failed" if block.get("is_error") or block.get("isError") else ""
    yield f"[result{failed}]"
    yield from _content(block["output"] if "output" in block else block.get("content"))


def _media(kind: str, block: Raw) -> str:
    """Return what stands for a picture or a file: never its bytes."""
    inner = [block, *(value for value in block.values() if isinstance(value, dict))]
    name = next((found for part in inner if (found := _first(part, _NAME_KEYS))), "")
    mime = next((found for part in inner if (found := _first(part, _MIME_KEYS))), "")
    mime = mime or next((m for part in inner for m in _data_urls(part)), "")
    return "[" + " ".join(word for word in (kinds.medium(kind), name, mime) if word) + "]"


def _data_urls(part: Raw) -> Iterator[str]:
    for value in part.values():
        if isinstance(value, str) and value.startswith("data:"):
            yield value[5:105].partition(",")[0].partition(";")[0]


def _execution(message: Raw) -> Iterator[str]:
    """Yield a command that the user ran in the agent's shell, and its output."""
    if isinstance(message.get("command"), str):
        yield f"[call {message.get('role', 'bash')}] {message['command']}"
    if isinstance(message.get("output"), str):
        yield message["output"]


def _kind(block: Raw) -> str:
    kind = block.get("type")
    return kind if isinstance(kind, str) else ""


def _first(block: Raw, keys: tuple[str, ...]) -> str:
    return next((block[key] for key in keys if isinstance(block.get(key), str)), "")


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
