"""Summarizers that behave as they are told, for tests of whoever embeds this library."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from lossless_claw.errors import AuthError, DeadlineError, RateLimitError
from lossless_claw.summarize.extractive import extract
from lossless_claw.summarize.summarizer import UNKNOWN_WINDOW, Request, Text

Behaviour = str | Callable[[Request], str | Text]


def _auth(_: Request) -> str:
    raise AuthError("401 Unauthorized", hint="Check the API key.")


def _rate(_: Request) -> str:
    raise RateLimitError("429 Too Many Requests")


def _timeout(_: Request) -> str:
    raise DeadlineError("No answer in time.")


def _broken(_: Request) -> str:
    raise RuntimeError("quota exceeded")


BEHAVIOURS: dict[str, Callable[[Request], str | Text]] = {
    "ok": extract,
    "blank": lambda _: "  \n",
    "echo": lambda request: request.source,
    "huge": lambda request: "more and more words " * (2_000 + len(request.source) // 4),
    "long": lambda request: "word " * (4 * request.target_tokens),
    "error": lambda _: "Error: 500 Internal Server Error",
    "thinking": lambda _: "<think>what was it about</think>",
    "cut": lambda _: Text("It was about to", complete=False),
    "auth": _auth,
    "rate": _rate,
    "timeout": _timeout,
    "raise": _broken,
}
"""What a `Scripted` summarizer can do, by name."""


class Scripted:
    """A summarizer that behaves call by call as its script says; the last behaviour repeats.

    `requests` are the requests it got, `calls` how many. A behaviour is a name of `BEHAVIOURS`
    or a function of the request. *takes* is called before each answer: let it advance a clock.
    """

    def __init__(
        self,
        behaviours: Behaviour | Iterable[Behaviour] = "ok",
        *,
        name: str = "scripted",
        context_window: int = UNKNOWN_WINDOW,
        free: bool = False,
        takes: Callable[[], None] = lambda: None,
    ) -> None:
        single = isinstance(behaviours, str) or callable(behaviours)
        self._script: list[Behaviour] = [behaviours] if single else list(behaviours)  # type: ignore[list-item,arg-type]
        if not self._script:
            raise ValueError("A script needs at least one behaviour.")
        self.name = name
        self.context_window = context_window
        self.free = free
        self.requests: list[Request] = []
        self._takes = takes

    @property
    def calls(self) -> int:
        return len(self.requests)

    def summarize(self, request: Request) -> Text:
        behaviour = self._script[min(len(self.requests), len(self._script) - 1)]
        self.requests.append(request)
        self._takes()
        answer = (BEHAVIOURS[behaviour] if isinstance(behaviour, str) else behaviour)(request)
        return answer if isinstance(answer, Text) else Text(answer, model=self.name)
