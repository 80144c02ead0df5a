"""A call that never answers is left behind at its deadline; its answer comes too late."""

from __future__ import annotations

import threading
from datetime import datetime

import pytest

from lossless_claw.clock import Deadline, SystemClock
from lossless_claw.errors import DeadlineError
from lossless_claw.summarize.summarizer import Request, from_callable
from lossless_claw.summarize.timed import Timed


class Impatient:
    """A clock on which every look at the time is an hour later."""

    def __init__(self) -> None:
        self._hours = 0.0

    def now(self) -> datetime:
        return SystemClock().now()

    def monotonic(self) -> float:
        self._hours += 3_600
        return self._hours


def request(clock: Impatient | SystemClock) -> Request:
    return Request(
        kind="leaf", depth=0, source="text", target_tokens=10, deadline=Deadline(clock),
        cancel=threading.Event(),
    )  # fmt: skip


def test_a_call_that_hangs_is_left_behind_and_told() -> None:
    told, release = threading.Event(), threading.Event()

    def hang(asked: Request) -> str:
        release.wait(60)
        if asked.cancel.is_set():
            told.set()
        return "late"

    timed = Timed(from_callable(hang), Impatient(), 1.0)
    with pytest.raises(DeadlineError):
        timed.summarize(request(Impatient()))
    assert timed.left_behind == 1
    release.set()
    assert told.wait(60)


def test_an_answer_in_time_is_the_answer() -> None:
    timed = Timed(from_callable(lambda asked: "short"), SystemClock(), 60.0)
    assert timed.summarize(request(SystemClock())).text == "short"


def test_an_error_is_raised_where_the_call_was_made() -> None:
    def fail(asked: Request) -> str:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        Timed(from_callable(fail), SystemClock(), 60.0).summarize(request(SystemClock()))


def test_a_cancelled_sweep_does_not_wait() -> None:
    asked = request(SystemClock())
    asked.cancel.set()
    hang = from_callable(lambda one: str(one.cancel.wait(60)))
    with pytest.raises(DeadlineError):
        Timed(hang, SystemClock(), 60.0).summarize(asked)


def test_what_is_free_runs_in_the_callers_thread() -> None:
    threads = []
    free = from_callable(lambda one: threads.append(threading.current_thread()) or "x", free=True)
    Timed(free, SystemClock(), 60.0).summarize(request(SystemClock()))
    assert threads == [threading.current_thread()]
