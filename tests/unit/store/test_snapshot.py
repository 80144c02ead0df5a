"""A snapshot is one reading: what is committed meanwhile is not seen, and readers nest."""

from __future__ import annotations

import threading
from pathlib import Path

import lossless_claw as lcm
from lossless_claw.assemble import assembler
from lossless_claw.store.sqlite import READERS
from lossless_claw.store.store import Store


def test_what_is_committed_meanwhile_is_not_seen(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "lcm.db")
    with store.snapshot():
        assert store.conversations.all_ids() == []
        writer = threading.Thread(target=store.conversations.get_or_create, args=("new", None))
        writer.start()
        writer.join()
        assert store.conversations.all_ids() == []
    assert store.conversations.all_ids() == [1]
    store.close()


def test_nested_readers_use_one_connection(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "lcm.db")
    barrier = threading.Barrier(READERS)
    done = []

    def read() -> None:
        with store.database.read() as outer:
            barrier.wait()
            with store.database.read() as inner:
                done.append(inner is outer)

    threads = [threading.Thread(target=read) for _ in range(READERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert done == [True] * READERS
    store.close()


def test_an_assembly_never_mixes_two_states(tmp_path: Path, monkeypatch) -> None:
    """A sweep published between its readings would leave messages out that nothing covers."""
    with lcm.open(tmp_path / "lcm.db") as engine:
        chat = engine.conversation("lane")
        chat.append([{"role": "user", "content": f"message {n} " * 60} for n in range(80)])
        before = chat.assemble(20_000, live=False)
        select = assembler.select

        def meanwhile(snapshot, room):
            thread = threading.Thread(target=chat.compact, args=(6_000,), kwargs={"force": True})
            thread.start()
            thread.join()
            return select(snapshot, room)

        monkeypatch.setattr(assembler, "select", meanwhile)
        during = chat.assemble(20_000, live=False)
        assert during.messages == before.messages
        monkeypatch.undo()
        after = chat.assemble(20_000, live=False)
        assert after.report.items["summaries"] > 0
