"""No statement on a turn's path reads all messages or parts (G9)."""

from __future__ import annotations

import re
import sqlite3

import pytest

import lossless_claw as lcm

BIG = ("messages", "message_parts", "lossless_message", "context_items", "summaries")
ALIASES = {"m": "messages", "p": "message_parts", "l": "lossless_message", "c": "context_items"}


class Recorder:
    """Keeps every statement that a connection runs."""

    def __init__(self) -> None:
        self.statements: set[str] = set()

    def __call__(self, statement: str) -> None:
        if re.match(r"\s*(SELECT|WITH|UPDATE|DELETE|INSERT)", statement):
            self.statements.add(statement)


def turns(count: int) -> list[dict[str, object]]:
    messages: list[dict[str, object]] = []
    for n in range(count):
        call = {"id": f"c{n}", "type": "function", "function": {"name": "ls", "arguments": "{}"}}
        messages += [
            {"role": "user", "content": f"question {n} " * 30},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{n}", "content": f"output {n} " * 40},
            {"role": "assistant", "content": f"answer {n} " * 30},
        ]
    return messages


@pytest.fixture
def engine() -> lcm.Engine:
    return lcm.open(":memory:")


def scans(engine: lcm.Engine, statements: set[str]) -> list[str]:
    """Return the steps of the statements' plans that read a whole big table."""
    found = []
    with engine.store.database.read() as connection:
        for statement in statements:
            try:
                plan = connection.execute(f"EXPLAIN QUERY PLAN {statement}").fetchall()
            except sqlite3.OperationalError:
                continue  # a statement of FTS5's own, on its shadow tables
            for row in plan:
                step = re.match(r"SCAN (\w+)", row[3])
                if step and ALIASES.get(step[1], step[1]) in BIG:
                    found.append(f"{row[3]}: {statement}")
    return found


def recorded(engine: lcm.Engine, act: object) -> set[str]:
    recorder = Recorder()
    engine.store.database.trace(recorder)
    act()  # type: ignore[operator]
    engine.store.database.trace(None)
    assert len(recorder.statements) > 3
    return recorder.statements


def test_a_turn_and_an_assembly_read_no_whole_table(engine: lcm.Engine) -> None:
    chat = engine.conversation("lane")
    history = turns(60)
    chat.after_turn(history, budget=8_000)
    assert any(item.is_summary for item in engine.store.context.items(chat.id))

    def turn() -> None:
        chat.after_turn(turns(61)[-4:], budget=8_000)
        chat.sync(turns(62))
        chat.append(turns(63)[-4:])
        chat.assemble(8_000)
        chat.assemble(1_000)

    statements = recorded(engine, turn)
    assert scans(engine, statements) == []


def test_a_rewind_reads_no_whole_table(engine: lcm.Engine) -> None:
    chat = engine.conversation("lane")
    chat.sync(turns(30))
    statements = recorded(
        engine, lambda: chat.sync([*turns(29), {"role": "user", "content": "no"}])
    )
    assert scans(engine, statements) == []


def test_the_check_itself_finds_a_scan(engine: lcm.Engine) -> None:
    assert scans(engine, {"SELECT seq FROM messages m WHERE content = 'x'"}) != []
