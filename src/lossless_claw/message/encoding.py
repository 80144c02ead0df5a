"""JSON and text as the file holds them: fast where it can be, exact where it must be. Pure.

msgspec refuses lone surrogates and `1e400` and writes NaN as null: those go through `json`.
"""

from __future__ import annotations

import json
from typing import Any

import msgspec

_REFUSED = (UnicodeEncodeError, OverflowError, TypeError, ValueError)


def encode(value: Any) -> bytes:
    """Return *value* as JSON bytes that `decode` gives back equal, floats by value."""
    try:
        data = msgspec.json.encode(value)
    except _REFUSED:
        return json.dumps(value, separators=(",", ":")).encode()
    # What msgspec wrote as null may have been NaN or infinite.
    return json.dumps(value, separators=(",", ":")).encode() if b"null" in data else data


def decode(data: bytes | str) -> Any:
    """Return the value of JSON that `encode` or `json_text` wrote."""
    try:
        return msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeError):
        return json.loads(data)


def json_text(value: Any) -> str:
    """Return *value* as compact JSON, non-ASCII kept, lone surrogates escaped."""
    try:
        return msgspec.json.encode(value).decode()
    except _REFUSED:
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        return text.encode("utf-8", "backslashreplace").decode() if is_broken(text) else text


def storable(text: str) -> str:
    """Return *text* with lone surrogates as U+FFFD, which SQLite can hold (spec 2.7)."""
    if text.isascii() or not is_broken(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def is_broken(text: str) -> bool:
    """Whether *text* holds a lone surrogate."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False
