"""Several processes on one file lose and double nothing (G1, G2, spec store-and-ingest 7)."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import lossless_claw as lcm

TURNS = Path(__file__).with_name("turns.py")
PROCESSES, COUNT = 4, 40


def start(path: Path, name: str, count: int) -> subprocess.Popen[bytes]:
    source = Path(lcm.__file__).parents[1]
    return subprocess.Popen(
        [sys.executable, str(TURNS), str(path), name, str(count)],
        env={**os.environ, "PYTHONPATH": str(source)},
    )


def test_processes_that_start_together_on_no_file_all_store_their_turns(tmp_path: Path) -> None:
    path = tmp_path / "lcm.db"
    started = [start(path, f"p{n}", COUNT) for n in range(PROCESSES)]
    assert [process.wait() for process in started] == [0] * PROCESSES
    with lcm.open(path) as engine:
        rows = list(engine.conversation("shared").messages())
        assert len(engine.store.conversations.all_ids()) == 1
        assert engine.verify().ok
    stored = [row.original["content"] for row in rows]
    assert len(stored) == len(set(stored)) == PROCESSES * COUNT * 2
    for n in range(PROCESSES):
        mine = [text for text in stored if text.startswith(f"p{n} asks")]
        assert mine == [f"p{n} asks {turn}" for turn in range(COUNT)]


def test_threads_that_create_one_conversation_share_it(tmp_path: Path) -> None:
    """Case O-SES-06."""
    with lcm.open(tmp_path / "lcm.db") as engine:
        barrier = threading.Barrier(20)

        def ingest(n: int) -> None:
            barrier.wait()
            engine.conversation("new").append([{"role": "user", "content": f"message {n}"}])

        threads = [threading.Thread(target=ingest, args=(n,)) for n in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(engine.store.conversations.all_ids()) == 1
        assert len(list(engine.conversation("new").messages())) == 20
        assert engine.verify().ok


def test_a_forked_child_opens_its_own_connection(tmp_path: Path) -> None:
    with lcm.open(tmp_path / "lcm.db") as engine:
        chat = engine.conversation("lane")
        chat.append([{"role": "user", "content": "before the fork"}])
        child = os.fork()
        if child == 0:
            chat.append([{"role": "user", "content": "from the child"}])
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        chat.append([{"role": "user", "content": "after the fork"}])
        stored = [row.original["content"] for row in chat.messages()]
        assert stored == ["before the fork", "from the child", "after the fork"]
        assert engine.verify().ok
