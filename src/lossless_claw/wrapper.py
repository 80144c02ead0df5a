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

_OPENING = '<summary id="sum_'
_CLAIM = r'<summary id="(sum_[^"\s<>&]*)"'


def wrap(summary: Summary, zone: tzinfo) -> str:
    """Return *summary* as the text that a model reads, its times local to *zone*.

    Control characters are kept as they are: models read text, not XML.
    """
    told = (
        f'id="{_quoted(summary.id)}" kind="{summary.kind}" depth="{summary.depth}" '
        f'descendant_count="{summary.descendant_count}" trust="untrusted"'
    )
    times = (("earliest_at", summary.earliest_at), ("latest_at", summary.latest_at))
    spans = [f' {name}="{_quoted(_local(at, zone))}"' for name, at in times if at is not None]
    lines = [f"<summary {told}{''.join(spans)}>", *_parents(summary)]
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
    if text is None or not text.startswith(_OPENING):
        return None
    claim = re.match(_CLAIM, text)
    return None if claim is None else claim.group(1)


def _only_text(content: Any) -> str | None:
    if isinstance(content, list) and len(content) == 1 and isinstance(content[0], dict):
        block = content[0]
        content = block.get("text") if block.get("type") in ("text", "input_text") else None
    return content if isinstance(content, str) else None


def _parents(summary: Summary) -> list[str]:
    if summary.depth == 0 or not summary.sources:
        return []
    # Ids hold nothing special, and a condensed summary names dozens: they are looked at once.
    ids = "".join(summary.sources)
    plain = _quoted(ids) == ids
    sources = summary.sources if plain else [_quoted(one) for one in summary.sources]
    opening, closing = '    <summary_ref id="', '" />'
    refs = opening + f"{closing}\n{opening}".join(sources) + closing
    return ["  <parents>", refs, "  </parents>"]


def _local(stored: str, zone: tzinfo) -> str:
    try:
        at = datetime.fromisoformat(stored)
        at = at if at.tzinfo is not None else at.replace(tzinfo=UTC)
        return at.astimezone(zone).isoformat(timespec="seconds")[:19]
    except (ValueError, OverflowError):
        return stored


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _quoted(text: str) -> str:
    return _escaped(text).replace('"', "&quot;")
