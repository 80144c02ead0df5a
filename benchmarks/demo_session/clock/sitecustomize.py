"""Sets the clock of the story's Python programs to the time of the story.

The recording shell puts this folder first on their module path. A program sees the story's
time when it starts, and time passes as it really does.
"""

from __future__ import annotations

import datetime as dt
import os
import time
from typing import Any

_real = time.time
_offset = float(os.environ["STORY_NOW"]) - _real()


def _now() -> float:
    return _real() + _offset


class _StoryDatetime(dt.datetime):
    @classmethod
    def now(cls, tz: Any = None) -> Any:
        return cls.fromtimestamp(_now(), tz)


_StoryDatetime.__name__ = _StoryDatetime.__qualname__ = "datetime"
_StoryDatetime.__module__ = "datetime"
time.time = _now
dt.datetime = _StoryDatetime  # type: ignore[misc]
