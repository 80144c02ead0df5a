"""What a provider would refuse in a list of messages, as facts. It mends nothing.

The rules are written against the providers' own forms, not against how this library reads
or writes them, so that a fault in either shows.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from msgspec import Struct

from lossless_claw.errors import UsageError
from lossless_claw.model import Raw, Shape


class Fault(Struct, frozen=True):
    """One reason to refuse the list: the message's index, the rule's name, the particulars."""

    index: int
    rule: str
    detail: str


def validate(messages: Sequence[Raw], shape: Shape, *, allow_open: bool = True) -> list[Fault]:
    """Return why a provider of *shape* would refuse *messages*; empty when it accepts them.

    With *allow_open*, calls of the last exchange may still wait for results.

    Raises:
        UsageError: The shape is OpenAI Responses, which is read but not written.
    """
    rules = _RULES.get(shape)
    if rules is None:
        raise UsageError(f"there are no rules for the shape {shape.value!r}")
    return list(rules(messages, allow_open=allow_open))


class _Rules(Protocol):
    def __call__(self, messages: Sequence[Raw], *, allow_open: bool) -> Iterator[Fault]: ...


# --- OpenAI chat -----------------------------------------------------------------------

_CHAT_ROLES = ("system", "developer", "user", "assistant", "tool", "function")
_CHAT_KEYS = frozenset(
    (
        "role",
        "content",
        "name",
        "tool_calls",
        "tool_call_id",
        "refusal",
        "audio",
        "function_call",
        "reasoning_content",
        "reasoning",
        "reasoning_details",
        "annotations",
    )
)
_CHAT_PARTS = ("text", "refusal", "image_url", "input_audio", "file")


def _chat(messages: Sequence[Raw], *, allow_open: bool) -> Iterator[Fault]:
    waiting: list[str] = []
    for index, message in enumerate(messages):
        role = message.get("role")
        if role not in _CHAT_ROLES:
            yield Fault(index, "role", f"{role!r} is no role")
        yield from _chat_keys(index, message)
        yield from _chat_content(index, message)
        if role == "tool":
            yield from _answered(index, _id(message.get("tool_call_id")), waiting)
        elif role == "function":
            yield from _answered(index, _function_id(message), waiting)
        else:
            yield from _unanswered(index, waiting)
            yield from _chat_calls(index, message)
            waiting = _chat_made(message)
    if not allow_open:
        yield from _unanswered(len(messages), waiting)


def _chat_calls(index: int, message: Raw) -> Iterator[Fault]:
    for call in _listed(message.get("tool_calls")):
        yield from _chat_call(index, call)
    if message.get("function_call") is not None:
        yield from _chat_function(index, message["function_call"])
    yield from _used_twice(index, _chat_made(message), set())


def _chat_made(message: Raw) -> list[str]:
    made = [_id(c.get("id")) for c in _listed(message.get("tool_calls")) if isinstance(c, dict)]
    legacy = message.get("function_call")
    return [*made, _function_id(legacy)] if isinstance(legacy, dict) else made


def _function_id(named: Raw) -> str:
    """What stands for an id where the older API has only the function's name."""
    return f"function {named.get('name')!r}"


def _chat_keys(index: int, message: Raw) -> Iterator[Fault]:
    for key in message:
        if key not in _CHAT_KEYS:
            yield Fault(index, "key", f"{key!r} is not taken in a request")
    calls = message.get("tool_calls")
    if calls is not None and (message.get("role") != "assistant" or not _listed(calls)):
        yield Fault(index, "tool-calls", "must be a list with calls, of an assistant")


def _chat_content(index: int, message: Raw) -> Iterator[Fault]:
    content, role = message.get("content"), message.get("role")
    beside = role == "assistant" and any(
        message.get(key) for key in ("tool_calls", "function_call", "refusal", "audio")
    )
    if content is None or (content == "" and beside):
        if not beside:
            yield Fault(index, "empty", "there is no content")
    elif isinstance(content, str):
        if not content.strip():
            yield Fault(index, "empty", "the content is blank")
    elif not isinstance(content, list) or not content:
        yield Fault(index, "content", "must be a string or a list with parts")
    else:
        for part in content:
            yield from _chat_part(index, part, role)


