"""Answering a question without a model: the best passages, verbatim, with their sources."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from lossless_claw import tokens
from lossless_claw.model import Match
from lossless_claw.recall import arguments
from lossless_claw.store.search import excerpt
from lossless_claw.store.search.query import read_query

if TYPE_CHECKING:
    from lossless_claw.store.store import Store

_CHARACTERS = 3
"""Characters of a passage for each of its tokens, before it is cut to the cap."""


class Passage(Struct, frozen=True):
    """A verbatim piece of a message or summary; `citation` is the id to expand."""

    citation: str
    conversation: int
    seq: int | None
    role: str
    created_at: str
    text: str
    score: float | None


class Answer(Struct, frozen=True):
    """The answer in words, and the passages it rests on, best first. `model`: None was asked."""

    answer: str
    passages: tuple[Passage, ...]
    model: str | None = None


def ask(
    store: Store,
    question: str,
    *,
    conversations: Sequence[int] | None,
    limit: int = 5,
    passage_tokens: int = 400,
) -> Answer:
    """Return the passages that answer *question* best, messages before summaries.

    Args:
        conversations: Which conversations may be seen; None for all.
        limit: The most passages, at least 1.
        passage_tokens: The most tokens of each, at least 1.

    Raises:
        PatternError: If there is no word in *question*.
    """
    arguments.text(question, "question")
    arguments.numbers(conversations, "conversations")
    arguments.whole(limit, "limit")
    arguments.whole(passage_tokens, "passage_tokens")
    matches = _matches(store, question, conversations, limit)
    found = _texts(store, matches)
    passages = tuple(
        _passage(match, found[match.id], question, passage_tokens)
        for match in matches
        if found.get(match.id)
    )
    return Answer(_sentence(passages), passages)


def _matches(
    store: Store, question: str, conversations: Sequence[int] | None, limit: int
) -> list[Match]:
    """Return the best messages and, where they do not suffice, the best summaries."""
    page = store.search.full_text(
        question, conversations=conversations, limit=limit, scope="messages"
    )
    missing = limit - len(page.matches)
    if not missing:
        return list(page.matches)
    more = store.search.full_text(
        question, conversations=conversations, limit=missing, scope="summaries"
    )
    return [*page.matches, *more.matches]


def _texts(store: Store, matches: Sequence[Match]) -> dict[int | str, str]:
    messages = store.search.texts([match.id for match in matches if isinstance(match.id, int)])
    summaries = store.summaries.load([match.id for match in matches if isinstance(match.id, str)])
    found: dict[int | str, str] = {summary.id: summary.content for summary in summaries}
    found.update({match.id: messages[match.id] for match in matches if match.id in messages})
    return found


def _passage(match: Match, text: str, question: str, cap: int) -> Passage:
    return Passage(
        citation=match.id if isinstance(match.id, str) else f"msg_{match.id}",
        conversation=match.conversation,
        seq=match.seq,
        role=match.role,
        created_at=match.created_at,
        text=best_part(text, question, cap),
        score=match.score,
    )


def best_part(text: str, question: str, cap: int) -> str:
    """Return the piece of *text*, at most *cap* tokens, that shows most words of *question*."""
    if tokens.estimate(text) <= cap:
        return text
    width = cap * _CHARACTERS
    finder = excerpt.finder(read_query(question).units)
    start, end = excerpt.best_window(text, finder, width) or (0, 0)
    before = max(0, start - (width - (end - start)) // 2)
    begin = _line_start(text, before, start)
    return tokens.truncate(text[begin:], cap)


def _line_start(text: str, low: int, high: int) -> int:
    """Return where to begin between *low* and *high*: after a line end, else after a blank."""
    if low == 0:
        return 0
    for border in ("\n", " "):
        at = text.find(border, low, high)
        if at >= 0:
            return at + 1
    return low


def _sentence(passages: Sequence[Passage]) -> str:
    if not passages:
        return "Nothing that is stored here holds a word of the question."
    count = "One passage" if len(passages) == 1 else f"The best {len(passages)} passages"
    names = ", ".join(passage.citation for passage in passages)
    return f"{count} found, not yet an answer, since no model was asked: {names}."
