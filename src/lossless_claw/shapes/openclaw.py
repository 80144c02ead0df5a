"""Paired turns as messages of OpenClaw (pi). Its own messages are given back as they came.

One toolResult message per call follows each assistant that calls.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from lossless_claw.model import Raw, Shape
from lossless_claw.shapes.block import (
    NO_OUTPUT,
    Block,
    Call,
    Media,
    Text,
    Thinking,
    Turn,
    note,
    stated,
)
from lossless_claw.shapes.exchange import Answer, CallIds, Exchange, Speaker, steps
from lossless_claw.shapes.media import translate
from lossless_claw.shapes.reader import read_content

ROLES = frozenset(("user", "assistant", "toolResult", "system", "bashExecution"))


def render(turns: Sequence[Turn]) -> list[Raw]:
    """Return *turns* for OpenClaw, the system head among them."""
    messages: list[Raw] = []
    for step in steps(turns, CallIds(Shape.OPENCLAW)):
        if isinstance(step, Exchange):
            messages.extend(_exchange(step))
        else:
            messages.extend(_message(step))
    return messages


def _exchange(exchange: Exchange) -> Iterator[Raw]:
    if _waits_in_the_middle(exchange):
        yield _merged(exchange.speakers)
        yield from [_answer(answer) for answers in exchange.answers for answer in answers]
    else:
        for speaker, answers in zip(exchange.speakers, exchange.answers, strict=True):
            yield from _speech(speaker)
            yield from [_answer(answer) for answer in answers]
    for rest in exchange.rests:
        yield from _message(rest)


def _waits_in_the_middle(exchange: Exchange) -> bool:
    """Whether a call is open that is not the last assistant's: nothing may stand behind it."""
    sides = list(zip(exchange.speakers, exchange.answers, strict=True))
    return any(len(answers) < len(speaker.ids) for speaker, answers in sides[:-1])


def _merged(speakers: Sequence[Speaker]) -> Raw:
    said = [message for speaker in speakers for message in _speech(speaker)]
    content = [block for message in said for block in message["content"]]
    return {**said[0], "content": content}


def _speech(speaker: Speaker) -> list[Raw]:
    turn = speaker.turn
    if turn.shape is Shape.OPENCLAW and not turn.partial and turn.original is not None:
        calls = [block for block in turn.blocks if type(block) is Call]
        if all(_is_whole(c, sent) for c, sent in zip(calls, speaker.ids, strict=True)):
            return [turn.original]
    if turn.shape is Shape.OPENCLAW and turn.original is not None:
        return _rebuilt(turn, turn.original, iter(speaker.ids))
    return _converted(turn, iter(speaker.ids))


def _message(turn: Turn) -> list[Raw]:
    original = turn.original
    if original is not None and turn.shape in (None, Shape.OPENCLAW):
        if not turn.partial and _speaks_for_itself(original):
            return [original]
        return _rebuilt(turn, original, iter(()))
    return _converted(turn, iter(()))


def _speaks_for_itself(original: Raw) -> bool:
    """Whether what is shown of a message stands where OpenClaw looks for it."""
    role = original.get("role")
    return role == "bashExecution" or (role in ROLES and bool(original.get("content")))


def _rebuilt(turn: Turn, original: Raw, ids: Iterator[str]) -> list[Raw]:
    """Return OpenClaw's own message with what its blocks are now."""
    content = _blocks(turn, ids)
    return [{**original, "role": turn.role, "content": content}] if content else []


def _converted(turn: Turn, ids: Iterator[str]) -> list[Raw]:
    texts = [block for block in turn.blocks if type(block) is Text]
    if turn.role != "assistant" and len(texts) == len(turn.blocks) == 1:
        return [{"role": turn.role, "content": texts[0].text}]
    content = _blocks(turn, ids)
    return [{"role": turn.role, "content": content}] if content else []


def _blocks(turn: Turn, ids: Iterator[str]) -> list[Raw]:
    said = []
    for block in turn.blocks:
        sent = _call(block, next(ids)) if type(block) is Call else _block(block, turn)
        if sent is not None:
            said.append(sent)
    return said


def _block(block: Block, turn: Turn) -> Any:
    native = turn.shape in (None, Shape.OPENCLAW)
    match block:
        case Text(text=text, raw=raw):
            if not text.strip():
                return None
            return raw if native and raw is not None else {"type": "text", "text": text}
        case Thinking(raw=raw):
            return raw if native else None
        case Media(raw=raw):
            if native and raw["type"] == "image":
                return raw
            image = None if turn.role == "assistant" else translate(block, Shape.OPENCLAW)
            return image or {"type": "text", "text": note(block)}
    return {"type": "text", "text": stated(block)}


def _is_whole(call: Call, sent: str) -> bool:
    raw = call.raw
    return (
        raw is not None
        and raw.get("type") == "toolCall"
        and raw.get("id") == sent
        and isinstance(raw.get("arguments"), dict)
    )


def _call(call: Call, sent: str) -> Raw:
    if _is_whole(call, sent) and call.raw is not None:
        return call.raw
    name = call.name or "unknown"
    return {"type": "toolCall", "id": sent, "name": name, "arguments": call.input}


def _answer(answer: Answer) -> Raw:
    turn, result = answer.turn, answer.result
    content = _result_content(answer)
    original = turn.original
    if original is not None and result.raw is None and turn.shape is Shape.OPENCLAW:
        same = original.get("role") == "toolResult" and original.get("toolCallId") == answer.id
        if same and original.get("content") == content:
            return original
        return {**original, "role": "toolResult", "toolCallId": answer.id, "content": content}
    return {
        "role": "toolResult",
        "toolCallId": answer.id,
        "toolName": answer.name or "unknown",
        "content": content,
        "isError": result.is_error is True,
    }


def _result_content(answer: Answer) -> Any:
    result = answer.result
    content = result.raw_content
    native = answer.turn.shape is Shape.OPENCLAW and result.raw is None
    if native and (result.text.strip() if type(content) is str else _says_something(content)):
        return content
    if type(content) is str:
        words = content if content.strip() else NO_OUTPUT
        return [{"type": "text", "text": words}]
    turn = Turn("tool", (), Shape.OPENCLAW if native else answer.turn.shape)
    blocks = read_content(content, "tool") or (Text(result.text),)
    sent = [_block(block, turn) for block in blocks]
    return [b for b in sent if b is not None] or [{"type": "text", "text": NO_OUTPUT}]


def _says_something(content: Any) -> bool:
    if type(content) is not list:
        return False
    for block in content:
        if type(block) is not dict:
            return False
        text = block.get("text")
        if block.get("type") != "text" or (type(text) is str and text.strip()):
            return True
    return False
