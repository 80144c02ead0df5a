"""Paired turns as messages of OpenAI chat completions, by the keys that a request may hold.

One tool message per call follows the one assistant that makes the calls of an exchange.
Media in a tool's message and in an assistant's are words: this shape has no other place.
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
    Other,
    Text,
    Thinking,
    Turn,
    is_json,
    json_text,
    note,
    stated,
)
from lossless_claw.shapes.exchange import Answer, CallIds, Exchange, Speaker, steps, words_of
from lossless_claw.shapes.media import translate

KEYS = frozenset(
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
_PLAIN_KEYS = frozenset(("role", "content", "name"))
ROLES = frozenset(("system", "developer", "user", "assistant", "tool", "function"))
_PARTS = frozenset(("image_url", "input_audio", "file"))


def render(turns: Sequence[Turn]) -> list[Raw]:
    """Return *turns* for OpenAI chat, the system head among them."""
    messages: list[Raw] = []
    for step in steps(turns, CallIds(Shape.OPENAI)):
        if isinstance(step, Exchange):
            messages.extend(_exchange(step))
        else:
            messages.extend(_plain(step))
    return messages


def _exchange(exchange: Exchange) -> Iterator[Raw]:
    answers = [answer for given in exchange.answers for answer in given]
    if _is_legacy(exchange, answers):
        yield _envelope(exchange.speakers[0].turn)
        yield from [_envelope(answer.turn) for answer in answers]
    else:
        said = [_speech(speaker) for speaker in exchange.speakers]
        yield said[0] if len(said) == 1 else _merged(said)
        yield from [_answer(answer) for answer in answers]
    for rest in exchange.rests:
        yield from _plain(rest)


def _plain(turn: Turn) -> list[Raw]:
    message = _envelope(turn)
    content = _content(turn)
    if content is None and (turn.role != "assistant" or not _speaks_otherwise(message)):
        return []
    message["content"] = content
    for key in ("tool_calls", "tool_call_id", "function_call"):
        message.pop(key, None)
    return [message]


def _envelope(turn: Turn) -> Raw:
    """Return the message's other members as given, with a role that OpenAI knows."""
    original = turn.original
    if original is None or turn.shape not in (None, Shape.OPENAI):
        return {"role": turn.role}
    message = _taken(original)
    if turn.partial or message["role"] not in ROLES:
        message["role"] = turn.role
    return message


def _taken(original: Raw) -> Raw:
    """Return the members that a request may hold; a name that is no text is none."""
    taken = KEYS if original.get("role") == "assistant" else _PLAIN_KEYS
    message = {key: original[key] for key in original if key in taken}
    if "name" in message and not isinstance(message["name"], str):
        del message["name"]
    return message


def _speaks_otherwise(message: Raw) -> bool:
    refusal = message.get("refusal")
    return isinstance(message.get("audio"), dict) or (isinstance(refusal, str) and bool(refusal))


def _content(turn: Turn) -> Any:
    """Return the content member: a string where words do, parts where given or needed."""
    native = turn.shape in (None, Shape.OPENAI)
    original = turn.original
    given = original.get("content") if original is not None and native else None
    if type(given) is str and not turn.partial and not _holds_other(turn):
        return given if given.strip() else None
    parts = [part for block in turn.blocks for part in _part(block, turn, native=native)]
    if not parts:
        return None
    if type(given) is list or not all(map(_is_bare, parts)):
        return parts
    return "\n".join([part["text"] for part in parts])


def _holds_other(turn: Turn) -> bool:
    return any(type(block) is Other for block in turn.blocks)


def _is_bare(part: Raw) -> bool:
    return part.get("type") == "text"


def _part(block: Block, turn: Turn, *, native: bool) -> list[Raw]:
    match block:
        case Call() | Thinking():
            return []
        case Text(text=text, raw=raw):
            if not text.strip() or _stands_beside(block, turn):
                return []
            return [raw if native and raw is not None else {"type": "text", "text": text}]
        case Media(raw=raw):
            return _media(block, turn, native=native)
        case Other(raw=raw) if native and _is_refusal(raw) and turn.role == "assistant":
            return [raw]
    words = stated(block)
    return [{"type": "text", "text": words}] if words.strip() else []


def _stands_beside(block: Text, turn: Turn) -> bool:
    """Whether the words are those of the `refusal` member, which is sent as it is."""
    original = turn.original
    if original is None or turn.shape is not Shape.OPENAI or block.raw is not None:
        return False
    return not original.get("content") and original.get("refusal") == block.text


