"""Turns cut into exchanges (the calls of a moment with their answers), with ids to send.

Shared by every shape that is rendered to. It takes paired turns (`assemble.pairing`) and
moves nothing; a result that stands by no call of its own is turned into words.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import TypeAlias

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from lossless_claw.model import Shape
from lossless_claw.shapes.block import (
    Block,
    Call,
    Result,
    Text,
    Turn,
    is_showable,
    json_text,
    orphan_text,
    stated,
)
from lossless_claw.shapes.reader import read_content

ANTHROPIC_ID = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")
LONGEST_OPENAI_ID = 40
"""Characters that OpenAI chat takes in the id of a tool call."""


class Speaker(Struct, frozen=True):
    """An assistant turn that calls, with the id to send for each of its calls."""

    turn: Turn
    ids: tuple[str, ...]


class Answer(Struct, frozen=True):
    """A result in its place: the turn it came in, the id to send, and the tool's name."""

    turn: Turn
    result: Result
    id: str
    name: str


class Exchange(Struct, frozen=True):
    """Assistants that call one after the other, each with its answers in call order.

    `rests` are what else stood in the messages of the answers.
    """

    speakers: tuple[Speaker, ...]
    answers: tuple[tuple[Answer, ...], ...]
    rests: tuple[Turn, ...] = ()


Step: TypeAlias = Turn | Exchange


class CallIds:
    """The ids of one list of messages: well formed for a shape, and each one used once.

    An id depends on the calls before it only, so that a list may grow behind it (G6).
    """

    def __init__(self, shape: Shape) -> None:
        self._shape = shape
        self._used: set[str] = set()

    def take(self, turn: Turn, call: Call, ordinal: int) -> str:
        """Return the id to send for *call*, the turn's call number *ordinal*."""
        given = self._formed(call.id or _made_id(turn, ordinal), turn)
        if self._shape is Shape.OPENCLAW:
            return given
        chosen, count = given, 1
        while chosen in self._used:
            count += 1
            chosen = f"{given}_{count}"
        self._used.add(chosen)
        return chosen

    def _formed(self, given: str, turn: Turn) -> str:
        if self._shape is Shape.ANTHROPIC and not ANTHROPIC_ID.issuperset(given):
            kept = "".join(char if char in ANTHROPIC_ID else "_" for char in given)
            return f"{kept}_{_digest(given)[:8]}"
        foreign = self._shape is Shape.OPENAI and turn.shape is not Shape.OPENAI
        if foreign and len(given) > LONGEST_OPENAI_ID:
            return f"{given[: LONGEST_OPENAI_ID - 9]}_{_digest(given)[:8]}"
        return given


def steps(turns: Sequence[Turn], ids: CallIds) -> Iterator[Step]:
    """Yield *turns* as plain turns and exchanges, without those that show nothing."""
    shown = [turn for turn in turns if turn.role != "unknown" and is_showable(turn)]
    at = 0
    while at < len(shown):
        turn = shown[at]
        end = _end_of_callers(shown, at)
        if end > at:
            exchange, at = _exchange(shown, at, end, ids)
            yield exchange
            continue
        yield _loosened(turn)
        at += 1


def words_of(result: Result) -> str:
    """Return what a result says, with notes for its media, "" when it says nothing."""
    if type(result.raw_content) is str:
        return result.raw_content
    blocks = read_content(result.raw_content, "tool") or (Text(result.text),)
    return "\n".join(words for words in map(stated, blocks) if words.strip())


def _end_of_callers(shown: Sequence[Turn], at: int) -> int:
    while at < len(shown) and _holds(shown[at], Call):
        at += 1
    return at


def _holds(turn: Turn, kind: type) -> bool:
    return kind in map(type, turn.blocks)


def _exchange(shown: Sequence[Turn], start: int, at: int, ids: CallIds) -> tuple[Exchange, int]:
    speakers = tuple([_speaker(turn, ids) for turn in shown[start:at]])
    waiting = [
        (call, sent, number)
        for number, speaker in enumerate(speakers)
        for call, sent in zip(_calls(speaker.turn), speaker.ids, strict=True)
    ]
    answers: list[list[Answer]] = [[] for _ in speakers]
    rests: list[Turn] = []
    while waiting and at < len(shown) and _holds(shown[at], Result):
        left = _answer(shown[at], waiting, answers)
        if left and is_showable(rest := _rest(shown[at], left)):
            rests.append(rest)
        at += 1
    return Exchange(speakers, tuple([tuple(given) for given in answers]), tuple(rests)), at


def _answer(
    turn: Turn, waiting: list[tuple[Call, str, int]], answers: list[list[Answer]]
) -> list[Block]:
    """Hand each result of *turn* to its call; return the blocks that answer none."""
    left: list[Block] = []
    for block in turn.blocks:
        if type(block) is not Result:
            left.append(block)
            continue
        place = _place(waiting, block.call_id)
        if place is None:
            left.append(block)
            continue
        call, sent, number = waiting.pop(place)
        answers[number].append(Answer(turn, block, sent, block.name or call.name))
    return left


def _place(waiting: list[tuple[Call, str, int]], call_id: str) -> int | None:
    for place, (call, _, _) in enumerate(waiting):
        if call.id == call_id:
            return place
    return None


def _calls(turn: Turn) -> list[Call]:
    return [block for block in turn.blocks if type(block) is Call]


def _speaker(turn: Turn, ids: CallIds) -> Speaker:
    return Speaker(turn, tuple([ids.take(turn, call, n) for n, call in enumerate(_calls(turn))]))


def _rest(turn: Turn, left: list[Block]) -> Turn:
    return _loosened(replace(turn, role="user", blocks=tuple(left), partial=True))


def _loosened(turn: Turn) -> Turn:
    """Return *turn* with results that answer no call as words of a user."""
    if not _holds(turn, Result):
        return turn
    blocks = tuple([_as_words(block) for block in turn.blocks])
    return replace(turn, role="user", blocks=blocks, partial=True)


def _as_words(block: Block) -> Block:
    return Text(orphan_text(block, words_of(block))) if type(block) is Result else block


def _made_id(turn: Turn, ordinal: int) -> str:
    facts = turn.original if turn.original is not None else msgspec.to_builtins(turn.blocks)
    return f"call_lcm_{_digest(f'{json_text(facts)}#{ordinal}')[:16]}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
