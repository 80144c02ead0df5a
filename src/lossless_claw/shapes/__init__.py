"""The provider shapes: any message read as blocks, and turns written for a provider.

`parse` never raises and `render` gives a native message back as it came; `validate` says
what a provider would refuse. Nothing here decides what is shown, or pairs calls with
results: that is `assemble`.
"""

from __future__ import annotations

from collections.abc import Sequence

from lossless_claw.errors import UsageError
from lossless_claw.model import Shape
from lossless_claw.shapes import anthropic, openai_chat, openclaw
from lossless_claw.shapes.anthropic import Rendered
from lossless_claw.shapes.block import (
    Block,
    Call,
    Media,
    Other,
    Result,
    Text,
    Thinking,
    Turn,
    calls,
    is_showable,
    results,
)
from lossless_claw.shapes.detect import detect, detect_list
from lossless_claw.shapes.reader import parse
from lossless_claw.shapes.validate import Fault, validate

__all__ = [
    "Block",
    "Call",
    "Fault",
    "Media",
    "Other",
    "Rendered",
    "Result",
    "Text",
    "Thinking",
    "Turn",
    "calls",
    "detect",
    "detect_list",
    "is_showable",
    "parse",
    "render",
    "results",
    "validate",
]


def render(turns: Sequence[Turn], shape: Shape) -> Rendered:
    """Return paired *turns* as messages that a provider of *shape* accepts.

    What is native to the shape keeps its content exactly; the rest is converted. Blank
    messages, unknown roles and assistants of nothing but reasoning are left out. Message n
    stays the same when turns follow it, unless its exchange is open (design G6).

    Raises:
        UsageError: The shape is OpenAI Responses, which is read but not written.
    """
    if shape is Shape.ANTHROPIC:
        return anthropic.render(turns)
    if shape is Shape.OPENAI:
        return Rendered([], openai_chat.render(turns))
    if shape is Shape.OPENCLAW:
        return Rendered([], openclaw.render(turns))
    raise UsageError(
        f"messages cannot be rendered to the shape {shape.value!r}",
        hint="Choose openclaw, openai or anthropic.",
        shape=shape.value,
    )
