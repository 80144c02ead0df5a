"""The programs in `examples/` and the code of the README run as they are written."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import lossless_claw as lcm


def test_own_loop_remembers_between_runs(root: Path, tmp_path: Path) -> None:
    loop, database = root / "examples" / "own_loop.py", tmp_path / "loop.db"

    def run(*lines: str) -> list[str]:
        done = subprocess.run(
            [sys.executable, str(loop), str(database)],
            input="\n".join(lines) + "\n", capture_output=True, text=True, check=True,
        )  # fmt: skip
        return done.stdout.splitlines()

    first = run("the staging password rotates on Thursdays", "remind me of nothing now")
    assert first[0].startswith("Noted.")
    again = run("when does the staging password rotate?")
    assert again == ["I remember: the staging password rotates on Thursdays"]
    with lcm.open(database) as engine:
        assert engine.verify().ok


def test_the_readme_block_runs(root: Path, tmp_path: Path, monkeypatch) -> None:
    readme = (root / "README.md").read_text("utf-8")
    block = next(code for code in re.findall(r"```python\n(.*?)```", readme, re.DOTALL))
    monkeypatch.chdir(tmp_path)
    history = [{"role": "user", "content": "we used wrangler deploy to ship it"}]
    messages = [{"role": "assistant", "content": "shipped"}]
    with lcm.open("lcm.db") as engine:
        chat = engine.conversation("agent:main:main")
        turns = [{"role": "user", "content": f"step {n} " * 200} for n in range(60)]
        chat.append(turns)
        (summary, *_) = chat.compact(8_000, force=True).summaries
    names = {"history": [*turns, *history], "messages": messages}
    exec(block.replace("sum_…", summary), names)
    assert names["context"].fits
    assert names["context"].messages[-1] == messages[-1]
