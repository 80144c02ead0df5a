"""Messages that we rendered ourselves and a host hands back: never stored as raw (design 4).

Proof is only that the whole message equals, byte for byte, what an existing row of this
conversation renders to: text that merely looks like a wrapper is the user's own.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import tzinfo

from lossless_claw.message.parts import single_text
from lossless_claw.model import Entry, Raw
from lossless_claw.store.store import Store
from lossless_claw.wrapper import OUTCOME_NOT_RECORDED, wrap, wrapped_id


def without_ours(
    store: Store, conversation: int, entries: Sequence[Entry], zone: tzinfo
) -> list[Entry]:
    """Return *entries* without the messages that we made for this conversation.

    Nothing was ever rendered for one that is empty.
    """
    if not any(_may_be_ours(entry.message) for entry in entries):
        return list(entries)
    if store.conversations.running(conversation).stored == 0:
        return list(entries)
    claimed = {
        index: summary
        for index, entry in enumerate(entries)
        if (summary := wrapped_id(entry.message)) is not None
    }
    rendered = {
        summary.id: wrap(summary, zone)
        for summary in (store.summaries.load(list(claimed.values())) if claimed else ())
        if summary.conversation == conversation
    }
    return [
        entry
        for index, entry in enumerate(entries)
        if not _is_rendered(entry.message, rendered.get(claimed.get(index, "")))
        and not is_placeholder(entry.message)
    ]


def _may_be_ours(message: Raw) -> bool:
    return wrapped_id(message) is not None or is_placeholder(message)


def is_placeholder(message: Raw) -> bool:
    """Whether *message* is, key for key, the result that we put where none was recorded.

    A host's own results carry other keys (a time, for one).
    """
    keys = message.keys() - {"role", "content"}
    if message.get("role") in ("tool", "toolResult"):
        is_bare = keys in ({"tool_call_id"}, {"toolCallId", "toolName", "isError"})
        return is_bare and single_text(message) == OUTCOME_NOT_RECORDED
    content = message.get("content")
    return not keys and isinstance(content, list) and bool(content) and all(
        isinstance(block, dict)
        and block.keys() == {"type", "tool_use_id", "content"}
        and block["content"] == OUTCOME_NOT_RECORDED
        for block in content
    )  # fmt: skip


def _is_rendered(message: Raw, text: str | None) -> bool:
    return text is not None and single_text(message) == text
