from __future__ import annotations

import pytest

from lossless_claw.model import Shape
from lossless_claw.shapes import detect, detect_list


@pytest.mark.parametrize(
    ("message", "shape"),
    [
        ({"role": "user", "content": "hi"}, None),
        ({"role": "user", "content": [{"type": "text", "text": "hi"}]}, None),
        ({"role": "system", "content": "be brief"}, None),
        ({}, None),
        ({"role": 5, "type": []}, None),
        ({"role": "toolResult", "content": []}, Shape.OPENCLAW),
        ({"role": "bashExecution", "command": "ls", "output": ""}, Shape.OPENCLAW),
        ({"role": "assistant", "content": [], "stopReason": "stop"}, Shape.OPENCLAW),
        ({"role": "assistant", "content": [{"type": "toolCall"}]}, Shape.OPENCLAW),
        ({"role": "user", "content": [{"type": "image", "data": "aGk="}]}, Shape.OPENCLAW),
        (
            {"role": "assistant", "content": [{"type": "thinking", "thinkingSignature": ""}]},
            Shape.OPENCLAW,
        ),
        ({"role": "tool", "tool_call_id": "a", "content": "x"}, Shape.OPENAI),
        ({"role": "tool", "toolCallId": "a", "content": "x"}, Shape.OPENCLAW),
        ({"role": "developer", "content": "x"}, Shape.OPENAI),
        ({"role": "assistant", "content": None, "tool_calls": []}, Shape.OPENAI),
        ({"role": "assistant", "content": "", "reasoning_content": "hm"}, Shape.OPENAI),
        ({"role": "user", "content": [{"type": "image_url"}]}, Shape.OPENAI),
        ({"role": "user", "content": [{"type": "image", "source": {}}]}, Shape.ANTHROPIC),
        (
            {"role": "assistant", "content": [{"type": "thinking", "signature": "x"}]},
            Shape.ANTHROPIC,
        ),
        ({"role": "assistant", "content": [{"type": "tool_use"}]}, Shape.ANTHROPIC),
        ({"role": "assistant", "content": "x", "stop_reason": "end_turn"}, Shape.ANTHROPIC),
        ({"role": "assistant", "content": "x", "type": "message", "model": "m"}, Shape.ANTHROPIC),
        ({"role": "user", "content": "x", "type": "message"}, Shape.RESPONSES),
        ({"role": "user", "content": [{"type": "input_text", "text": "x"}]}, Shape.RESPONSES),
        ({"type": "function_call_output", "call_id": "a", "output": "x"}, Shape.RESPONSES),
        ({"type": "reasoning"}, Shape.RESPONSES),
    ],
)
def test_a_shape_is_told_by_what_only_one_provider_writes(message, shape):
    assert detect(message) is shape


def test_the_newest_telling_message_decides():
    claw = {"role": "toolResult", "content": []}
    chat = {"role": "tool", "content": "x"}
    assert detect_list([claw, chat, {"role": "user", "content": "hi"}]) is Shape.OPENAI
    assert detect_list([chat, claw]) is Shape.OPENCLAW


def test_a_list_that_tells_nothing_is_openai_chat():
    assert detect_list([]) is Shape.OPENAI
    assert detect_list([{"role": "user", "content": "hi"}]) is Shape.OPENAI
