"""The version, in the one place that the package and its build read."""

from __future__ import annotations

__version__ = "0.1.0"
