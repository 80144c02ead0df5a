"""Everything one assembly reads of the context's order, read once."""

from __future__ import annotations

import json

from msgspec import Struct

from lossless_claw.model import Item, Message
from lossless_claw.store.conversations import Running
from lossless_claw.store.store import Store


class Snapshot(Struct, frozen=True):
    """The context of a conversation as far as an assembly needs it.

    `summaries` open the context; `rest` are the newest items after them, oldest first, of which
    `unread` older ones were not read. `turn_user` is the newest user message before `rest`.
    """

    running: Running
    head: tuple[Message, ...]
    summaries: tuple[Item, ...]
    rest: tuple[Item, ...]
    unread: int
    turn_user: Item | None


def read(store: Store, conversation: int, budget: int) -> Snapshot:
    """Return the snapshot for a list of at most *budget* tokens.

    Its cost follows the budget and the number of summaries, not the history (G9).
    """
    running = store.conversations.running(conversation)
    summaries = store.context.leading_summaries(conversation)
    after = summaries[-1].ordinal if summaries else -1
    newest = store.context.newest(conversation, budget, running.cut)
    rest = tuple(item for item in newest if item.ordinal > after)
    unread = running.items - len(summaries) - len(rest)
    before = store.context.newest_user(conversation, rest[0].ordinal) if rest and unread else None
    return Snapshot(
        running=running,
        head=tuple(store.messages.load(json.loads(running.head))),
        summaries=tuple(summaries),
        rest=rest,
        unread=unread,
        turn_user=before if before is not None and before.ordinal > after else None,
    )
