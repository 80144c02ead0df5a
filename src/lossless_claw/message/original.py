"""What the columns do not hold of a message, packed, and the original put together again.

`rest` is the message as JSON with its text replaced by a hole, deflated with a dictionary of
what such messages usually say. None means the plain `{"role": ..., "content": text}`.
A checksum guards it; the text itself is guarded by the full-content hash (G1).
"""

from __future__ import annotations

import zlib
from enum import IntEnum
from typing import Any

from lossless_claw.message.encoding import decode, encode
from lossless_claw.message.parts import content_of
from lossless_claw.model import Part, Raw


class Hole(IntEnum):
    """Where the text that the columns hold was cut out of the original."""

    NONE = 0
    """Nowhere: `rest` is the whole message."""
    CONTENT = 1
    """`content` is the string of `messages.content`."""
    BLOCK = 2
    """`content` is one plain text block of it."""
    PARTS = 3
    """`content` is the list that the parts give."""
    OUTPUT = 4
    """`output` is the string of `messages.content`."""


class DamagedError(ValueError):
    """The stored rest or parts of a message cannot be read."""


_DICTIONARY = (
    b'{"type":"function_call_output","call_id":"call_","output":0,"status":"completed"}'
    b'{"id":"msg_01","type":"message","role":"assistant","model":"claude-opus-sonnet-4-5-2025",'
    b'"content":0,"stop_reason":"end_turn","stop_reason":"tool_use","stop_sequence":null,"usage":'
    b'{"input_tokens":,"cache_creation_input_tokens":,"cache_read_input_tokens":,"cache_creation":'
    b'{"ephemeral_5m_input_tokens":0,"ephemeral_1h_input_tokens":0},"output_tokens":,'
    b'"service_tier":"standard"}}{"role":"tool","tool_call_id":"call_","name":"","content":0}'
    b'{"role":"assistant","content":null,"tool_calls":[{"id":"call_","type":"function","function":'
    b'{"name":"","arguments":"{\\""}}]}{"role":"toolResult","toolCallId":"toolu_01","toolName":'
    b'"bash","read","exec","content":0,"isError":true,"isError":false,"timestamp":1767}'
    b'{"role":"user","content":0,"timestamp":1767}'
    b'{"role":"assistant","content":0,"api":"openai-completions","api":"openai-responses",'
    b'"api":"anthropic-messages","provider":"openai","provider":"anthropic","model":"claude-",'
    b'"usage":{"input":,"output":,"cacheRead":,"cacheWrite":0,"totalTokens":,"cost":{"input":0,'
    b'"output":0,"cacheRead":0,"cacheWrite":0,"total":0}},"stopReason":"toolUse",'
    b'"stopReason":"stop","timestamp":1767'
)
_RAW_DEFLATE = -12


def pack(
    message: Raw, role: str, content: str, parts: list[Part], text: str | None
) -> bytes | None:
    """Return what restores *message* beside *content* and *parts*; None when nothing is needed.

    The message is rebuilt from what would be stored and compared; where that differs (lone
    surrogates, shapes that no column holds), all of it is kept. *text* is its `single_text`.
    """
    hole = _hole(message, content, parts, text)
    if hole is Hole.CONTENT and message.keys() == {"role", "content"} and message["role"] == role:
        return None
    return bytes([hole]) + _deflate(_with_hole(message, hole), hole)


def restore(role: str, content: str, parts: list[Part], rest: bytes | None) -> Raw:
    """Return the original message.

    Raises:
        DamagedError: If what is stored of it cannot be read.
    """
    if rest is None:
        return {"role": role, "content": content}
    try:
        message: Raw = _inflate(rest[1:], rest[0])
        return _filled(message, Hole(rest[0]), content, parts)
    except (ValueError, zlib.error, IndexError, KeyError, TypeError) as error:
        raise DamagedError(str(error)) from error


def _hole(message: Raw, content: str, parts: list[Part], text: str | None) -> Hole:
    value = message.get("content")
    if isinstance(value, str):
        return Hole.CONTENT if value == content else Hole.NONE
    if isinstance(value, list):
        if value and text == content:
            return Hole.BLOCK
        return Hole.PARTS if _is_rebuilt(value, parts) else Hole.NONE
    if "content" not in message and content and message.get("output") == content:
        return Hole.OUTPUT
    return Hole.NONE


def _is_rebuilt(blocks: list[Any], parts: list[Part]) -> bool:
    try:
        return bool(blocks) and content_of(parts[: len(blocks)]) == blocks
    except (ValueError, KeyError, TypeError, RecursionError):
        return False


def _with_hole(message: Raw, hole: Hole) -> Raw:
    if hole is Hole.NONE:
        return message
    key = "output" if hole is Hole.OUTPUT else "content"
    filler = len(message["content"]) if hole is Hole.PARTS else 0
    return {name: filler if name == key else value for name, value in message.items()}


def _filled(message: Raw, hole: Hole, content: str, parts: list[Part]) -> Raw:
    if hole is Hole.CONTENT:
        message["content"] = content
    elif hole is Hole.OUTPUT:
        message["output"] = content
    elif hole is Hole.BLOCK:
        message["content"] = [{"type": "text", "text": content}]
    elif hole is Hole.PARTS:
        message["content"] = content_of(parts[: message["content"]])
    return message


def _deflate(message: Raw, hole: Hole) -> bytes:
    data = encode(message)
    packer = zlib.compressobj(6, zlib.DEFLATED, _RAW_DEFLATE, 5, zdict=_DICTIONARY)
    return zlib.crc32(data, hole).to_bytes(4, "big") + packer.compress(data) + packer.flush()


def _inflate(data: bytes, hole: int) -> Any:
    unpacker = zlib.decompressobj(_RAW_DEFLATE, zdict=_DICTIONARY)
    text = unpacker.decompress(data[4:]) + unpacker.flush()
    if zlib.crc32(text, hole) != int.from_bytes(data[:4], "big"):
        raise ValueError("the checksum of the stored message does not match")
    return decode(text)
