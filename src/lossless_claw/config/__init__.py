"""Settings: declared once (`keys`), loaded once (`load`), passed in wherever they are needed."""

from __future__ import annotations

from lossless_claw.config.load import Config, load
from lossless_claw.config.paths import Paths, resolve

__all__ = ["Config", "Paths", "load", "resolve"]
