"""The text under which a message is found. Pure: nothing here reads or writes.

Whatever indexes, scans or verifies uses this one text, so that they cannot disagree.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TypeAlias

from lossless_claw.message.encoding import storable
from lossless_claw.model import Part

Columns: TypeAlias = tuple[str | None, str | None, str | None]
"""text_content, tool_input and tool_output of a row of `message_parts`."""

_REFERENCES = ("[LCM File:", "[LCM Tool Output:")
_EXPLORATION = "Exploration Summary:"
_ADVICE = ("Use lcm_describe", "Call lcm_describe")


def search_text(content: str, parts: Iterable[Part | Columns]) -> str:
    """Return *content* and, a line each, what the parts hold and content does not repeat.

    Tool inputs and outputs are taken as they are stored (JSON text). Thinking is left out: it
    is no part of what was said or done.
    """
    return storable(joined(content, parts))


def joined(content: str, parts: Iterable[Part | Columns]) -> str:
    """Return the search text of what SQLite gave, which never holds a lone surrogate."""
    pieces = [content]
    for part in parts:
        for column in _columns(part) if isinstance(part, Part) else part:
            if column and not _is_held(column, content, pieces[-1]):
                pieces.append(column)
    return "\n".join(pieces if content else pieces[1:])


def indexed_text(text: str) -> str:
    """Return what full text indexes of a search text (spec store-and-ingest 1.4, rule F).

    A reference to a stored file is reduced to its first line and its exploration summary: the
    advice in it would answer every search for "describe". Blank means: not to be indexed.
    """
    trimmed = text.strip()
    if not trimmed.startswith(_REFERENCES):
        return text if trimmed else ""
    first, *lines = trimmed.split("\n")
    names = [line.strip() for line in lines]
    start = names.index(_EXPLORATION) + 1 if _EXPLORATION in names else len(lines)
    kept = [line for line in lines[start:] if line.strip()]
    return "\n".join([first, *(line for line in kept if not line.strip().startswith(_ADVICE))])


def _columns(part: Part) -> Columns:
    text = None if part.kind == "reasoning" else part.text
    return text, part.tool_input, part.tool_output


def _is_held(column: str, content: str, last: str) -> bool:
    # Only content and the piece before: of a thousand parts, each with each is a million reads.
    if _stands_in(column, content) or _stands_in(column, last):
        return True
    # Outputs are often stored as the JSON text of the very string that content is.
    if not column.startswith('"'):
        return False
    bare = _unquoted(column)
    return _stands_in(bare, content) or _stands_in(bare, last)


def _stands_in(text: str, piece: str) -> bool:
    """Whether *text* stands in *piece* between blanks: 8080 is no word of 80801."""
    if not text:
        return True
    begin = piece.find(text)
    while begin >= 0:
        end = begin + len(text)
        if piece[max(0, begin - 1) : begin].strip() == "" and piece[end : end + 1].strip() == "":
            return True
        begin = piece.find(text, end)  # linear: a match inside a match is not worth a hang
    return False


def _unquoted(column: str) -> str:
    try:
        value = json.loads(column)
    except ValueError:
        return column
    return value if isinstance(value, str) else column
