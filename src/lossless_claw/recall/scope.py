"""What a caller may see, and what an id names. Nothing here widens a scope."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import TYPE_CHECKING

from lossless_claw.errors import (
    ConversationNotFoundError,
    MessageNotFoundError,
    SummaryNotFoundError,
    UsageError,
)
from lossless_claw.model import Message, Summary
from lossless_claw.recall import arguments

if TYPE_CHECKING:
    from lossless_claw.store.store import Store

_SUMMARY = re.compile(r"sum_[a-z0-9_-]+")
_MESSAGE = re.compile(r"(?:msg_)?([0-9]{1,18})")


def family(store: Store, conversation: int) -> tuple[int, ...]:
    """Return the conversations of the same session as this one, itself among them.

    Raises:
        ConversationNotFoundError: If there is no such conversation.
    """
    found = store.conversations.family(conversation)
    if not found:
        raise ConversationNotFoundError(f"no conversation {conversation}")
    return found


def find(store: Store, node: str, conversations: Collection[int] | None) -> Summary | Message:
    """Return what *node* names: `sum_...`, `msg_<n>` or `<n>`.

    Something outside *conversations* (None: everywhere) is answered as if it did not exist.

    Raises:
        UsageError: If *node* is no id.
        SummaryNotFoundError: If there is no such summary within reach.
        MessageNotFoundError: If there is no such message within reach.
    """
    arguments.text(node, "node")
    arguments.numbers(conversations, "conversations")
    name = node.strip()
    if _SUMMARY.fullmatch(name):
        return _summary(store, name, conversations)
    number = _MESSAGE.fullmatch(name)
    if number:
        return _message(store, int(number[1]), conversations)
    raise UsageError(
        f"{name[:80]!r} is no id",
        hint="Give one id, as grep returns it: sum_... for a summary, msg_<n> for a message.",
    )


def _summary(store: Store, name: str, conversations: Collection[int] | None) -> Summary:
    found = store.summaries.load([name])
    if not found or not _is_within(found[0].conversation, conversations):
        raise SummaryNotFoundError(f"no summary {name} within reach", summary=name)
    return found[0]


def _message(store: Store, number: int, conversations: Collection[int] | None) -> Message:
    found = store.messages.load([number])
    if not found or not _is_within(found[0].conversation, conversations):
        raise MessageNotFoundError(f"no message msg_{number} within reach", message_id=number)
    return found[0]


def _is_within(conversation: int, conversations: Collection[int] | None) -> bool:
    return conversations is None or conversation in conversations
