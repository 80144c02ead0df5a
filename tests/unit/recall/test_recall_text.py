from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lossless_claw.recall.text import full_text

IMAGE = {"type": "image", "data": "aGk=", "mimeType": "image/png"}


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ({"role": "user", "content": "plain"}, "plain"),
        (
            {"role": "user", "content": [{"type": "text", "text": "a"}, IMAGE]},
            "a\n[image image/png]",
        ),
        (
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "hm", "thinkingSignature": "s"},
                    {"type": "toolCall", "id": "1", "name": "exec", "arguments": {"cmd": "ls"}},
                ],
            },
            '[thinking]\nhm\n[/thinking]\n[call exec] {"cmd": "ls"}',
        ),
        (
            {
                "role": "toolResult",
                "toolCallId": "1",
                "toolName": "exec",
                "content": [{"type": "text", "text": "out"}],
            },
            "out",
        ),
        (
            {
                "role": "assistant",
                "content": None,
                "reasoning_content": "hm",
                "tool_calls": [
                    {
                        "id": "1",
                        "type": "function",
                        "function": {"name": "f", "arguments": '{"a":1}'},
                    },
                    {"id": "2", "type": "custom", "custom": {"name": "g", "input": "free"}},
                ],
            },
            '[thinking]\nhm\n[/thinking]\n[call f] {"a":1}\n[call g] free',
        ),
        ({"role": "tool", "tool_call_id": "1", "content": "out"}, "out"),
        (
            {
                "role": "user",
                "content": [
                    {
                        "type": "tool_result",
                        "tool_use_id": "1",
                        "is_error": True,
                        "content": [{"type": "text", "text": "bad"}],
                    }
                ],
            },
            "[result failed]\nbad",
        ),
        (
            {
                "role": "assistant",
                "content": [{"type": "tool_use", "id": "1", "name": "f", "input": {}}],
            },
            "[call f] {}",
        ),
        (
            {"role": "assistant", "content": [{"type": "redacted_thinking", "data": "x"}]},
            "[thinking, redacted by the provider]",
        ),
        ({"type": "function_call", "call_id": "1", "name": "f", "arguments": "{}"}, "[call f] {}"),
        ({"type": "function_call_output", "call_id": "1", "output": "out"}, "[result]\nout"),
        ({"type": "custom_tool_call", "name": "patch", "input": "free"}, "[call patch] free"),
        (
            {
                "type": "reasoning",
                "summary": [{"type": "summary_text", "text": "hm"}],
                "encrypted_content": "x",
            },
            "[thinking]\nhm\n[/thinking]",
        ),
        (
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "a"}]},
            "a",
        ),
        (
            {"type": "local_shell_call", "action": {"command": ["ls"]}},
            '[call local_shell_call] {"command": ["ls"]}',
        ),
        (
            {
                "role": "user",
                "content": [{"type": "input_image", "image_url": "data:image/webp;base64,AA"}],
            },
            "[image image/webp]",
        ),
        (
            {
                "role": "user",
                "content": [
                    {"type": "image_url", "image_url": {"url": "data:image/gif;base64,AA"}}
                ],
            },
            "[image image/gif]",
        ),
        (
            {
                "role": "user",
                "content": [
                    {
                        "type": "image",
                        "source": {"type": "base64", "media_type": "image/jpeg", "data": "AA"},
                    }
                ],
            },
            "[image image/jpeg]",
        ),
        ({"role": "user", "content": [{"type": "novel", "x": 1}]}, '{"type": "novel", "x": 1}'),
        (
            {"role": "bashExecution", "command": "ls", "output": "out"},
            "[call bashExecution] ls\nout",
        ),
        ({"role": "assistant", "content": "", "refusal": "no"}, "no"),
        ({"role": "user", "content": ["bare", 3]}, "bare\n3"),
        ({}, ""),
    ],
)
def test_what_is_read_of_each_shape(message, text):
    assert full_text(message) == text


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "type",
                    "content",
                    "text",
                    "name",
                    "input",
                    "tool_calls",
                    "function",
                    "output",
                    "summary",
                    "arguments",
                ]
            ),
            inner
            | st.sampled_from(
                ["text", "tool_use", "tool_result", "thinking", "image", "function_call"]
            ),
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(
    st.dictionaries(
        st.sampled_from(
            ["role", "type", "content", "tool_calls", "function_call", "command", "reasoning"]
        ),
        JSON,
        max_size=5,
    )
)
def test_no_message_is_too_strange_to_read(message):
    assert isinstance(full_text(message), str)
