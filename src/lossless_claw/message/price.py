"""What a message costs in tokens when it is sent: every string of it that a provider reads. Pure.

Payloads of media cost a fixed amount each, wherever they stand; what only the host reads costs
nothing. The parts of a message are many and small or one and large: the cost is linear in both.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from lossless_claw.message import kinds
from lossless_claw.message.encoding import json_text
from lossless_claw.message.text import is_payload
from lossless_claw.model import Raw
from lossless_claw.tokens import IMAGE_TOKENS, MESSAGE_OVERHEAD, estimate

BLOCK_OVERHEAD = 8
"""Tokens of the frame of a block that is more than text: its type, its id."""

_SENT = frozenset({
    "tool_calls", "function_call", "refusal", "audio", "name", "toolName", "reasoning_content",
    "reasoning", "reasoning_details", "output", "command", "toolCallId", "tool_call_id",
})  # fmt: skip
"""Members of a message, beside its content, that some provider is sent."""

_FRAME = frozenset({"type", "text", "thinking", "content", "arguments", "input", "function"})
"""Keys that the overhead of a block stands for."""

_DEEP = 64
_HOST_ITEM = frozenset({"id", "status", "type"})


def tokens_of(message: Raw, text: str | None) -> int:
    """Return the estimate for *message*, whose `single_text` is *text*."""
    bill = _Bill()
    if "role" not in message and "content" not in message:
        bill.add_members(message, message.keys() - _HOST_ITEM)
    else:
        if text is None:
            bill.add(message.get("content"))
        bill.add_members(message, message.keys() & _SENT)
    return MESSAGE_OVERHEAD + bill.overhead + estimate(bill.with_text(text))


class _Bill:
    """The strings of a message and the fixed costs of its frames and payloads."""

    def __init__(self) -> None:
        self.overhead = 0
        self._pieces: list[str] = []

    def with_text(self, text: str | None) -> str:
        """Return everything that is paid by length, *text* among it, as one text."""
        if not self._pieces:
            return text or ""
        return "\n".join([text, *self._pieces] if text else self._pieces)

    def add_members(self, value: Raw, keys: Iterable[str]) -> None:
        for key in sorted(keys):
            self.add(value[key])

    def add(self, value: Any, depth: int = 0, *, is_media: bool = False) -> None:
        if isinstance(value, str):
            self._add_text(value, is_media=is_media)
        elif depth > _DEEP:
            self._pieces.append(json_text(value))
        elif isinstance(value, dict):
            self._add_block(value, depth, is_media=is_media)
        elif isinstance(value, list):
            for inner in value:
                self.add(inner, depth + 1, is_media=is_media)
        elif value is not None:
            self._pieces.append(str(value))

    def _add_text(self, text: str, *, is_media: bool) -> None:
        # The payload itself is paid for by its block.
        if not (is_media and is_payload(text)):
            self._pieces.append(text)

    def _add_block(self, block: Raw, depth: int, *, is_media: bool) -> None:
        kind = block.get("type")
        if isinstance(kind, str) and kind in kinds.MEDIA and not is_media:
            is_media = True
            self.overhead += IMAGE_TOKENS
        elif kind != "text":
            self.overhead += BLOCK_OVERHEAD
        for key, value in block.items():
            if key not in _FRAME:
                self._pieces.append(key)
            if key != "type":
                self.add(value, depth + 1, is_media=is_media)
