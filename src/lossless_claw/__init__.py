"""Lossless context management for LLM agents.

Every message is kept, older ones are summarised into a DAG, each turn the model sees summaries
and fresh tail inside its budget, and anything can be found and read again verbatim.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from lossless_claw.version import __version__

if TYPE_CHECKING:
    from lossless_claw.assemble.assembler import Context, Report
    from lossless_claw.chat import AfterTurn, Chat
    from lossless_claw.compaction import Compaction
    from lossless_claw.config import Config
    from lossless_claw.engine import Engine, ImportItem, open  # noqa: A004 - as below
    from lossless_claw.errors import LcmError
    from lossless_claw.ingest.importer import Ingested
    from lossless_claw.model import Shape
    from lossless_claw.summarize.extractive import Extractive
    from lossless_claw.summarize.summarizer import Request, Summarizer, Text

# Each name is imported when it is first asked for: `lcm status` starts without the stages.
_HOMES = {
    "AfterTurn": "chat",
    "Chat": "chat",
    "Compaction": "compaction",
    "Config": "config",
    "Context": "assemble.assembler",
    "Engine": "engine",
    "Extractive": "summarize.extractive",
    "ImportItem": "engine",
    "Ingested": "ingest.importer",
    "LcmError": "errors",
    "Report": "assemble.assembler",
    "Request": "summarize.summarizer",
    "Shape": "model",
    "Summarizer": "summarize.summarizer",
    "Text": "summarize.summarizer",
    "open": "engine",
}

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
    "Report",
    "Request",
    "Shape",
    "Summarizer",
    "Text",
    "__version__",
    "open",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
