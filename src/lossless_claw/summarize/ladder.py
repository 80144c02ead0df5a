"""From a request to a summary that may be stored, or to the reason why there is none.

Normal, then aggressive, then, only where the budget forces it, the deterministic fallback (spec
compaction 3.1, design 5). An answer is accepted only if it is complete, says something, is shaped
neither like an error nor like reasoning, and costs less in the context than what it replaces.
"""

from __future__ import annotations

import math
from enum import StrEnum
from typing import Final

import msgspec
from msgspec import Struct

from lossless_claw.errors import AuthError, DeadlineError, RateLimitError, RefusedError
from lossless_claw.summarize import footer
from lossless_claw.summarize.answer import is_error_shaped, without_reasoning
from lossless_claw.summarize.directives import without_directives
from lossless_claw.summarize.extractive import extract, missing_terms
from lossless_claw.summarize.pieces import passages
from lossless_claw.summarize.summarizer import Request, Summarizer, Text
from lossless_claw.tokens import estimate, summary_item_tokens, truncate

FALLBACK_MODEL: Final = "extractive"
SMALLEST_SUMMARY: Final = 16
"""Tokens under which a summary says too little to be worth its place."""

_FOOTER_TOKENS = 60


class Cause(StrEnum):
    """Why there is no summary."""

    AUTH = "auth"
    RATE_LIMITED = "rate_limited"
    DEADLINE = "deadline"
    REFUSED = "refused"
    """A guard of ours said no; no model was called."""
    RAISED = "raised"
    BLANK = "blank"
    ERROR_SHAPED = "error_shaped"
    INCOMPLETE = "incomplete"
    NOT_SMALLER = "not_smaller"
    EMPTY_SOURCE = "empty_source"
    CANCELLED = "cancelled"


ANSWERED: Final = frozenset(
    {Cause.BLANK, Cause.ERROR_SHAPED, Cause.INCOMPLETE, Cause.NOT_SMALLER, Cause.EMPTY_SOURCE}
)
"""Causes that speak against one answer, not against the summarizer."""


class Failure(Struct, frozen=True):
    """No summary, and why. `reason` is for people; it never holds text of the conversation."""

    cause: Cause
    reason: str


def write(
    summarizer: Summarizer,
    request: Request,
    *,
    source_tokens: int,
    sources: int = 0,
    fallback_max_tokens: int = 512,
    force: bool = False,
    overage_factor: float = 3.0,
) -> Text | Failure:
    """Return a summary that may take the place of its source, or why there is none.

    Whatever the summarizer raises becomes a Failure. With *force* every failure but a refusal of
    credentials ends in the fallback, at most *fallback_max_tokens* long and marked as such. An
    answer longer than *overage_factor* times its target is capped and keeps its last line.

    Args:
        source_tokens: What the source costs in the context now.
        sources: How many sources the wrapper will name (0 for a leaf).
    """
    if not request.source.strip():
        return Failure(Cause.EMPTY_SOURCE, "The source says nothing.")
    bar = _Bar(source_tokens, sources)
    last = _attempt(summarizer, request, bar, overage_factor)
    if isinstance(last, Failure) and last.cause in ANSWERED and not request.aggressive:
        again = msgspec.structs.replace(
            request, aggressive=True, target_tokens=aggressive_target(request.target_tokens)
        )
        last = _attempt(summarizer, again, bar, overage_factor)
    if isinstance(last, Text) or not force or last.cause in {Cause.AUTH, Cause.CANCELLED}:
        return last
    return _fallback(request, bar, fallback_max_tokens)


def aggressive_target(target: int) -> int:
    """Return the length that the second attempt asks for: about half (spec compaction 3.4)."""
    return max(SMALLEST_SUMMARY, int(target * 0.55))


class _Bar(Struct, frozen=True):
    """What a summary has to stay under."""

    source_tokens: int
    sources: int

    def admits(self, text: str) -> bool:
        return summary_item_tokens(text, self.sources) < self.source_tokens

    def room(self) -> int:
        """Return the tokens that a text without anything to escape may have."""
        return self.source_tokens - summary_item_tokens("", self.sources) - 1


