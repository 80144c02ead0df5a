"""The original text behind a summary or a message, by page, within a token cap.

What is returned is what is charged, and nothing is left out: a text larger than the cap comes in
pieces that, put together, are the text (spec compaction-assembly-recall 6.6, design 7).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Literal, TypeAlias

from msgspec import Struct

from lossless_claw import tokens
from lossless_claw.errors import CursorError, UsageError
from lossless_claw.model import Message, Summary
from lossless_claw.recall import scope
from lossless_claw.recall.text import full_text
from lossless_claw.store import cursor as cursors

if TYPE_CHECKING:
    from lossless_claw.store.store import Store

Level: TypeAlias = Literal["messages", "sources"]

_CHUNK = 16


class Piece(Struct, frozen=True):
    """A text, or a part of one beginning at character `offset`.

    `complete`: the text ends here. `tokens` are those of this piece.
    """

    type: str
    id: str
    role: str
    created_at: str
    seq: int | None
    text: str
    tokens: int
    offset: int
    complete: bool


class Expansion(Struct, frozen=True):
    """A page of texts in order.

    `tokens` is what it costs, `total_pieces` how many texts there are in all; `next_cursor` is
    None on the last page.
    """

    id: str
    pieces: tuple[Piece, ...]
    tokens: int
    next_cursor: str | None
    total_pieces: int


def expand(
    store: Store,
    node: str,
    *,
    conversations: Collection[int] | None = None,
    token_cap: int = 4_000,
    cursor: str | None = None,
    level: Level = "messages",
) -> Expansion:
    """Return the texts below a summary, or of a message.

    Args:
        node: `sum_...`, `msg_<n>` or `<n>`.
        conversations: Which conversations may be seen; None for all.
        token_cap: The most tokens of the page, at least 1.
        level: All original messages below a summary, or its direct sources: the summaries that
            a condensed one was made from, the messages of a leaf.

    Raises:
        UsageError: If an argument cannot be used, or the cap is too small for any text.
        SummaryNotFoundError: If there is no such summary within reach.
        MessageNotFoundError: If there is no such message within reach.
        CursorError: If the cursor belongs to another node or level.
    """
    if token_cap < 1:
        raise UsageError(f"token_cap must be at least 1, not {token_cap}")
    if level not in ("messages", "sources"):
        raise UsageError(f"level must be messages or sources, not {level!r}")
    found = scope.find(store, node, conversations)
    ids = _ids(store, found, level)
    name = found.id if isinstance(found, Summary) else f"msg_{found.id}"
    mark = cursors.fingerprint("expand", name, level)
    index, offset = _start(mark, cursor, len(ids))
    pieces = tuple(_fill(_texts(store, ids[index:]), offset, token_cap))
    return Expansion(
        id=name,
        pieces=pieces,
        tokens=sum(piece.tokens for piece in pieces),
        next_cursor=_next(mark, pieces, index, len(ids)),
        total_pieces=len(ids),
    )


def _ids(store: Store, found: Summary | Message, level: Level) -> Sequence[int | str]:
    if isinstance(found, Message):
        return [found.id]
    if level == "sources" and found.depth > 0:
        return list(found.sources)
    return store.summaries.messages_under(found.id)


def _texts(store: Store, ids: Sequence[int | str]) -> Iterator[Piece]:
    """Yield the whole texts in order, read a few at a time."""
    for start in range(0, len(ids), _CHUNK):
        chunk = ids[start : start + _CHUNK]
        for message in store.messages.load([one for one in chunk if isinstance(one, int)]):
            yield _piece_of_message(message)
        for summary in store.summaries.load([one for one in chunk if isinstance(one, str)]):
            yield _piece_of_summary(summary)


def _fill(texts: Iterator[Piece], offset: int, cap: int) -> Iterator[Piece]:
    """Yield what fits: whole texts, or first of all a piece of one that fits no page."""
    left = cap
    for count, whole in enumerate(texts):
        rest = _part(whole, offset if count == 0 else 0)
        if rest.tokens > left:
            if count == 0:
                yield _cut(rest, cap)
            return
        left -= rest.tokens
        yield rest


def _part(whole: Piece, offset: int) -> Piece:
    if not offset:
        return whole
    if offset >= len(whole.text):
        raise CursorError("the cursor lies behind the end of the text")
    return _with_text(whole, whole.text[offset:], offset, complete=True)


def _cut(rest: Piece, cap: int) -> Piece:
    text = tokens.truncate(rest.text, cap)
    if not text:
        raise UsageError(
            f"token_cap {cap} is too small for the next character", hint="Give a larger cap."
        )
    return _with_text(rest, text, rest.offset, complete=False)


def _with_text(piece: Piece, text: str, offset: int, *, complete: bool) -> Piece:
    return Piece(
        piece.type, piece.id, piece.role, piece.created_at, piece.seq,
        text, tokens.estimate(text), offset, complete,
    )  # fmt: skip


def _piece_of_message(message: Message) -> Piece:
    text = full_text(message.original)
    return Piece(
        "message", f"msg_{message.id}", message.role, message.created_at, message.seq,
        text, tokens.estimate(text), 0, True,
    )  # fmt: skip


def _piece_of_summary(summary: Summary) -> Piece:
    return Piece(
        "summary", summary.id, summary.kind, summary.created_at, None,
        summary.content, tokens.estimate(summary.content), 0, True,
    )  # fmt: skip


def _start(mark: str, cursor: str | None, count: int) -> tuple[int, int]:
    if cursor is None:
        return 0, 0
    match cursors.decode(mark, cursor).get("at"):
        case [int(index), int(offset)] if 0 <= index < count and offset >= 0:
            return index, offset
    raise CursorError("the cursor names no text")


def _next(mark: str, pieces: Sequence[Piece], index: int, count: int) -> str | None:
    if not pieces:
        return None
    last = pieces[-1]
    if not last.complete:
        place = [index + len(pieces) - 1, last.offset + len(last.text)]
    elif index + len(pieces) < count:
        place = [index + len(pieces), 0]
    else:
        return None
    return cursors.encode(mark, {"at": place})
