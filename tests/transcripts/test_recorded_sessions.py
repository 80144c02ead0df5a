"""Every recorded session of a real host, from the file to a context that fits (issue: done when)."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import lossless_claw as lcm
from lossless_claw.model import Shape
from lossless_claw.shapes import validate

BUDGET = 16_000
NAMES = (
    "claude_code/array-form.json",
    "claude_code/edge-cases.jsonl",
    "claude_code/japanese.jsonl",
    "claude_code/representative.jsonl",
    "claude_code/sidechains.jsonl",
    "claude_code/todowrite.jsonl",
    "openclaw/2026.7.1-cli-lcm.jsonl",
    "openclaw/2026.7.1-cli-legacy.jsonl",
    "openclaw/2026.7.1-gateway-bridge-subagent-child.jsonl",
    "openclaw/2026.7.1-gateway-bridge-subagent-parent.jsonl",
    "openclaw/2026.7.1-gateway-toolcall-lcm.jsonl",
    "openclaw/2026.9.6-transcript_events-bridge.jsonl",
    "openclaw/2026.9.6-transcript_events-legacy.jsonl",
    "pi/session-with-compactions.jsonl",
    "swe_agent/marshmallow-1867-fc.traj",
    "swe_agent/pydicom-1458.traj",
    "tau_bench/airline-25.json",
)


def messages_in(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the messages of a session file, read without the library."""
    text = path.read_text("utf-8")
    if path.suffix == ".jsonl":
        for line in text.splitlines():
            row = json.loads(line)
            if isinstance(row, dict):
                row = json.loads(row["event_json"]) if row.get("event_json") else row
                if isinstance(row.get("message"), dict):
                    yield row["message"]
        return
    document = json.loads(text)
    if isinstance(document, list):
        for run in document:
            yield from run["traj"]
    elif "loglines" in document:
        yield from (line["message"] for line in document["loglines"])
    else:
        yield from document["history"]


def counted(messages: Iterator[dict[str, Any]]) -> Counter[str]:
    return Counter(json.dumps(message, sort_keys=True) for message in messages)


@pytest.mark.parametrize("name", NAMES)
def test_a_recorded_session_goes_all_the_way(shared: Path, name: str) -> None:
    path = shared / "data" / "transcripts" / name
    with lcm.open(":memory:") as engine:
        items = engine.import_file(path)
        assert sum(item.added for item in items) == sum(item.read for item in items) > 0
        assert sum(item.added for item in engine.import_file(path)) == 0
        chats = [engine.chat(conversation_id=item.conversation_id) for item in items]
        exported = counted(
            message for chat in chats for message in chat.export(include_outside=True)
        )
        assert exported == counted(messages_in(path))
        for chat in chats:
            check_context(chat)
        assert engine.verify().ok


def check_context(chat: lcm.Chat) -> None:
    done = chat.compact(BUDGET)
    assert done.outcome in ("under_target", "below_threshold")
    for shape in (Shape.OPENCLAW, Shape.OPENAI, Shape.ANTHROPIC):
        context = chat.assemble(BUDGET, shape, live=False)
        assert context.fits
        assert context.tokens <= BUDGET
        assert context.messages
        assert validate(context.messages, shape) == []


def test_a_detail_of_a_compacted_session_is_found_and_read_verbatim(shared: Path) -> None:
    path = shared / "data" / "transcripts" / "pi" / "session-with-compactions.jsonl"
    with lcm.open(":memory:") as engine:
        (item,) = engine.import_file(path)
        chat = engine.chat(conversation_id=item.conversation_id)
        chat.compact(BUDGET)
        shown = json.dumps(chat.assemble(BUDGET, live=False).messages)
        needle = rare_word(chat, shown)
        match = chat.grep(needle).matches[0]
        assert match.covered_by is not None
        page = chat.expand(f"msg_{match.id}")
        assert needle in page.pieces[0].text


def rare_word(chat: lcm.Chat, shown: str) -> str:
    """Return the first long word of the history that stands once and is not in the context."""
    text = "\n".join(message.content for message in chat.messages())
    counts = Counter(re.findall(r"\b[a-z]{14,}\b", text))
    return next(word for word, count in counts.items() if count == 1 and word not in shown)
