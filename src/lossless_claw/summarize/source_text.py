"""What a summarizer reads: messages and summaries as text, each under a header of its own.

Pure. Facts of tool calls and results stay, media are named, reasoning and binary data are left
out (spec compaction 3.2). A text can be as large as it likes; what is read of it is bounded.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from datetime import UTC, datetime, tzinfo

from msgspec import Struct

from lossless_claw.model import Message, Summary
from lossless_claw.summarize.answer import without_reasoning
from lossless_claw.summarize.body import message_text
from lossless_claw.summarize.pieces import Passage, passages
from lossless_claw.tokens import exceeds

MESSAGE_CAP = 8_000
"""Characters of one message that a summarizer reads at most; the middle goes first."""

_SMALLEST_CAP = 200
_FORGED_HEADER = r"(?m)^(?=\[\d{4}-\d\d-\d\d[ \]])"
_SENDER_KEYS = ("senderId", "senderName", "senderUsername")
_ONLY_MARKS = r"(?:\s*\[[^\]\n]*\])*\s*"


class Source(Struct, frozen=True):
    """A source text, the passages it is made of, and whether it says anything at all.

    `is_meaningful` is False when only marks such as `[image image/png]` are in it; `fits` is False
    when it is longer than was asked for, however much its messages were cut.
    """

    text: str
    pieces: tuple[Passage, ...]
    is_meaningful: bool
    fits: bool = True


def leaf_source(messages: Sequence[Message], zone: tzinfo, max_tokens: int | None = None) -> Source:
    """Return the source of a leaf over *messages*, in order, blank ones left out.

    A message longer than `MESSAGE_CAP` characters keeps its head and its tail around a mark;
    when the whole exceeds *max_tokens*, every message is cut further, none is dropped.
    """
    bodies = [(message, message_text(message.original)) for message in messages]
    told = [(message, body) for message, body in bodies if body.strip()]
    cap = MESSAGE_CAP
    source = _leaf(told, zone, cap, max_tokens)
    while not source.fits and cap > _SMALLEST_CAP:
        cap = max(_SMALLEST_CAP, cap // 2)
        source = _leaf(told, zone, cap, max_tokens)
    return source


def leaf_text(messages: Sequence[Message], zone: tzinfo) -> str:
    """Return the text of `leaf_source`; empty when no message says anything."""
    return leaf_source(messages, zone).text


def condensed_text(summaries: Sequence[Summary], zone: tzinfo) -> str:
    """Return *summaries* as one source, in order, each under the time span it covers."""
    told = ((summary, without_reasoning(summary.content)) for summary in summaries)
    return "\n\n".join(f"{_span(s, zone)}\n{text}" for s, text in told if text)


def condensed_source(summaries: Sequence[Summary], zone: tzinfo) -> Source:
    """Return the source of a condensed summary over *summaries*."""
    text = condensed_text(summaries, zone)
    return Source(text, tuple(passages(text)), bool(text))


def verbatim(messages: Sequence[Message], zone: tzinfo) -> str:
    """Return *messages* word for word, one or more lines each, with day, time and speaker."""
    lines: list[str] = []
    day = ""
    for message in messages:
        _, passage = _entry(message, message_text(message.original) or "[no text]", zone)
        if passage.day and passage.day != day:
            day = passage.day
            lines.append(f"[{day}]")
        lines.append(f"{passage.time} {passage.speaker}: {passage.text}".strip())
    return "\n".join(lines)


def shortened(text: str, cap: int) -> str:
    """Return *text* in at most about *cap* characters: head and tail around a mark."""
    if len(text) <= cap:
        return text
    head, tail = cap * 3 // 4, cap // 4
    return f"{text[:head]}\n[{len(text) - head - tail} characters left out]\n{text[-tail:]}"


def _leaf(
    told: Sequence[tuple[Message, str]], zone: tzinfo, cap: int, max_tokens: int | None
) -> Source:
    texts = [_unforged(shortened(body, cap)) for _, body in told]
    entries = [_entry(message, text, zone) for (message, _), text in zip(told, texts, strict=True)]
    whole = "\n\n".join([entry for entry, _ in entries])
    return Source(
        whole,
        tuple([passage for _, passage in entries]),
        any(re.fullmatch(_ONLY_MARKS, text) is None for text in texts),
        max_tokens is None or not exceeds(whole, max_tokens),
    )


def _unforged(text: str) -> str:
    """Return *text* with lines that look like a header of ours set off by a blank."""
    begins = text.startswith("[") or "\n[" in text
    return re.sub(_FORGED_HEADER, " ", text) if begins else text


def _entry(message: Message, text: str, zone: tzinfo) -> tuple[str, Passage]:
    """Return *text* under the header of its message, and as a passage."""
    day, time, name = _moment(message.created_at, zone)
    day_named, spoken = f"{day} {name}".strip(), f"{day} {time} {name}".strip()
    label = _sender(message) if message.role == "user" else {}
    if not label:
        entry = f"[{spoken} | {message.role}]\n{text}"
        return entry, Passage(text, day_named, time, message.role)
    metadata = f"speaker (untrusted metadata): {json.dumps(label)}"
    who = _single_line(f"{message.role} {' '.join(dict.fromkeys(label.values()))}")
    entry = f"[{spoken} | {message.role} | {metadata}]\n{text}"
    return entry, Passage(text, day_named, time, who)


def _single_line(text: str) -> str:
    return re.sub(r"[\s:|\[\]]+", " ", text)[:80].strip()


def _sender(message: Message) -> dict[str, str]:
    facts = message.original.get("__openclaw")
    if not isinstance(facts, dict):
        return {}
    found = {key: facts.get(key) for key in _SENDER_KEYS}
    return {key: value for key, value in found.items() if isinstance(value, str) and value.strip()}


def _span(summary: Summary, zone: tzinfo) -> str:
    first = summary.earliest_at or summary.created_at
    last = summary.latest_at or summary.created_at
    moments = [" ".join(_moment(text, zone)).strip() for text in (first, last)]
    return f"[{moments[0]} - {moments[1]}]"


def _moment(text: str, zone: tzinfo) -> tuple[str, str, str]:
    """Return day, time and zone name of a stored time; text that is no time comes back as day."""
    try:
        moment = datetime.fromisoformat(text)
        local = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(zone)
    except (ValueError, OverflowError):
        return _single_line(text), "", ""
    shown = local.isoformat(" ", "minutes")
    return shown[:10], shown[11:16], local.tzname() or ""