def _fallback(request: Request, bar: _Bar, max_tokens: int) -> Text | Failure:
    """Return the deterministic fallback: a marked extract without directive-shaped sentences."""
    mark = f"\n[Truncated from {estimate(request.source)} tokens]"
    pieces = tuple(without_directives(list(request.pieces) or passages(request.source)))
    room = min(max_tokens, bar.room()) - estimate(mark)
    while room >= SMALLEST_SUMMARY:
        asked = msgspec.structs.replace(request, pieces=pieces, target_tokens=room)
        text = extract(asked) + mark
        if bar.admits(text):
            return Text(text, "fallback", FALLBACK_MODEL)
        room //= 2
    return Failure(Cause.NOT_SMALLER, "The source is too small for any summary to be smaller.")


def _attempt(
    summarizer: Summarizer, request: Request, bar: _Bar, overage_factor: float
) -> Text | Failure:
    if request.cancel.is_set():
        return Failure(Cause.CANCELLED, "The sweep was cancelled.")
    try:
        answer = summarizer.summarize(request)
    except Exception as error:  # noqa: BLE001  whatever anyone's summarizer raises is a value
        return _raised(summarizer, error)
    return _judge(_named(answer, summarizer), request, bar, overage_factor)


def _raised(summarizer: Summarizer, error: Exception) -> Failure:
    causes: dict[type[Exception], Cause] = {
        AuthError: Cause.AUTH,
        RateLimitError: Cause.RATE_LIMITED,
        DeadlineError: Cause.DEADLINE,
        TimeoutError: Cause.DEADLINE,
        RefusedError: Cause.REFUSED,
    }
    cause = next((c for kind, c in causes.items() if isinstance(error, kind)), Cause.RAISED)
    return Failure(cause, f"{summarizer.name}: {type(error).__name__}: {error}"[:500])


def _named(answer: Text, summarizer: Summarizer) -> Text:
    text = without_reasoning(answer.text)
    return msgspec.structs.replace(answer, text=text, model=answer.model or summarizer.name)


def _judge(answer: Text, request: Request, bar: _Bar, overage_factor: float) -> Text | Failure:
    if not answer.text:
        return Failure(Cause.BLANK, f"{answer.model} returned nothing but blanks or reasoning.")
    if is_error_shaped(answer.text):
        return Failure(Cause.ERROR_SHAPED, f"{answer.model} returned what looks like an error.")
    if not answer.complete:
        return Failure(Cause.INCOMPLETE, f"{answer.model} was cut off before the end.")
    if bar.admits(answer.text):
        cap = math.ceil(request.target_tokens * overage_factor)
        finished = _finished(answer, request, bar, cap)
        if finished.text is answer.text or bar.admits(finished.text):
            return finished
    return Failure(Cause.NOT_SMALLER, f"{answer.model} returned no less than it was given.")


def _finished(answer: Text, request: Request, bar: _Bar, cap: int) -> Text:
    level = answer.level
    if level == "normal" and request.aggressive:
        level = "aggressive"
    text = _with_footer(answer.text, request, bar, cap)
    if estimate(text) > cap:
        level, text = "capped", _capped(text, cap)
    return msgspec.structs.replace(answer, text=text, level=level)


def _with_footer(text: str, request: Request, bar: _Bar, cap: int) -> str:
    if footer.take_off(text)[1]:
        return text
    names = missing_terms(request.source, text)
    line = footer.line(names, min(_FOOTER_TOKENS, cap - estimate(text) - 1))
    longer = f"{text}\n{line}"
    return longer if line and bar.admits(longer) else text


def _capped(text: str, cap: int) -> str:
    """Return *text* in at most *cap* tokens, its last line kept, the cut marked if that fits."""
    body, last = footer.take_off(text)
    last = f"\n{last}" if last and estimate(last) < cap // 2 else ""
    marks = (f"\n[Capped from {estimate(text)} tokens to ~{cap}]", f"\n[Capped to ~{cap}]", "")
    ends = (last + mark for mark in marks)
    end = next(end for end in ends if estimate(end) <= max(cap // 2, estimate(last)))
    return truncate(body, cap - estimate(end)).rstrip() + end
