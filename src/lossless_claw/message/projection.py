"""One message as the rows that hold it: everything that is decided before a transaction opens."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from lossless_claw.errors import HostError
from lossless_claw.message.encoding import json_text, storable
from lossless_claw.message.identity import full_hash, upstream_hash
from lossless_claw.message.original import pack
from lossless_claw.message.parts import first_string, parts_of, single_text
from lossless_claw.message.price import tokens_of
from lossless_claw.message.text import CALL_TYPES, plain_text
from lossless_claw.message.times import moment_of, stored
from lossless_claw.model import Entry, Outside, Part, Raw
from lossless_claw.tokens import estimate_upstream

_ROLES = {
    "user": "user",
    "assistant": "assistant",
    "system": "system",
    "developer": "system",
    "tool": "tool",
    "toolResult": "tool",
    "function": "tool",
}
_ITEMS = {
    "function_call": "assistant",
    "custom_tool_call": "assistant",
    "local_shell_call": "assistant",
    "web_search_call": "assistant",
    "reasoning": "assistant",
    "function_call_output": "tool",
    "custom_tool_call_output": "tool",
    "local_shell_call_output": "tool",
}
HEAD_ROLES = frozenset({"system", "developer"})
_SENDER = ("senderId", "senderName", "senderUsername")

CALLS, RESULTS, INEXACT = 1, 2, 4
"""Bits of `lossless_message.flags`: the message makes tool calls; carries their results; was
written by upstream, so that its original is rebuilt from its parts."""


class Projection(Struct, frozen=True):
    """A message ready to be stored. `hash` is its identity, `outside` why it is not shown."""

    role: str
    content: str
    parts: list[Part]
    hash: bytes
    rest: bytes | None
    tokens: int
    token_count: int
    flags: int
    calls: tuple[str, ...]
    results: tuple[str, ...]
    outside: Outside | None
    upstream_hash: str | None
    sender: str | None
    created_at: str | None
    entry_id: str | None
    size: int
    """Characters of its longest text: what proves a run (spec alignment)."""


def project(entry: Entry) -> Projection:
    """Return *entry* as rows.

    Raises:
        HostError: If the message is nested too deeply to be written as JSON.
    """
    try:
        return _project(entry)
    except RecursionError as error:
        raise HostError("a message is nested too deeply to be stored") from error


def _project(entry: Entry) -> Projection:
    message = entry.message
    known_role = stored_role(message)
    role = known_role or "system"
    text = single_text(message)
    content = storable(plain_text(message))
    parts = [_storable_part(part) for part in parts_of(message, role, content, text)]
    calls, results = _tool_ids(message, role, parts)
    moment = moment_of(message, entry.timestamp)
    return Projection(
        role=role,
        content=content,
        parts=parts,
        hash=full_hash(message, role, text),
        rest=pack(message, role, content, parts, text),
        tokens=tokens_of(message, text),
        token_count=_upstream_tokens(role, content, message, text),
        flags=(CALLS if calls else 0) | (RESULTS if results else 0),
        calls=calls,
        results=results,
        outside=_outside(known_role, text, parts, on_branch=entry.on_branch),
        upstream_hash=upstream_hash(role, content),
        sender=_sender(message, role),
        created_at=None if moment is None else stored(moment),
        entry_id=None if entry.id is None else storable(entry.id).replace("\0", "\ufffd"),
        size=max([len(content), *(len(part.text or "") for part in parts)]),
    )


def stored_role(message: Raw) -> str | None:
    """Return the role under which *message* is stored; None when it has no known one."""
    role = message.get("role")
    if isinstance(role, str):
        return _ROLES.get(role)
    kind = message.get("type")
    return _ITEMS.get(kind) if "role" not in message and isinstance(kind, str) else None


def is_head(message: Raw) -> bool:
    """Whether *message* belongs to a system head when it leads a list (design 4)."""
    role = message.get("role")
    return isinstance(role, str) and role in HEAD_ROLES


def _outside(
    role: str | None, text: str | None, parts: list[Part], *, on_branch: bool
) -> Outside | None:
    if on_branch:
        return Outside.BRANCH
    if role is None:
        return Outside.ROLE
    shows = any(_shows(part) for part in parts) or bool(text is not None and text.strip())
    return None if shows else Outside.NOISE


def _shows(part: Part) -> bool:
    return part.kind not in ("text", "reasoning") or bool(part.text and part.text.strip())


def _tool_ids(
    message: Raw, role: str | None, parts: list[Part]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    if role == "tool":
        ids = [part.call_id for part in parts if part.kind == "tool"] or [_message_call(message)]
        return (), tuple(call_id or "" for call_id in ids)
    tools = [part for part in parts if part.kind == "tool"]
    if not tools:
        return (), ()
    is_call = [part.tool_input is not None or _is_call(part) for part in tools]
    pairs = list(zip(tools, is_call, strict=True))
    return (
        tuple(part.call_id or "" for part, calls in pairs if calls),
        tuple(part.call_id or "" for part, calls in pairs if not calls),
    )


def _message_call(message: Raw) -> str | None:
    return first_string(
        message, ("toolCallId", "tool_call_id", "toolUseId", "tool_use_id", "call_id")
    )


def _is_call(part: Part) -> bool:
    return any(f'"rawType":"{kind}"' in (part.metadata or "") for kind in CALL_TYPES)


def _upstream_tokens(role: str, content: str, message: Raw, text: str | None) -> int:
    """Return the count of spec 2.5: of the message as upstream rebuilds it."""
    if text is not None:
        is_bare = role in ("user", "system")
        return estimate_upstream(
            content if is_bare else json_text([{"type": "text", "text": content}])
        )
    blocks = message.get("content")
    if isinstance(blocks, list):
        return estimate_upstream(storable(json_text(blocks)))
    return estimate_upstream(content)


def _sender(message: Raw, role: str | None) -> str | None:
    facts = message.get("__openclaw")
    if role != "user" or not isinstance(facts, dict):
        return None
    found: dict[str, Any] = {}
    for key in _SENDER:
        value = facts.get(key)
        if isinstance(value, str) and value.strip():
            found[key] = value
    return storable(json_text(found)) if found else None


def _storable_part(part: Part) -> Part:
    texts = (part.text, part.call_id, part.tool_name, part.tool_input, part.tool_output)
    if all(text is None or text.isascii() for text in texts):
        return part
    text, call_id, name, tool_input, output = (
        None if value is None else storable(value) for value in texts
    )
    return Part(part.kind, text, call_id, name, tool_input, output, part.metadata)
