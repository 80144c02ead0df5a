"""A process killed at any statement leaves a file that verifies and goes on (G1, G2, I14)."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import lossless_claw as lcm

from .victim import BUDGET, history

VICTIM = Path(__file__).with_name("victim.py")
SAMPLES = 12


def run(path: Path, last: int) -> subprocess.CompletedProcess[str]:
    source = Path(lcm.__file__).parents[1]
    return subprocess.run(
        [sys.executable, str(VICTIM), str(path), str(last)],
        capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": str(source)},
    )  # fmt: skip


def check_goes_on(path: Path) -> None:
    """Check that the file is whole, and that the turn said again completes it."""
    with lcm.open(path) as engine:
        assert engine.verify().ok
        chat = engine.conversation("lane")
        chat.after_turn(history(12), budget=BUDGET)
        assert list(chat.export()) == history(12)
        assert chat.assemble(BUDGET).fits
        assert engine.verify().ok


def statements(tmp_path: Path) -> int:
    lived = run(tmp_path / "whole.db", -1)
    assert lived.returncode == 0, lived.stderr
    return int(lived.stdout)


def test_killed_at_statements_all_over_a_turn(tmp_path: Path) -> None:
    count = statements(tmp_path)
    for n in range(SAMPLES):
        path = tmp_path / f"{n}.db"
        assert run(path, 1 + n * (count - 1) // (SAMPLES - 1)).returncode == 9
        check_goes_on(path)


@pytest.mark.slow
def test_killed_at_every_statement_of_a_turn(tmp_path: Path) -> None:
    for last in range(1, statements(tmp_path) + 1):
        path = tmp_path / f"{last}.db"
        assert run(path, last).returncode == 9
        check_goes_on(path)