def _chat_part(index: int, part: Any, role: Any) -> Iterator[Fault]:
    kind = part.get("type") if isinstance(part, dict) else None
    if kind not in _CHAT_PARTS:
        yield Fault(index, "part", f"{kind!r} is no part of a message")
    elif kind == "text":
        if not isinstance(part.get("text"), str) or not part["text"].strip():
            yield Fault(index, "empty", "a text part is blank")
    elif kind == "refusal" and role != "assistant":
        yield Fault(index, "part", "only an assistant refuses")
    elif kind != "refusal" and role != "user":
        yield Fault(index, "part", f"{kind!r} is taken of a user only")


def _chat_call(index: int, call: Any) -> Iterator[Fault]:
    if not isinstance(call, dict) or not _is_word(call.get("id")):
        yield Fault(index, "call-id", "a call has no id")
        return
    if call.get("type") == "custom":
        inner = call.get("custom")
        if not isinstance(inner, dict) or not isinstance(inner.get("input"), str):
            yield Fault(index, "arguments", "a custom call has no input")
        return
    if call.get("type") != "function":
        yield Fault(index, "tool-calls", "a call is neither function nor custom")
    yield from _chat_function(index, call.get("function"))


def _chat_function(index: int, function: Any) -> Iterator[Fault]:
    if not isinstance(function, dict) or not _is_word(function.get("name")):
        yield Fault(index, "name", "a call names no function")
        return
    try:
        json.loads(function["arguments"])
    except (KeyError, TypeError, ValueError, RecursionError):
        yield Fault(index, "arguments", "are not JSON text")


# --- Anthropic -------------------------------------------------------------------------

_TOOL_ID = r"[a-zA-Z0-9_-]+"


def _anthropic(messages: Sequence[Raw], *, allow_open: bool) -> Iterator[Fault]:
    if messages and messages[0].get("role") != "user":
        yield Fault(0, "first", "the first message must be a user's")
    seen: set[str] = set()
    waiting: list[str] = []
    for index, message in enumerate(messages):
        if set(message) != {"role", "content"}:
            yield Fault(index, "key", f"{sorted(message)} are not role and content")
        if message.get("role") not in ("user", "assistant"):
            yield Fault(index, "role", f"{message.get('role')!r} is no role")
        blocks = _anthropic_blocks(message.get("content"))
        if not blocks:
            yield Fault(index, "empty", "there is no content")
        for block in blocks:
            yield from _anthropic_block(index, block, message.get("role"))
        yield from _anthropic_answers(index, blocks, waiting)
        is_last = index == len(messages) - 1
        if not (allow_open and is_last and _are_only(blocks, "tool_result")):
            yield from _unanswered(index, waiting)
        waiting = [_id(block.get("id")) for block in blocks if block.get("type") == "tool_use"]
        yield from _used_twice(index, waiting, seen)
        seen.update(waiting)
    if not allow_open:
        yield from _unanswered(len(messages), waiting)


def _used_twice(index: int, made: list[str], seen: set[str]) -> Iterator[Fault]:
    for call_id, count in Counter(made).items():
        if count > 1 or call_id in seen:
            yield Fault(index, "call-id", f"{call_id!r} is used twice")


def _anthropic_blocks(content: Any) -> list[Raw]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    if not isinstance(content, list):
        return []
    return [block if isinstance(block, dict) else {"type": None} for block in content]


def _anthropic_block(index: int, block: Raw, role: Any) -> Iterator[Fault]:
    kind = block.get("type")
    if not _is_word(kind):
        yield Fault(index, "block", "a block has no type")
    elif kind == "text":
        if not isinstance(block.get("text"), str) or not block["text"].strip():
            yield Fault(index, "empty", "a text block is blank")
    elif kind in ("thinking", "redacted_thinking"):
        if role != "assistant" or not _is_word(block.get("signature", block.get("data"))):
            yield Fault(index, "thinking", "must be an assistant's and signed")
    elif kind == "tool_use":
        yield from _anthropic_call(index, block, role)
    elif kind == "tool_result":
        yield from _anthropic_result(index, block, role)
    elif kind in ("image", "document") and (
        role != "user" or not isinstance(block.get("source"), dict)
    ):
        yield Fault(index, "media", f"{kind} must be a user's and have a source")


