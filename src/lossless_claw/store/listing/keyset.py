"""Keyset cursors: where a page of a list ended. Pure text in and out.

The wire form is upstream's (spec operator-surfaces 1.6) with one key more, `filters`, so that a
cursor cannot be used with other filters than those of its page.
"""

from __future__ import annotations

import base64
import binascii
import json
import zlib
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from lossless_claw.errors import CursorError

VERSION = 1


class Position(Struct, frozen=True):
    """The last row of a page: its time as stored and its key.

    A time that is none is the empty text: such rows come last.
    """

    timestamp: str
    id: int | str


def encode(resource: str, position: Position, filters: Mapping[str, Any]) -> str:
    """Return the cursor of the page of *resource* that ended at *position*."""
    body = {
        "v": VERSION,
        "resource": resource,
        "timestamp": position.timestamp,
        "id": position.id,
        "filters": _digest(filters),
    }
    data = json.dumps(body, separators=(",", ":")).encode()
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def decode(cursor: str, resource: str, filters: Mapping[str, Any]) -> Position:
    """Return where the page before ended.

    Raises:
        CursorError: If the cursor is damaged, or of another list, version or set of filters.
    """
    body = _body(cursor)
    if body.get("v") != VERSION or body.get("resource") != resource:
        raise CursorError(f"the cursor is not one of a list of {resource}", cursor=cursor)
    if body.get("filters", _digest(filters)) != _digest(filters):
        raise CursorError("the cursor belongs to other filters", cursor=cursor)
    timestamp, key = body.get("timestamp"), _key(body.get("id"), resource)
    if not isinstance(timestamp, str) or key is None:
        raise CursorError("the cursor names no row", cursor=cursor)
    return Position(timestamp, key)


def _key(given: object, resource: str) -> int | str | None:
    if resource == "summaries":
        return given if isinstance(given, str) and given else None
    if not isinstance(given, int) or isinstance(given, bool):
        return None
    return given if -(2**63) <= given < 2**63 else None


def _body(cursor: str) -> dict[str, Any]:
    try:
        data = base64.b64decode(cursor + "=" * (-len(cursor) % 4), b"-_", validate=True)
        body = json.loads(data)
    except (ValueError, binascii.Error, RecursionError) as error:
        raise CursorError("the cursor cannot be read", cursor=cursor) from error
    if not isinstance(body, dict):
        raise CursorError("the cursor cannot be read", cursor=cursor)
    return body


def _digest(filters: Mapping[str, Any]) -> str:
    # Against mistakes, not against anybody; and a checksum loads faster than a hash.
    text = json.dumps(filters, sort_keys=True, separators=(",", ":"))
    return f"{zlib.crc32(text.encode()):08x}"
