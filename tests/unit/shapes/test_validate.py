"""Each rule refuses what its provider refuses, and nothing of a good list."""

from __future__ import annotations

import pytest

from lossless_claw.model import Shape
from lossless_claw.shapes import validate

USER = {"role": "user", "content": "go"}


def chat_call(i="c", arguments="{}", **extra):
    call = {"id": i, "type": "function", "function": {"name": "w", "arguments": arguments}}
    return {"role": "assistant", "content": None, "tool_calls": [call], **extra}


def chat_result(i="c", content="ok"):
    return {"role": "tool", "tool_call_id": i, "content": content}


def use(i="c", **extra):
    return {"type": "tool_use", "id": i, "name": "w", "input": {}, **extra}


def said(*blocks):
    return {"role": "assistant", "content": list(blocks)}


def heard(*call_ids, text=None):
    blocks = [{"type": "tool_result", "tool_use_id": i, "content": "ok"} for i in call_ids]
    return {"role": "user", "content": blocks + ([{"type": "text", "text": text}] if text else [])}


def claw_call(i="c", arguments=None):
    call = {"type": "toolCall", "id": i, "name": "w", "arguments": arguments or {}}
    return {"role": "assistant", "content": [call]}


def claw_result(i="c"):
    return {"role": "toolResult", "toolCallId": i, "content": [{"type": "text", "text": "ok"}]}


def rules(messages, shape, **options):
    return {fault.rule for fault in validate(messages, shape, **options)}


@pytest.mark.parametrize(
    ("messages", "rule"),
    [
        ([{"role": "alien", "content": "x"}], "role"),
        ([{**USER, "timestamp": 1}], "key"),
        ([{"role": "user", "content": None}], "empty"),
        ([{"role": "user", "content": " "}], "empty"),
        ([{"role": "assistant", "content": None}], "empty"),
        ([{"role": "user", "content": []}], "content"),
        ([{"role": "user", "content": [{"type": "text", "text": ""}]}], "empty"),
        ([{"role": "user", "content": [{"type": "image"}]}], "part"),
        ([{"role": "assistant", "content": [{"type": "image_url"}]}], "part"),
        ([{"role": "assistant", "content": "x", "tool_calls": []}], "tool-calls"),
        ([chat_result()], "result-without-call"),
        ([chat_call(), USER], "call-without-result"),
        ([chat_call(), USER, chat_result()], "result-without-call"),
        ([chat_call(), chat_result(), chat_result()], "result-without-call"),
        ([chat_call(), chat_result("other")], "result-without-call"),
        ([chat_call(), chat_result(content="")], "empty"),
        ([chat_call(arguments="{broken"), chat_result()], "arguments"),
        ([chat_call(arguments={}), chat_result()], "arguments"),
        ([chat_call(i=None)], "call-id"),
    ],
)
def test_openai_refuses(messages, rule):
    assert rule in rules(messages, Shape.OPENAI)


@pytest.mark.parametrize(
    ("messages", "rule"),
    [
        ([said({"type": "text", "text": "x"})], "first"),
        ([{"role": "system", "content": "x"}], "role"),
        ([{**USER, "id": "x"}], "key"),
        ([{"role": "user", "content": ""}], "empty"),
        ([{"role": "user", "content": []}], "empty"),
        ([{"role": "user", "content": [{"type": "text", "text": " "}]}], "empty"),
        ([USER, said(use(), use()), heard("c")], "call-id"),
        ([USER, said(use()), heard("c"), said(use()), heard("c")], "call-id"),
        ([USER, said(use("a|b")), heard("a|b")], "call-id"),
        ([USER, said(use(input="x")), heard("c")], "arguments"),
        ([USER, said(use()), USER], "call-without-result"),
        ([USER, said(use("a"), use("b")), heard("a"), USER], "call-without-result"),
        ([USER, said(use("a"), use("b")), heard("a", text="x")], "call-without-result"),
        ([USER, said(use()), heard("d")], "result-without-call"),
        ([USER, heard("c")], "result-without-call"),
        (
            [USER, said(use()), {**heard("c"), "content": heard("c", text="x")["content"][::-1]}],
            "order",
        ),
        ([USER, said({"type": "thinking", "thinking": "x"})], "thinking"),
        ([USER, said({"type": "image", "source": {}})], "media"),
        ([USER, said({"text": "x"})], "block"),
    ],
)
def test_anthropic_refuses(messages, rule):
    assert rule in rules(messages, Shape.ANTHROPIC)


@pytest.mark.parametrize(
    ("messages", "rule"),
    [
        ([{"role": "tool", "content": "x"}], "role"),
        ([{"role": "user", "content": []}], "empty"),
        ([said({"type": "thinking", "thinking": "x"})], "empty"),
        ([claw_call(), USER], "call-without-result"),
        ([claw_call(), claw_call("d"), claw_result("d"), claw_result("c")], "call-without-result"),
        ([claw_result()], "result-without-call"),
        ([claw_call(), claw_result(), claw_result()], "result-without-call"),
        ([claw_call(None)], "call"),
        ([claw_call(arguments="x"), claw_result()], "call"),
    ],
)
def test_openclaw_refuses(messages, rule):
    assert rule in rules(messages, Shape.OPENCLAW)


OPEN = {
    Shape.OPENAI: [USER, chat_call()],
    Shape.ANTHROPIC: [USER, said(use("a"), use("b")), heard("a")],
    Shape.OPENCLAW: [USER, claw_call()],
}


@pytest.mark.parametrize("shape", OPEN)
def test_an_open_last_exchange_is_accepted_on_request(shape):
    assert rules(OPEN[shape], shape) == set()
    assert rules(OPEN[shape], shape, allow_open=False) == {"call-without-result"}