def _media(block: Media, turn: Turn, *, native: bool) -> list[Raw]:
    if native and turn.original is not None and block.raw is turn.original.get("audio"):
        return []
    if turn.role == "user":
        if native and block.raw["type"] in _PARTS:
            return [block.raw]
        image = translate(block, Shape.OPENAI)
        if image is not None:
            return [image]
    return [{"type": "text", "text": note(block)}]


def _is_refusal(raw: Any) -> bool:
    return isinstance(raw, dict) and raw.get("type") == "refusal" and bool(raw.get("refusal"))


def _speech(speaker: Speaker) -> Raw:
    turn = speaker.turn
    message = _envelope(turn)
    message.pop("function_call", None)
    message["content"] = _content(turn) if not _is_blank_string(turn) else ""
    calls = [block for block in turn.blocks if type(block) is Call]
    message["tool_calls"] = [_call(c, sent) for c, sent in zip(calls, speaker.ids, strict=True)]
    return message


def _is_blank_string(turn: Turn) -> bool:
    """Whether OpenAI's own message says "" beside its calls, which it may."""
    original = turn.original
    return turn.shape is Shape.OPENAI and original is not None and original.get("content") == ""


def _call(call: Call, sent: str) -> Raw:
    raw = call.raw
    if raw is not None and raw.get("id") == sent and _is_sendable(raw):
        return raw
    arguments = call.arguments
    if not arguments.strip():
        arguments = "{}"
    elif not is_json(arguments):
        arguments = json_text(call.input)
    function = {"name": call.name or "unknown", "arguments": arguments}
    return {"id": sent, "type": "function", "function": function}


def _is_sendable(raw: Raw) -> bool:
    if raw.get("type") == "custom":
        inner = raw.get("custom")
        return isinstance(inner, dict) and isinstance(inner.get("input"), str)
    inner = raw.get("function")
    if raw.get("type") != "function" or not isinstance(inner, dict) or not inner.get("name"):
        return False
    arguments = inner.get("arguments")
    return isinstance(arguments, str) and is_json(arguments)


def _merged(said: list[Raw]) -> Raw:
    """Return several assistants that call one after the other as the one they are."""
    whole = dict(said[0])
    for message in said[1:]:
        for key, value in message.items():
            whole[key] = _joined(whole.get(key), value) if key != "role" else value
    return whole


def _joined(first: Any, second: Any) -> Any:
    if first is None or first == "":
        return second
    if isinstance(first, str) and isinstance(second, str):
        return f"{first}\n{second}" if second else first
    if isinstance(first, list) and isinstance(second, list):
        return [*first, *second]
    if isinstance(first, list) and isinstance(second, str) and second:
        return [*first, {"type": "text", "text": second}]
    if isinstance(first, str) and isinstance(second, list):
        return [{"type": "text", "text": first}, *second]
    return first


def _answer(answer: Answer) -> Raw:
    original, native = answer.turn.original, answer.turn.shape is Shape.OPENAI
    content = _result_content(answer, native=native)
    if native and original is not None and answer.result.raw is None:
        return {**_taken(original), "role": "tool", "content": content, "tool_call_id": answer.id}
    return {"role": "tool", "tool_call_id": answer.id, "content": content}


def _result_content(answer: Answer, *, native: bool) -> Any:
    content = answer.result.raw_content
    if native and type(content) is list and content and all(map(_is_text_part, content)):
        return content
    words = words_of(answer.result)
    return words if words.strip() else NO_OUTPUT


def _is_text_part(part: Any) -> bool:
    if not isinstance(part, dict) or part.get("type") != "text":
        return False
    return isinstance(part.get("text"), str) and bool(part["text"].strip())


def _is_legacy(exchange: Exchange, answers: list[Answer]) -> bool:
    """Whether this is a function_call of the older API with nothing but its function's answer."""
    turn = exchange.speakers[0].turn
    if len(exchange.speakers) != 1 or len(exchange.speakers[0].ids) != 1 or turn.partial:
        return False
    original = turn.original
    if turn.shape is not Shape.OPENAI or original is None or "tool_calls" in original:
        return False
    return _is_plain_function_call(original) and all(_is_function(a, original) for a in answers)


def _is_plain_function_call(original: Raw) -> bool:
    called = original.get("function_call")
    if not isinstance(called, dict) or not called.get("name") or "id" in called:
        return False
    content = original.get("content")
    said = content is None or isinstance(content, str)
    arguments = called.get("arguments")
    return said and isinstance(arguments, str) and is_json(arguments)


def _is_function(answer: Answer, original: Raw) -> bool:
    given = answer.turn.original
    if given is None or given.get("role") != "function" or answer.turn.partial:
        return False
    content = given.get("content")
    same = given.get("name") == original["function_call"]["name"]
    return same and isinstance(content, str) and bool(content.strip())
