"""A store with messages of every shape and a DAG of three levels, for the tests of recall."""

from __future__ import annotations

import lossless_claw as lcm

LONG = "\n".join(f"line {n}: " + "lorem ipsum 数据 " * 3 for n in range(120))


def filled(count: int = 12, long: bool = True):
    """An open store of *count* messages under two leaves and one condensed summary."""
    engine = lcm.open(":memory:")
    chat = engine.conversation("agent:main:main")
    texts = [f"message {n} about topic{n}" for n in range(count)]
    if long:
        texts[3] = LONG
    chat.append(
        [
            {"role": "user" if n % 2 else "assistant", "content": text}
            for n, text in enumerate(texts)
        ]
    )
    ids = list(range(1, count + 1))
    half = count // 2
    add_summary(engine.store, "sum_a", "first half", messages=ids[:half])
    add_summary(engine.store, "sum_b", "second half", messages=ids[half:])
    add_summary(engine.store, "sum_c", "all of it", sources=["sum_a", "sum_b"], depth=1)
    return engine


def add_summary(store, name, text, *, messages=(), sources=(), depth=0, conversation=1):
    """Write one node with plain SQL."""
    with store.database.transaction() as connection:
        connection.execute(
            """INSERT INTO summaries(summary_id, conversation_id, kind, depth, content, token_count,
            source_message_token_count, created_at) VALUES (?, ?, ?, ?, ?, 1, 77, '2026-01-01 00:00:00')""",
            (name, conversation, "condensed" if depth else "leaf", depth, text),
        )
        for place, message in enumerate(messages):
            connection.execute(
                "INSERT INTO summary_messages VALUES (?, ?, ?)", (name, message, place)
            )
        for place, source in enumerate(sources):
            connection.execute(
                "INSERT INTO summary_parents VALUES (?, ?, ?)", (name, source, place)
            )
        store.indexing.add_summary(connection, name, text)
