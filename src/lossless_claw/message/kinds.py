"""The types of blocks and items, as all providers and hosts spell them, by what they are.

`text` has narrower sets of its own for the `content` column, which is upstream's (spec
store-and-ingest 3.3).
"""

from __future__ import annotations

TEXTS = frozenset({"text", "input_text", "output_text", "summary_text", "reasoning_text"})
REASONING = frozenset({"thinking", "redacted_thinking", "reasoning"})
CALLS = frozenset({
    "toolCall", "toolUse", "tool_use", "tool-use", "tool_call", "functionCall", "function_call",
    "function", "custom", "custom_tool_call", "server_tool_use", "local_shell_call",
})  # fmt: skip
RESULTS = frozenset({
    "tool_result", "toolResult", "tool_use_result", "function_call_output",
    "custom_tool_call_output", "local_shell_call_output",
})  # fmt: skip
MEDIA = frozenset({
    "file", "image", "image_url", "input_image", "input_file", "document", "audio", "input_audio",
    "video", "input_video",
})  # fmt: skip


def medium(kind: str) -> str:
    """Return what people call a medium of type *kind*, one of `MEDIA`: image, file, audio."""
    return kind.removeprefix("input_").removesuffix("_url")
