"""What every test may ask for."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of shared test data, read-only: $LCM_SHARED, or `shared` beside the repository."""
    named = os.environ.get("LCM_SHARED")
    folder = Path(named) if named else ROOT.parent / "shared"
    if not (folder / "data").is_dir():
        pytest.skip(f"no shared test data at {folder}: set LCM_SHARED to use some")
    return folder


@pytest.fixture(scope="session")
def root() -> Path:
    """The repository."""
    return ROOT
