"""Lossless context management for LLM agents.

Every message is kept, older ones are summarised into a DAG, each turn the model sees summaries
and fresh tail inside its budget, and anything can be found and read again verbatim.
"""

from __future__ import annotations

from lossless_claw.assemble.assembler import Context
from lossless_claw.chat import AfterTurn, Chat
from lossless_claw.compaction import Compaction
from lossless_claw.config import Config
from lossless_claw.engine import Engine, ImportItem
from lossless_claw.errors import LcmError
from lossless_claw.ingest.importer import Ingested
from lossless_claw.model import Shape
from lossless_claw.summarize.extractive import Extractive
from lossless_claw.summarize.summarizer import Request, Summarizer, Text
from lossless_claw.version import __version__

open = Engine.open  # noqa: A001 - `lossless_claw.open` reads like the builtin on purpose

__all__ = [
    "AfterTurn",
    "Chat",
    "Compaction",
    "Config",
    "Context",
    "Engine",
    "Extractive",
    "ImportItem",
    "Ingested",
    "LcmError",
    "Request",
    "Shape",
    "Summarizer",
    "Text",
    "__version__",
    "open",
]
