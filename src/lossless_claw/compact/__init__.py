"""When a context has to become smaller: which pass comes next, and the passes of one sweep."""

from __future__ import annotations

from lossless_claw.compact.passes import Reader
from lossless_claw.compact.planner import End, Limits, next_pass
from lossless_claw.compact.sweep import Sweep, sweep

__all__ = ["End", "Limits", "Reader", "Sweep", "next_pass", "sweep"]
