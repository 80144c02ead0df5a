"""Sources in, summaries out: the protocol, the ladder, and the summarizer without a model."""

from __future__ import annotations

from lossless_claw.summarize.extractive import Extractive
from lossless_claw.summarize.ladder import Cause, Failure, write
from lossless_claw.summarize.summarizer import Request, Summarizer, Text, from_callable

__all__ = [
    "Cause",
    "Extractive",
    "Failure",
    "Request",
    "Summarizer",
    "Text",
    "from_callable",
    "write",
]
