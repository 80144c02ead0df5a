"""The plain text of a message, as the `content` column holds it (spec store-and-ingest 3.3).

Where the specification marks a row as a flaw, the original string stays: a JSON text is
opened only when nothing but its text would be lost, and base64 never becomes text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from lossless_claw.message import kinds
from lossless_claw.model import Raw

CALL_TYPES = frozenset(
    {"tool_use", "toolUse", "tool-use", "toolCall", "tool_call", "functionCall", "function_call"}
)
RESULT_TYPES = frozenset({"function_call_output", "tool_result", "toolResult", "tool_use_result"})

_MEDIA = tuple(kinds.MEDIA)
_MAX_DEPTH = 6
_DEEP = 100
_MAX_LINK = 256
"""Characters: a longer string of a media block is its payload."""
_MAX_JSON = 4_096
"""Characters: a longer JSON text is data, not a wrapped sentence."""

_TEXT_KEYS = ("text", "transcript", "transcription", "message", "summary")
_LIST_KEYS = ("segments", "utterances", "paragraphs", "alternatives", "words", "items", "results")
_INNER_KEYS = ("content", "output", "result", "payload", "data", "value")
_PAYLOAD = re.compile(r"(?:data:[^,]{0,200},)?[A-Za-z0-9+/_=\-\s]{257,}")

_JSON_EDGES = {"{": "}", "[": "]"}


def plain_text(message: Raw) -> str:
    """Return the text of *message* for people, search and upstream; "" when it has none."""
    if "content" not in message:
        return _without_content(message)
    content = message["content"]
    if isinstance(content, str):
        return _of_string(content)
    text = _extract(content, 0)
    if text is not None:
        return text
    if content is None or content == [] or _has_only_tools(content):
        return ""
    return json.dumps(_without_media(content), ensure_ascii=False, separators=(",", ":"))


def is_payload(text: str) -> bool:
    """Whether *text* is base64 of something: no text, whatever its block is called."""
    return len(text) > _MAX_LINK and _PAYLOAD.fullmatch(text) is not None


def _without_content(message: Raw) -> str:
    output = message.get("output")
    if not isinstance(output, str):
        return ""
    command = message.get("command")
    return f"$ {command}\n{output}" if isinstance(command, str) else output


def _of_string(text: str) -> str:
    return _unwrapped(text) or text


def _unwrapped(text: str) -> str | None:
    """Return the text inside a JSON text that holds nothing else; None otherwise."""
    if len(text) > _MAX_JSON:
        return None
    stripped = text.strip()
    if not stripped or _JSON_EDGES.get(stripped[0]) != stripped[-1]:
        return None
    try:
        value = json.loads(stripped)
    except (ValueError, RecursionError):
        return None
    inner = _extract(value, 1)
    if inner is None:
        return None
    pieces = set(inner.split("\n"))
    is_whole = all(
        isinstance(leaf, str) and pieces >= set(leaf.split("\n")) for leaf in _leaves(value)
    )
    return inner if is_whole else None


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        for key, inner in value.items():
            if key != "type":
                yield from _leaves(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _leaves(inner)
    else:
        yield value


def _extract(value: Any, depth: int) -> str | None:
    if depth > _MAX_DEPTH:
        return None
    if isinstance(value, str):
        return _of_string(value) if depth else value
    if isinstance(value, list):
        texts = [text for inner in value if (text := _extract(inner, depth + 1)) and text.strip()]
        return "\n".join(texts) if texts else None
    if isinstance(value, dict):
        return _extract_object(value, depth)
    return None


def _extract_object(value: Raw, depth: int) -> str | None:
    kind = value.get("type")
    if kind == "text" and isinstance(value.get("text"), str):
        return str(value["text"]) if value["text"].strip() else None
    if isinstance(kind, str):
        if kind in kinds.REASONING or kind in kinds.MEDIA:
            return None
        if kind in CALL_TYPES or kind in RESULT_TYPES:
            return _externalized(value, depth)
    return _first_text(value, depth)


def _externalized(value: Raw, depth: int) -> str | None:
    if value.get("toolOutputExternalized") is not True:
        return None
    for key in ("output", "content", "result"):
        text = _extract(value.get(key), depth + 1)
        if text and text.strip():
            return text
    return None


def _first_text(value: Raw, depth: int) -> str | None:
    for key in _TEXT_KEYS:
        text = value.get(key)
        if isinstance(text, str) and text.strip():
            return text
    for key in _LIST_KEYS:
        if isinstance(value.get(key), list) and (text := _extract(value[key], depth + 1)):
            return text
    for key in _INNER_KEYS:
        text = _extract(value.get(key), depth + 1)
        if text and text.strip() and not is_payload(text):
            return text
    return None


def _has_only_tools(content: Any) -> bool:
    return isinstance(content, list) and all(
        isinstance(block, dict)
        and isinstance(block.get("type"), str)
        and block["type"] in CALL_TYPES | RESULT_TYPES | kinds.REASONING
        for block in content
    )


def _without_media(value: Any, depth: int = 0, *, is_media: bool = False) -> Any:
    """Return *value* without the payloads of its media blocks; no media stands very deep."""
    if depth > _DEEP:
        return value
    if isinstance(value, list):
        return [_without_media(inner, depth + 1, is_media=is_media) for inner in value]
    if isinstance(value, dict):
        is_media = is_media or value.get("type") in _MEDIA
        return {
            key: _without_media(inner, depth + 1, is_media=is_media) for key, inner in value.items()
        }
    return "[payload]" if is_media and isinstance(value, str) and is_payload(value) else value
