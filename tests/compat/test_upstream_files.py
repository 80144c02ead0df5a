"""A database that upstream's newest release wrote opens in place and is caught up (G10)."""

from __future__ import annotations

import gzip
import sqlite3
from pathlib import Path

import pytest

import lossless_claw as lcm
from lossless_claw.shapes import validate


@pytest.fixture
def sample(shared: Path, tmp_path: Path) -> Path:
    path = tmp_path / "lcm.db"
    path.write_bytes(gzip.decompress((shared / "data/compat/sample_lcm.db.gz").read_bytes()))
    return path


def test_a_file_of_upstream_verifies_searches_and_assembles(sample: Path) -> None:
    with lcm.open(sample) as engine:
        assert engine.verify().ok
        assert engine.grep("database", limit=5).total
        for conversation in engine.store.conversations.all_ids():
            chat = engine.chat(conversation_id=conversation)
            context = chat.assemble(30_000, live=False)
            assert context.fits
            assert validate(context.messages, context.shape) == []
            assert not any(message.exact for message in chat.messages())


def test_what_upstream_adds_later_is_caught_up(sample: Path) -> None:
    lcm.open(sample).close()
    upstream = sqlite3.connect(sample)
    (last,) = upstream.execute("SELECT max(seq) FROM messages WHERE conversation_id = 1").fetchone()
    upstream.execute(
        """INSERT INTO messages(conversation_id, seq, role, content, token_count)
        VALUES (1, ?, 'user', 'written by the other program', 7)""",
        (last + 1,),
    )
    upstream.execute(
        """INSERT INTO context_items(conversation_id, ordinal, item_type, message_id)
        SELECT 1, (SELECT max(ordinal) + 1 FROM context_items WHERE conversation_id = 1),
        'message', max(message_id) FROM messages"""
    )
    upstream.execute(
        """INSERT INTO messages_fts(rowid, content)
        SELECT message_id, content FROM messages ORDER BY message_id DESC LIMIT 1"""
    )
    upstream.commit()
    upstream.close()
    with lcm.open(sample) as engine:
        assert engine.verify().ok
        chat = engine.chat(conversation_id=1)
        said = {"role": "user", "content": "written by the other program"}
        assert chat.assemble(60_000, live=False).messages[-1] == said
        assert chat.sync([said]).added == 0
        assert chat.sync([said, {"role": "assistant", "content": "and I go on"}]).added == 1
        assert engine.verify().ok
