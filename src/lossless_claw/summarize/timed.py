"""A summarizer whose calls end in time, whether it minds its deadline or not.

A call runs in a daemon thread: one that is late, or belongs to a sweep that was cancelled, is
told so by its own cancel event and left behind; its late answer is dropped (design 5).
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from msgspec.structs import replace

from lossless_claw.clock import Clock, Deadline
from lossless_claw.errors import DeadlineError
from lossless_claw.summarize.summarizer import Request, Summarizer, Text

TICK = 0.05
"""Seconds between two looks at the sweep's cancel event while a call runs."""


class Timed:
    """*inner* with at most *seconds* for each call, inside the sweep's deadline.

    The embedded summarizer and others that are free are called directly: they end by themselves.
    """

    def __init__(self, inner: Summarizer, clock: Clock, seconds: float) -> None:
        self.name = inner.name
        self.context_window = inner.context_window
        self.free = inner.free
        self.left_behind = 0
        """Calls that were given up."""
        self._inner = inner
        self._clock = clock
        self._seconds = seconds

    def summarize(self, request: Request) -> Text:
        """Return the inner answer.

        Raises:
            DeadlineError: The time of this call, or of the whole sweep, is over.
        """
        left = request.deadline.remaining()
        is_own_sooner = left is None or left > self._seconds
        deadline = Deadline.after(self._clock, self._seconds) if is_own_sooner else request.deadline
        if self.free:
            return self._inner.summarize(replace(request, deadline=deadline))
        cancel = threading.Event()
        call = _Call(self._inner.summarize, replace(request, deadline=deadline, cancel=cancel))
        while not call.done.wait(TICK):
            if deadline.passed() or request.cancel.is_set():
                cancel.set()
                self.left_behind += 1
                raise DeadlineError(f"The summarizer {self.name} did not answer in time.")
        return call.answer()


class _Call:
    """One call under way in a thread of its own."""

    def __init__(self, function: Callable[[Request], Text], request: Request) -> None:
        self.done = threading.Event()
        self._text: Text | None = None
        self._error: BaseException | None = None
        self._function = function
        self._request = request
        threading.Thread(target=self._run, name="lossless-summarizer", daemon=True).start()

    def _run(self) -> None:
        try:
            self._text = self._function(self._request)
        except BaseException as error:  # noqa: BLE001 - raised again where the call was made
            self._error = error
        finally:
            self.done.set()

    def answer(self) -> Text:
        if self._error is not None:
            raise self._error
        assert self._text is not None
        return self._text
