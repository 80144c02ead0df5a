"""What every provider's message is made of, once its own spelling is set aside.

Values and the questions asked of one of them. Nothing here knows how a provider writes a
block (the shape rooms do) or which result answers which call (`assemble.pairing` does).
`raw` is always the object as handed in, so that a native shape is given back unchanged.
"""

from __future__ import annotations

import json
from typing import Any, TypeAlias

import msgspec
from msgspec import Struct

from lossless_claw.model import Raw, Shape

NO_OUTPUT = "[lossless-claw] The tool returned no output."
"""Stands in for a blank tool result: providers refuse empty content, and a pair must stay whole."""


class Text(Struct, frozen=True):
    """Words that are shown. `raw` is None when they came as a bare string."""

    text: str
    raw: Raw | None = None


class Thinking(Struct, frozen=True):
    """A model's reasoning: valid only for the model that made it, never shown to another."""

    text: str
    signature: str | None = None
    raw: Raw | None = None


class Call(Struct, frozen=True):
    """A tool call. `id` is "" when the provider gave none; `given` are the arguments as given."""

    id: str
    name: str
    given: Any = None
    raw: Raw | None = None

    @property
    def arguments(self) -> str:
        """The arguments as text: JSON, or the free text that a model wrote instead."""
        return self.given if isinstance(self.given, str) else json_text(self.given or {})

    @property
    def input(self) -> dict[str, Any]:
        """The arguments as an object; anything else stands under the key `input`."""
        if isinstance(self.given, dict):
            return self.given
        if self.given is None or (isinstance(self.given, str) and not self.given.strip()):
            return {}
        value = parse_json(self.given) if isinstance(self.given, str) else self.given
        return value if isinstance(value, dict) else {"input": self.given}


class Result(Struct, frozen=True):
    """What a tool answered. `call_id` is "" when the provider gave none.

    `text` are the words of the result, without notes for its media. `raw` is the block that
    carried it, None when a whole message did.
    """

    call_id: str
    name: str | None
    text: str
    is_error: bool | None = None
    raw_content: Any = None
    raw: Raw | None = None


class Media(Struct, frozen=True):
    """An image, document or sound, left in its provider's form."""

    kind: str
    mime: str | None
    name: str | None
    raw: Raw


class Other(Struct, frozen=True):
    """A block that nobody here knows, or a known one with parts of the wrong type."""

    raw: Any


Block: TypeAlias = Text | Thinking | Call | Result | Media | Other


class Turn(Struct, frozen=True):
    """One message, as blocks.

    `role` is system, user, assistant, tool (nothing but results) or unknown. `shape` None
    fits every provider. `partial` says that `blocks` are no longer all of the original's, so
    that only its other keys may be taken from it.
    """

    role: str
    blocks: tuple[Block, ...]
    shape: Shape | None = None
    original: Raw | None = None
    synthetic: bool = False
    partial: bool = False

    @property
    def failed(self) -> bool:
        """Whether the provider broke off: such a turn's unanswered calls never ran."""
        original = self.original
        if self.role != "assistant" or original is None:
            return False
        reason = original.get("stopReason", original.get("stop_reason"))
        return isinstance(reason, str) and reason in ("error", "aborted")


def calls(turn: Turn) -> tuple[str, ...]:
    """Return the ids of the tool calls that *turn* makes, in order; "" where none was given."""
    return tuple([block.id for block in turn.blocks if type(block) is Call])


def results(turn: Turn) -> tuple[str, ...]:
    """Return the ids of the calls that *turn* answers, in order; "" where none was given."""
    return tuple([block.call_id for block in turn.blocks if type(block) is Result])


def is_showable(turn: Turn) -> bool:
    """Whether *turn* holds something that a provider accepts: more than blanks and reasoning."""
    for block in turn.blocks:
        kind = type(block)
        if kind is Text:
            if block.text.strip():  # type: ignore[union-attr]
                return True
        elif kind is not Thinking:
            return True
    return False


def note(media: Media) -> str:
    """Return the words that stand where a medium cannot."""
    words = (media.kind, media.mime, media.name)
    return "[" + " ".join(word for word in words if word) + "]"


def stated(block: Block) -> str:
    """Return *block* as text for a place that takes nothing but text; "" for reasoning."""
    match block:
        case Text(text=text):
            return text
        case Media():
            return note(block)
        case Other(raw=raw):
            return raw if isinstance(raw, str) else json_text(raw)
    return ""


def orphan_text(result: Result, words: str) -> str:
    """Return the text of a result whose call is gone: never silently lost (design G1)."""
    named = f", id {result.call_id}" if result.call_id else ""
    return f"[tool result without its call{named}]\n{words}"


def json_text(value: Any) -> str:
    """Return *value* as JSON text; what JSON cannot hold (NaN) stands as a string in it."""
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    except ValueError:
        return json.dumps({"input": json.dumps(value, ensure_ascii=False)}, ensure_ascii=False)


_NOT_JSON = object()


def parse_json(text: str) -> Any:
    """Return the value of a JSON *text*, or a value of no JSON type when it is none."""
    try:
        return msgspec.json.decode(text)
    except (ValueError, RecursionError):
        # msgspec refuses lone surrogates, which a host's JSON may hold.
        return _parse_loosely(text)


def _parse_loosely(text: str) -> Any:
    try:
        return json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return _NOT_JSON


def _refuse(word: str) -> Any:
    raise ValueError(f"{word} is not JSON")


def is_json(text: str) -> bool:
    """Whether *text* is JSON, by the letter of RFC 8259."""
    return parse_json(text) is not _NOT_JSON
