"""Cursors: where a page ended, as opaque text bound to the query it belongs to. Pure."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping
from typing import Any

from lossless_claw.errors import CursorError


def fingerprint(*facts: object) -> str:
    """Return a short name of a query: equal facts, equal name."""
    text = json.dumps(facts, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def encode(query: str, state: Mapping[str, Any]) -> str:
    """Return the cursor for *state* of the query with this fingerprint."""
    text = json.dumps({"q": query, **state}, separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def decode(query: str, cursor: str) -> dict[str, Any]:
    """Return the state of a cursor.

    Raises:
        CursorError: If it is not a cursor, or one of another query.
    """
    try:
        padded = cursor.encode("ascii") + b"=" * (-len(cursor) % 4)
        state = json.loads(base64.urlsafe_b64decode(padded))
    except (ValueError, RecursionError) as error:
        raise CursorError("the cursor cannot be read") from error
    if not isinstance(state, dict) or state.get("q") != query:
        raise CursorError("the cursor belongs to another query")
    return state
