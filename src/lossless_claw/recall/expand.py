"""The original text behind a summary or a message, by page, within a token cap.

What is returned is what is charged, and nothing is left out: a text larger than the cap comes in
pieces that, put together, are the text (spec compaction-assembly-recall 6.6, design 7).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from msgspec import Struct

from lossless_claw import tokens
from lossless_claw.errors import CursorError, UsageError
from lossless_claw.model import Message, Summary
from lossless_claw.recall import arguments, scope
from lossless_claw.recall.below import Below, Path
from lossless_claw.recall.text import full_text
from lossless_claw.store import cursor as cursors

if TYPE_CHECKING:
    from lossless_claw.store.store import Store

Level: TypeAlias = Literal["messages", "sources"]
Step: TypeAlias = tuple[Path, int, int | str]

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

    `tokens` is what it costs; `next_cursor` is None on the last page. `total_pieces` is how many
    texts there are in all, None below a condensed summary: counting them would read them all.
    """

    id: str
    pieces: tuple[Piece, ...]
    tokens: int
    next_cursor: str | None
    total_pieces: int | None


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
    arguments.whole(token_cap, "token_cap")
    arguments.one_of(level, "level", ("messages", "sources"))
    arguments.cursor(cursor)
    found = scope.find(store, node, conversations)
    name = found.id if isinstance(found, Summary) else f"msg_{found.id}"
    mark = cursors.fingerprint("expand", name, level)
    path, at, offset = _start(mark, cursor)
    steps, total = _steps(store, found, level, path, at)
    pages = _Pages(store, steps)
    pieces = tuple(_fill(pages, offset, token_cap))
    place = pages.place(len(pieces), pieces[-1]) if pieces else None
    return Expansion(
        id=name,
        pieces=pieces,
        tokens=sum(piece.tokens for piece in pieces),
        next_cursor=None if place is None else cursors.encode(mark, {"at": place}),
        total_pieces=total,
    )


def _steps(
    store: Store, found: Summary | Message, level: Level, path: Path, at: int
) -> tuple[Iterator[Step], int | None]:
    """Return the texts from a place on, and how many there are in all where that is known."""
    if isinstance(found, Message):
        return _listed([found.id], path, at), 1
    if level == "sources" and found.depth > 0:
        return _listed(found.sources, path, at), len(found.sources)
    total = len(store.summaries.leaf_messages(found.id)) if found.depth == 0 else None
    return iter(Below(store.summaries, found.id).walk(path, at)), total


def _listed(ids: Sequence[int | str], path: Path, at: int) -> Iterator[Step]:
    if path or not 0 <= at < max(1, len(ids)):
        raise CursorError("the cursor names no text")
    return (((), number, ids[number]) for number in range(at, len(ids)))


class _Pages:
    """The texts of a walk, read a few at a time, and the places that they stand at."""

    def __init__(self, store: Store, steps: Iterator[Step]):
        self._store = store
        self._steps = steps
        self._passed: list[Step] = []

    def __iter__(self) -> Iterator[Piece]:
        while chunk := list(islice(self._steps, _CHUNK)):
            self._passed += chunk
            found = self._read([one for _, _, one in chunk])
            yield from (found[one] for _, _, one in chunk if one in found)

    def _read(self, ids: Sequence[int | str]) -> dict[int | str, Piece]:
        messages = self._store.messages.load([one for one in ids if isinstance(one, int)])
        summaries = self._store.summaries.load([one for one in ids if isinstance(one, str)])
        found: dict[int | str, Piece] = {one.id: _piece_of_message(one) for one in messages}
        return found | {one.id: _piece_of_summary(one) for one in summaries}

    def place(self, count: int, last: Piece) -> list[Any] | None:
        """Return where to go on after *count* texts; None at the end."""
        if not last.complete:
            path, at, _ = self._passed[count - 1]
            return [path, at, last.offset + len(last.text)]
        step = self._passed[count] if count < len(self._passed) else next(self._steps, None)
        return None if step is None else [step[0], step[1], 0]


def _fill(texts: Iterable[Piece], offset: int, cap: int) -> Iterator[Piece]:
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


def _start(mark: str, cursor: str | None) -> tuple[Path, int, int]:
    if cursor is None:
        return (), 0, 0
    match cursors.decode(mark, cursor).get("at"):
        case [list(path), int(at), int(offset)] if offset >= 0:
            if all(type(number) is int for number in path):
                return tuple(path), at, offset
    raise CursorError("the cursor names no text")