def _anthropic_call(index: int, block: Raw, role: Any) -> Iterator[Fault]:
    if role != "assistant":
        yield Fault(index, "role", "only an assistant calls")
    if not isinstance(block.get("id"), str) or not re.fullmatch(_TOOL_ID, block["id"]):
        yield Fault(index, "call-id", f"{block.get('id')!r} is not well formed")
    if not _is_word(block.get("name")):
        yield Fault(index, "name", "a call names no tool")
    if not isinstance(block.get("input"), dict):
        yield Fault(index, "arguments", "the input is no object")


def _anthropic_result(index: int, block: Raw, role: Any) -> Iterator[Fault]:
    if role != "user":
        yield Fault(index, "role", "only a user hands in results")
    inner = _anthropic_blocks(block.get("content"))
    if not inner:
        yield Fault(index, "empty", "a result has no content")
    for part in inner:
        if part.get("type") in ("tool_use", "tool_result", "thinking"):
            yield Fault(index, "block", f"{part['type']} inside a result")
        yield from _anthropic_block(index, part, "user")


def _anthropic_answers(index: int, blocks: list[Raw], waiting: list[str]) -> Iterator[Fault]:
    """Take what *blocks* answer out of *waiting*."""
    others = False
    for block in blocks:
        if block.get("type") != "tool_result":
            others = True
            continue
        if others:
            yield Fault(index, "order", "a result stands behind other blocks")
        yield from _answered(index, _id(block.get("tool_use_id")), waiting)


# --- OpenClaw --------------------------------------------------------------------------

_CLAW_ROLES = ("user", "assistant", "toolResult", "system", "bashExecution")


def _openclaw(messages: Sequence[Raw], *, allow_open: bool) -> Iterator[Fault]:
    waiting: list[str] = []
    for index, message in enumerate(messages):
        role = message.get("role")
        if role not in _CLAW_ROLES:
            yield Fault(index, "role", f"{role!r} is no role")
        if role != "bashExecution" and not _shows(message.get("content")):
            yield Fault(index, "empty", "the message shows nothing")
        if role == "toolResult":
            yield from _answered(index, _id(message.get("toolCallId")), waiting)
            continue
        yield from _unanswered(index, waiting)
        made = [b for b in _listed(message.get("content")) if _is_claw_call(b)]
        for call in made:
            if not _is_word(call.get("id")) or not isinstance(call.get("arguments"), dict):
                yield Fault(index, "call", "a call has no id, or no object of arguments")
        waiting = [_id(call.get("id")) for call in made] if role == "assistant" else []
    if not allow_open:
        yield from _unanswered(len(messages), waiting)


def _is_claw_call(block: Any) -> bool:
    return isinstance(block, dict) and block.get("type") == "toolCall"


def _shows(content: Any) -> bool:
    if isinstance(content, str):
        return bool(content.strip())
    if not isinstance(content, list):
        return content is not None
    return any(_block_shows(block) for block in content)


def _block_shows(block: Any) -> bool:
    if not isinstance(block, dict):
        return bool(block.strip()) if isinstance(block, str) else True
    if block.get("type") == "text":
        text = block.get("text")
        return not isinstance(text, str) or bool(text.strip())
    return block.get("type") not in ("thinking", "redacted_thinking", "reasoning")


# --- shared ----------------------------------------------------------------------------


def _id(value: Any) -> str:
    return value if isinstance(value, str) else repr(value)


def _answered(index: int, call_id: str, waiting: list[str]) -> Iterator[Fault]:
    """Take *call_id* out of *waiting*, where it must be."""
    if call_id in waiting:
        waiting.remove(call_id)
    else:
        yield Fault(index, "result-without-call", f"{call_id!r} is not waited for")


def _unanswered(index: int, waiting: Sequence[str]) -> Iterator[Fault]:
    for call_id, count in Counter(waiting).items():
        yield Fault(index, "call-without-result", f"{call_id!r} is not answered ({count})")


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _are_only(blocks: Sequence[Raw], kind: str) -> bool:
    return all(block.get("type") == kind for block in blocks)


def _is_word(value: Any) -> bool:
    return isinstance(value, str) and bool(value)


_RULES: dict[Shape, _Rules] = {
    Shape.OPENAI: _chat,
    Shape.ANTHROPIC: _anthropic,
    Shape.OPENCLAW: _openclaw,
}
