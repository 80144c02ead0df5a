"""From the bytes of one JSON text to a value, exactly as the standard library reads it.

A text that cannot be parsed is an outcome, not an exception. Nothing here knows transcripts.
"""

from __future__ import annotations

import json
from typing import Any

import msgspec
from msgspec import Struct

DEPTH_LIMIT = 500
"""Levels of nesting that a record may have.

Parsers recurse, and how deep they get depends on the caller's stack; with a limit of our own the
two passes over a file always agree.
"""


class Broken(Struct, frozen=True):
    """A text that is no JSON value, and why."""

    reason: str


_NAMES = {list: "a list", str: "a string", int: "a number", float: "a number", bool: "a boolean"}
_decode = msgspec.json.Decoder().decode


def name_type(value: object) -> str:
    """Return the JSON name of the value's type, with its article."""
    if value is None:
        return "null"
    return _NAMES.get(type(value), "an object")


def parse(raw: bytes) -> Any:
    """Return the value of a JSON text, or `Broken`.

    Lone surrogates, NUL escapes, NaN and numbers beyond a float are kept as `json.loads` gives
    them. The text must be valid UTF-8.
    """
    try:
        value = _decode(raw)
    except (msgspec.MsgspecError, RecursionError):
        value = _parse_leniently(raw)
    if raw.count(b"[") + raw.count(b"{") > DEPTH_LIMIT and _is_deep(value):
        return Broken(f"nested deeper than {DEPTH_LIMIT} levels")
    return value


def _parse_leniently(raw: bytes) -> Any:
    try:
        return json.loads(raw.decode("utf-8"))
    except UnicodeDecodeError as error:
        return Broken(f"not valid UTF-8 at byte {error.start + 1} of the line")
    except json.JSONDecodeError as error:
        return Broken(f"not valid JSON: {error.msg} at {_place(error)}")
    except RecursionError:
        return Broken(f"nested deeper than {DEPTH_LIMIT} levels")
    except ValueError as error:
        # An integer of more digits than Python converts.
        return Broken(f"cannot be parsed: {error}")


def _place(error: json.JSONDecodeError) -> str:
    if error.lineno == 1:
        return f"column {error.colno}"
    return f"line {error.lineno}, column {error.colno}"


def _is_deep(value: object) -> bool:
    level = [value]
    for _ in range(DEPTH_LIMIT + 1):
        inner: list[object] = []
        for each in level:
            if type(each) is dict:
                inner.extend(each.values())
            elif type(each) is list:
                inner.extend(each)
        if not inner:
            return False
        level = inner
    return True
