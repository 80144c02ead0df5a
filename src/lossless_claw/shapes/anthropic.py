"""Paired turns as messages of Anthropic's API. Its own blocks are given back as they came.

The system head stands beside the messages, thinking is sent only as Anthropic signed it, and
all results of an exchange stand first in the one user message that follows its calls.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from lossless_claw.model import Raw, Shape
from lossless_claw.shapes.block import (
    NO_OUTPUT,
    Block,
    Call,
    Media,
    Other,
    Result,
    Text,
    Thinking,
    Turn,
    note,
    stated,
)
from lossless_claw.shapes.exchange import Answer, CallIds, Exchange, Speaker, steps
from lossless_claw.shapes.media import translate
from lossless_claw.shapes.reader import READ_TYPES, read_content


class Rendered(Struct, frozen=True):
    """What to send: `system` are text blocks of the head, only where they stand apart."""

    system: list[Raw]
    messages: list[Raw]


def render(turns: Sequence[Turn]) -> Rendered:
    """Return *turns* for Anthropic. A system turn further on speaks as a user."""
    system: list[Raw] = []
    messages: list[Raw] = []
    for step in steps(turns, CallIds(Shape.ANTHROPIC)):
        if isinstance(step, Exchange):
            messages.extend(_exchange(step))
        elif step.role == "system" and not messages:
            system.extend(_blocks(step))
        else:
            messages.extend(_plain(step))
    return Rendered(system, messages)


def _plain(turn: Turn) -> list[Raw]:
    role = "assistant" if turn.role == "assistant" else "user"
    blocks = turn.blocks
    if len(blocks) == 1 and type(blocks[0]) is Text and blocks[0].raw is None:
        return [{"role": role, "content": blocks[0].text}]
    content = _blocks(turn)
    return [{"role": role, "content": content}] if content else []


def _exchange(exchange: Exchange) -> list[Raw]:
    said = [block for speaker in exchange.speakers for block in _speech(speaker)]
    heard = [_answer(answer) for answers in exchange.answers for answer in answers]
    heard.extend([block for rest in exchange.rests for block in _blocks(rest)])
    messages: list[Raw] = [{"role": "assistant", "content": said}]
    if heard:
        messages.append({"role": "user", "content": heard})
    return messages


def _speech(speaker: Speaker) -> list[Raw]:
    return _blocks(speaker.turn, iter(speaker.ids))


def _blocks(turn: Turn, ids: Any = None) -> list[Raw]:
    said = []
    for block in turn.blocks:
        if type(block) is Call:
            said.append(_call(block, next(ids)))
        else:
            sent = _block(block, turn)
            if sent is not None:
                said.append(sent)
    return said


def _block(block: Block, turn: Turn) -> Raw | None:
    native = turn.shape is Shape.ANTHROPIC
    match block:
        case Text():
            return _text(block, native=native or turn.shape is None)
        case Thinking(raw=raw):
            return raw if native and block.signature and _is_thinking(raw) else None
        case Media():
            return _media(block, turn, native=native)
        case Other(raw=raw) if native and _is_unknown(raw):
            return dict(raw)
    return _words(stated(block))


def _media(media: Media, turn: Turn, *, native: bool) -> Raw | None:
    if turn.role == "assistant":
        return _words(note(media))
    if native and media.raw["type"] in ("image", "document"):
        return media.raw
    return translate(media, Shape.ANTHROPIC) or _words(note(media))


def _text(block: Text, *, native: bool) -> Raw | None:
    if not block.text.strip():
        return None
    if native and block.raw is not None:
        return block.raw
    return {"type": "text", "text": block.text}


def _words(text: str) -> Raw | None:
    return {"type": "text", "text": text} if text.strip() else None


def _is_thinking(raw: Raw | None) -> bool:
    return raw is not None and raw["type"] in ("thinking", "redacted_thinking")


_KNOWN = frozenset(READ_TYPES) | {"text", ""}


def _is_unknown(raw: Any) -> bool:
    """Whether a block is one of Anthropic's that this room does not know, such as a search."""
    kind = raw.get("type") if isinstance(raw, dict) else None
    return isinstance(kind, str) and kind not in _KNOWN


def _call(call: Call, sent: str) -> Raw:
    raw = call.raw
    if raw is not None and raw.get("type") == "tool_use" and isinstance(raw.get("input"), dict):
        if raw.get("id") == sent and call.name:
            return raw
        return {**raw, "id": sent, "name": call.name or "unknown"}
    return {"type": "tool_use", "id": sent, "name": call.name or "unknown", "input": call.input}


def _answer(answer: Answer) -> Raw:
    result = answer.result
    content = _result_content(result)
    raw = result.raw
    if raw is not None and raw.get("type") == "tool_result":
        if raw.get("tool_use_id") == answer.id and raw.get("content") == content:
            return raw
        return {**raw, "tool_use_id": answer.id, "content": content}
    sent: Raw = {"type": "tool_result", "tool_use_id": answer.id, "content": content}
    if result.is_error:
        sent["is_error"] = True
    return sent


def _result_content(result: Result) -> Any:
    content = result.raw_content
    if type(content) is list:
        turn = Turn("tool", (), Shape.ANTHROPIC if result.raw is not None else None)
        sent = [_block(block, turn) for block in read_content(content, "tool")]
        return [block for block in sent if block is not None] or NO_OUTPUT
    words = content if type(content) is str else _stated_content(result)
    return words if words.strip() else NO_OUTPUT


def _stated_content(result: Result) -> str:
    blocks = read_content(result.raw_content, "tool") or (Text(result.text),)
    return "\n".join(map(stated, blocks))
