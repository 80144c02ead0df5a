"""What recall refuses at its door, whoever hands it over."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from lossless_claw.engine import Engine
from lossless_claw.errors import CursorError, TimeFilterError, UsageError

CALLS: list[tuple[str, Callable[[Engine], Any], type[UsageError]]] = [
    ("pattern", lambda e: e.grep(7), UsageError),  # type: ignore[arg-type]
    ("mode", lambda e: e.grep("a", mode=["regex"]), UsageError),
    ("sort", lambda e: e.grep("a", sort=None), UsageError),
    ("scope", lambda e: e.grep("a", scope="all"), UsageError),
    ("limit", lambda e: e.grep("a", limit="10"), UsageError),
    ("limit", lambda e: e.grep("a", limit=True), UsageError),
    ("limit", lambda e: e.grep("a", limit=2.5), UsageError),
    ("limit", lambda e: e.grep("a", limit=201), UsageError),
    ("cursor", lambda e: e.grep("a", cursor=3), CursorError),
    ("since", lambda e: e.grep("a", since=20260309), TimeFilterError),
    ("before", lambda e: e.grep("a", before=[]), TimeFilterError),
    ("node", lambda e: e.describe(None), UsageError),  # type: ignore[arg-type]
    ("node", lambda e: e.expand(1), UsageError),  # type: ignore[arg-type]
    ("token_cap", lambda e: e.expand("msg_1", token_cap="all"), UsageError),
    ("token_cap", lambda e: e.expand("msg_1", token_cap=None), UsageError),
    ("token_cap", lambda e: e.expand("msg_1", token_cap=0), UsageError),
    ("level", lambda e: e.expand("msg_1", level="leaf"), UsageError),
    ("cursor", lambda e: e.expand("msg_1", cursor=b"x"), CursorError),
    ("64 bits", lambda e: e.chat(conversation_id=10**20), UsageError),
    ("limit", lambda e: e.grep("a", limit=10**5000), UsageError),
    ("question", lambda e: e.ask(None), UsageError),  # type: ignore[arg-type]
    ("limit", lambda e: e.ask("a", limit=0), UsageError),
    ("passage_tokens", lambda e: e.ask("a", passage_tokens="many"), UsageError),
]


@pytest.mark.parametrize(("name", "call", "error"), CALLS)
def test_a_wrong_argument_is_named(
    name: str, call: Callable[[Engine], Any], error: type[UsageError]
) -> None:
    with Engine.open(":memory:") as engine:
        engine.conversation("agent:main").append([{"role": "user", "content": "hello"}])
        with pytest.raises(error, match=name):
            call(engine)


@pytest.mark.parametrize("given", [1, "a", [1, "a"], [[1]], {1: 2}, [True]])
def test_conversations_are_a_list_of_numbers(given: Any) -> None:
    with Engine.open(":memory:") as engine:
        engine.conversation("agent:main").append([{"role": "user", "content": "hello"}])
        for call in (engine.grep, engine.ask, engine.describe, engine.expand):
            with pytest.raises(UsageError, match="conversations"):
                call("msg_1", conversations=given)  # type: ignore[operator]
