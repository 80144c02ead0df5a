"""One store, in memory and in a file: every promise is asked of both."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from lossless_claw.store.store import Store
from lossless_claw.store.verify import verify


@pytest.fixture(params=["memory", "file"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """A fresh store, which verifies when the test is over."""
    path = ":memory:" if request.param == "memory" else str(tmp_path / "lcm.db")
    opened = Store.open(path)
    yield opened
    found = verify(opened.database)
    assert found.ok, [check for check in found.checks if check.faults]
    opened.close()
