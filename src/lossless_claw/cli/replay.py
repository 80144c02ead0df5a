"""A transcript, replayed turn by turn as a host would hand it over, and measured on the way.

Shows nothing: what happened comes back as values. Uses the engine the way any host does.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from lossless_claw.cli import rare
from lossless_claw.errors import TranscriptError
from lossless_claw.model import Entry

if TYPE_CHECKING:
    from lossless_claw.chat import Chat
    from lossless_claw.engine import Engine

POINTS = 10
EXPAND_CAP = 1_000_000
ASKED = 3
SAMPLE = 60
"""So many messages are looked at for details to ask for."""


class Point(Struct, frozen=True):
    """How large the history and the context were after some messages, in tokens."""

    messages: int
    raw_tokens: int
    context_tokens: int
    summaries: int


class Replay(Struct, frozen=True):
    """What a replay led to. `largest` is the largest context of any turn, in tokens."""

    conversation_id: int
    messages: int
    turns: int
    sweeps: int
    budget: int
    largest: int
    always_fits: bool
    points: tuple[Point, ...]


class Question(Struct, frozen=True):
    """A question and a text that only the right message holds."""

    question: str
    needle: str


class Found(Struct, frozen=True):
    """What asking led to: the passage's citation, its rank, and the original message in full.

    `in_context` says whether the text could have been read in the context itself.
    """

    question: str
    needle: str
    in_context: bool
    found: bool
    rank: int | None
    citation: str | None
    role: str | None
    created_at: str | None
    original: str | None


def entries_of(path: Path) -> list[Entry]:
    """Return the messages of the main conversation of a transcript, left branches left out.

    Raises:
        TranscriptError: If the file is no transcript or has no message.
        TranscriptNotFoundError: If there is no file.
    """
    from lossless_claw.transcript import read

    transcript = read(path)
    lanes = (list(transcript.entries(lane)) for lane in transcript.lanes)
    longest = max(lanes, key=len, default=[])
    kept = [entry for entry in longest if not entry.on_branch]
    if not kept:
        raise TranscriptError(f"{path} has no messages", hint="Give another transcript.")
    return kept


def turns(entries: Sequence[Entry]) -> Iterator[list[Entry]]:
    """Return the entries in turns, each beginning with what a user says."""
    turn: list[Entry] = []
    for entry in entries:
        if turn and _opens_turn(entry.message):
            yield turn
            turn = []
        turn.append(entry)
    if turn:
        yield turn


def _opens_turn(message: dict[str, Any]) -> bool:
    if message.get("role") != "user":
        return False
    content = message.get("content")
    blocks = content if isinstance(content, list) else []
    kinds = {block.get("type") for block in blocks if isinstance(block, dict)}
    return not kinds or kinds != {"tool_result"}


def replay(
    engine: Engine,
    chat: Chat,
    entries: Sequence[Entry],
    budget: int,
    progress: Callable[[int, int | None], None] | None = None,
) -> Replay:
    """Hand over *entries* turn by turn, assembling a context of *budget* tokens after each."""
    done = sweeps = count = largest = 0
    always_fits = True
    points: list[Point] = []
    for turn in turns(entries):
        engine.importer.append(chat.id, turn)
        sweeps += chat.after_turn((), budget=budget).compaction is not None
        context = chat.assemble(budget=budget)
        done, count = done + len(turn), count + 1
        largest, always_fits = max(largest, context.tokens), always_fits and context.fits
        if done * POINTS >= (len(points) + 1) * len(entries):
            points.append(_point(engine, chat, context.tokens))
        if progress is not None:
            progress(done, len(entries))
    return Replay(chat.id, done, count, sweeps, budget, largest, always_fits, tuple(points))


def _point(engine: Engine, chat: Chat, context_tokens: int) -> Point:
    messages = engine.listing.tail(chat.id).conversation
    summaries = engine.listing.summaries(chat.id, limit=EXPAND_CAP)
    return Point(messages.messages, messages.tokens, context_tokens, len(summaries.items))


def questions_about(engine: Engine, chat: Chat, budget: int) -> list[Question]:
    """Return questions for details of messages that left the context, made from the texts."""
    shown = context_text(chat, budget)
    texts = {message.id: message.content for message in chat.messages()}
    raw = {item.ref for item in engine.store.context.items(chat.id) if not item.is_summary}
    gone = [number for number in texts if number not in raw and texts[number]] or list(texts)
    sample = gone[:: max(1, len(gone) // SAMPLE)]
    details = rare.pick(texts, sample, count=len(sample))
    unseen = [one for one in details if not _is_in(one.text, shown)] or details
    return [Question(one.text, one.text) for one in rare.spread(unseen, ASKED)]


def context_text(chat: Chat, budget: int) -> str:
    """Return everything that the model would see, as JSON."""
    context = chat.assemble(budget=budget, live=False)
    return json.dumps([context.system, context.messages], ensure_ascii=False)


def _is_in(needle: str, shown: str) -> bool:
    return json.dumps(needle, ensure_ascii=False)[1:-1] in shown


def find(engine: Engine, chat: Chat, question: Question, shown: str) -> Found:
    """Ask, and open the first passage whose original message holds the needle."""
    passages = engine.ask(question.question, conversations=[chat.id]).passages
    in_context = _is_in(question.needle, shown)
    for rank, passage in enumerate(passages, 1):
        original = read_in_full(engine, passage.citation)
        if question.needle in original:
            return Found(
                question.question,
                question.needle,
                in_context,
                True,
                rank,
                passage.citation,
                passage.role,
                passage.created_at,
                original,
            )
    return Found(
        question.question, question.needle, in_context, False, None, None, None, None, None
    )


def read_in_full(engine: Engine, node: str) -> str:
    """Return the whole text behind a node, page after page."""
    texts: list[str] = []
    cursor = None
    while True:
        page = engine.expand(node, token_cap=EXPAND_CAP, cursor=cursor)
        texts += [piece.text for piece in page.pieces]
        cursor = page.next_cursor
        if cursor is None:
            return "".join(texts)
