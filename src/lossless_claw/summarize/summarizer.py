"""What a summarizer is, what it is asked and what it answers.

Nothing here judges an answer or falls back to another summarizer; `ladder` does.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Literal, Protocol

from msgspec import Struct, field

from lossless_claw.clock import Deadline, SystemClock
from lossless_claw.errors import SummarizerError
from lossless_claw.summarize.pieces import Passage

UNKNOWN_WINDOW = 32_000
"""The context window of a summarizer that does not tell its own, in tokens (design 12)."""


def _no_deadline() -> Deadline:
    return Deadline(SystemClock())


class Request(Struct, frozen=True):
    """One summary that is wanted.

    `target_tokens` is the length asked for, the last line included. `previous` is what came
    before the source, for continuity; it is not to be repeated. `pieces` is the source once
    more, passage by passage, for a summarizer that does not want to read it from text.
    `depth` is the depth of the summary to write: 0 for a leaf.
    """

    kind: Literal["leaf", "condensed"]
    depth: int
    source: str
    target_tokens: int
    previous: str = ""
    aggressive: bool = False
    deadline: Deadline = field(default_factory=_no_deadline)
    cancel: threading.Event = field(default_factory=threading.Event)
    pieces: tuple[Passage, ...] = ()


class Text(Struct, frozen=True):
    """A summary as written.

    `level` is "normal", "aggressive", "capped" or "fallback"; `model` is what really wrote it.
    `complete` is False for an answer that was cut off: it is not accepted as it stands.
    """

    text: str
    level: str = "normal"
    model: str = ""
    complete: bool = True


class Summarizer(Protocol):
    """Writes summaries. May be called from any thread, one call at a time.

    `context_window` is in tokens, prompt and answer together. `free` says that a call costs
    nothing: caps and spend windows bind only those that cost (design 12).
    """

    @property
    def name(self) -> str: ...

    @property
    def context_window(self) -> int: ...

    @property
    def free(self) -> bool: ...

    def summarize(self, request: Request) -> Text:
        """Return the summary that *request* asks for.

        Raises:
            SummarizerError: The summarizer failed; AuthError, RateLimitError and DeadlineError
                say why. Any other exception counts as a failure too.
        """
        ...


class FromCallable:
    """A summarizer made of a function; `from_callable` builds it."""

    def __init__(
        self,
        function: Callable[[Request], str | Text],
        name: str,
        context_window: int,
        *,
        free: bool,
    ) -> None:
        self.name = name
        self.context_window = context_window
        self.free = free
        self._function = function

    def summarize(self, request: Request) -> Text:
        answer = self._function(request)
        if isinstance(answer, str):
            return Text(answer, model=self.name)
        if isinstance(answer, Text):
            return answer
        raise SummarizerError(
            f"The summarizer {self.name} returned {type(answer).__name__}.",
            hint="Return the summary as str or Text.",
        )


def from_callable(
    function: Callable[[Request], str | Text],
    *,
    context_window: int = UNKNOWN_WINDOW,
    free: bool = False,
    name: str | None = None,
) -> Summarizer:
    """Return a summarizer that asks *function*, which takes a Request and returns str or Text."""
    own = name or getattr(function, "__name__", None) or type(function).__name__
    return FromCallable(function, str(own), context_window, free=free)
