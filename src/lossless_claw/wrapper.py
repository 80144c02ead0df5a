"""What this library itself writes into a context, and how it is known again (spec 4.10).

A wrapper is a pure function of the stored summary and the zone: no clock, no counter (G6).
Escaping is a matter of safety: a summary must be unable to close its wrapper.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, tzinfo
from typing import Any

from lossless_claw.model import Raw, Summary

OUTCOME_NOT_RECORDED = "[lossless-claw] The outcome of this tool call was not recorded."
"""Stands for a result that nobody has: unknown, which is not failed (case O-PAIR-04)."""

_CLAIM = re.compile(r'<summary id="(sum_[^"\s<>&]*)"')


def wrap(summary: Summary, zone: tzinfo) -> str:
    """Return *summary* as the text that a model reads, its times local to *zone*.

    Control characters are kept as they are: models read text, not XML.
    """
    attributes = [
        ("id", summary.id),
        ("kind", summary.kind),
        ("depth", str(summary.depth)),
        ("descendant_count", str(summary.descendant_count)),
        ("trust", "untrusted"),
        ("earliest_at", _local(summary.earliest_at, zone)),
        ("latest_at", _local(summary.latest_at, zone)),
    ]
    shown = [f'{name}="{_quoted(value)}"' for name, value in attributes if value is not None]
    lines = [f"<summary {' '.join(shown)}>", *_parents(summary)]
    lines += ["  <content>", _escaped(summary.content), "  </content>", "</summary>"]
    return "\n".join(lines)


def summary_message(text: str) -> Raw:
    """Return the message that carries a wrapped summary."""
    return {"role": "user", "content": text}


def wrapped_id(message: Raw) -> str | None:
    """Return the id of the summary that *message* claims to show, or None.

    A claim only: anyone can write such a message. Compare its text with what `wrap` gives
    before believing it.
    """
    if message.get("role") != "user":
        return None
    text = _only_text(message.get("content"))
    claim = _CLAIM.match(text) if text is not None else None
    return None if claim is None else claim.group(1)


def _only_text(content: Any) -> str | None:
    if isinstance(content, list) and len(content) == 1 and isinstance(content[0], dict):
        block = content[0]
        content = block.get("text") if block.get("type") in ("text", "input_text") else None
    return content if isinstance(content, str) else None


def _parents(summary: Summary) -> list[str]:
    if summary.depth == 0 or not summary.sources:
        return []
    refs = [f'    <summary_ref id="{_quoted(source)}" />' for source in summary.sources]
    return ["  <parents>", *refs, "  </parents>"]


def _local(stored: str | None, zone: tzinfo) -> str | None:
    if stored is None:
        return None
    try:
        at = datetime.fromisoformat(stored)
        at = at if at.tzinfo is not None else at.replace(tzinfo=UTC)
        return at.astimezone(zone).strftime("%Y-%m-%dT%H:%M:%S")
    except (ValueError, OverflowError):
        return stored


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _quoted(text: str) -> str:
    return _escaped(text).replace('"', "&quot;")
