"""Hypothesis strategies for conversations in each provider's shape.

`conversations` are what a well-behaved host hands in; `hostile_conversations` are the same
after what goes wrong in practice: results lost, displaced or doubled, ids missing or used
again, blanks, wrong types, turns that broke off.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from typing import Any

from hypothesis import strategies as st
from msgspec import Struct

from lossless_claw.model import Raw, Shape

_WORDS = (
    "hi",
    "ok",
    "continue",
    "Datei lesen",
    "次へ",
    "🦀 done",
    "42 rows",
    "a\x00b",
    "line\nline",
)
_TOOLS = ("read", "bash", "get_time", "mcp__db__query")
_IDS = ("call_1", "toolu_01A", "c9", "call_x|fc_1", "id with space", "t" * 45)


class Speech(Struct, frozen=True):
    """One thing said, before it is spelled for a provider.

    `calls` are (id, tool, arguments), `answers` are (id, tool, text).
    """

    role: str
    text: str = ""
    thought: str = ""
    calls: tuple[tuple[str, str, Raw], ...] = ()
    answers: tuple[tuple[str, str, str], ...] = ()


@cache
def texts() -> st.SearchStrategy[str]:
    """Texts that are not blank; some come again and again."""
    free = st.text(st.characters(codec="utf-8"), min_size=1, max_size=40)
    return st.sampled_from(_WORDS) | free.filter(lambda text: bool(text.strip()))


@cache
def _maybe_texts() -> st.SearchStrategy[str]:
    return st.just("") | texts()


@cache
def json_values() -> st.SearchStrategy[Any]:
    """Any JSON value without NaN, a few levels deep."""
    scalars = (
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    )
    return st.recursive(
        scalars | st.text(max_size=12) | st.sampled_from(_WORDS),
        lambda inner: (
            st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
        ),
        max_leaves=8,
    )


@st.composite
def speeches(draw: st.DrawFn) -> list[Speech]:
    """A believable course: sometimes a system head, then users, answers and tool rounds."""
    course = [Speech("system", draw(texts()))] if draw(st.booleans()) else []
    number = 0
    for _ in range(draw(st.integers(0, 5))):
        course.append(Speech("user", draw(texts())))
        for _ in range(draw(st.integers(0, 2))):
            calls = []
            for _ in range(draw(st.integers(1, 3))):
                number += 1
                calls.append((f"call_{number}", draw(st.sampled_from(_TOOLS)), draw(_arguments())))
            said = draw(_maybe_texts())
            course.append(Speech("assistant", said, draw(_maybe_texts()), tuple(calls)))
            answers = tuple([(call[0], call[1], draw(texts())) for call in calls])
            course.append(Speech("tool", answers=answers))
        if draw(st.booleans()):
            course.append(Speech("assistant", draw(texts()), draw(_maybe_texts())))
    return course


@cache
def _arguments() -> st.SearchStrategy[Raw]:
    return st.dictionaries(st.sampled_from(("path", "q")), texts(), max_size=2)


def conversations(shape: Shape) -> st.SearchStrategy[list[Raw]]:
    """Lists of messages of *shape* that its provider takes; maybe empty.

    Anthropic takes the system head beside the messages, so it is left out there.
    """
    spell = SPELLINGS[shape]

    def spelled(course: list[Speech]) -> list[Raw]:
        spoken = [
            speech for speech in course if shape is not Shape.ANTHROPIC or speech.role != "system"
        ]
        return [message for speech in spoken for message in spell(speech)]

    return speeches().map(spelled)


# --- spellings -------------------------------------------------------------------------


def _openai(speech: Speech) -> list[Raw]:
    if speech.role == "tool":
        return [{"role": "tool", "tool_call_id": i, "content": t} for i, _, t in speech.answers]
    message: Raw = {"role": speech.role, "content": speech.text or None}
    if speech.thought:
        message["reasoning_content"] = speech.thought
    if speech.calls:
        message["tool_calls"] = [
            {"id": i, "type": "function", "function": {"name": n, "arguments": json.dumps(a)}}
            for i, n, a in speech.calls
        ]
    return [message]


def _anthropic(speech: Speech) -> list[Raw]:
    if speech.role == "tool":
        results = [
            {"type": "tool_result", "tool_use_id": i, "content": t} for i, _, t in speech.answers
        ]
        return [{"role": "user", "content": results}]
    if not speech.calls and not speech.thought:
        return [{"role": speech.role, "content": speech.text}]
    blocks: list[Raw] = []
    if speech.thought:
        blocks.append({"type": "thinking", "thinking": speech.thought, "signature": "sig=="})
    if speech.text:
        blocks.append({"type": "text", "text": speech.text})
    blocks += [{"type": "tool_use", "id": i, "name": n, "input": a} for i, n, a in speech.calls]
    return [{"role": speech.role, "content": blocks}]


def _openclaw(speech: Speech) -> list[Raw]:
    if speech.role == "tool":
        return [
            {
                "role": "toolResult",
                "toolCallId": i,
                "toolName": n,
                "content": [{"type": "text", "text": t}],
                "isError": False,
                "timestamp": 1765233669394,
            }
            for i, n, t in speech.answers
        ]
    if speech.role != "assistant":
        return [{"role": speech.role, "content": speech.text, "timestamp": 1765233665306}]
    blocks: list[Raw] = []
    if speech.thought:
        blocks.append({"type": "thinking", "thinking": speech.thought, "thinkingSignature": "sig"})
    if speech.text:
        blocks.append({"type": "text", "text": speech.text})
    blocks += [{"type": "toolCall", "id": i, "name": n, "arguments": a} for i, n, a in speech.calls]
    made = {"api": "anthropic-messages", "provider": "anthropic", "model": "model-a"}
    stop = "toolUse" if speech.calls else "stop"
    return [
        {"role": "assistant", "content": blocks, **made, "usage": {"output": 7}, "stopReason": stop}
    ]


SPELLINGS: dict[Shape, Callable[[Speech], list[Raw]]] = {
    Shape.OPENAI: _openai,
    Shape.ANTHROPIC: _anthropic,
    Shape.OPENCLAW: _openclaw,
}


# --- what goes wrong -------------------------------------------------------------------


@st.composite
def hostile_conversations(draw: st.DrawFn, shape: Shape | None = None) -> list[Raw]:
    """A conversation after a few mishaps; without *shape*, of messages of all shapes."""
    course = draw(speeches())
    spellings = list(SPELLINGS.values()) if shape is None else [SPELLINGS[shape]]
    messages = [m for speech in course for m in draw(st.sampled_from(spellings))(speech)]
    for _ in range(draw(st.integers(0, 6))):
        if messages:
            messages = draw(st.sampled_from(_MISHAPS))(draw, messages)
    return messages


Mishap = Callable[[st.DrawFn, list[Raw]], list[Raw]]


def _at(draw: st.DrawFn, messages: list[Raw]) -> int:
    return draw(st.integers(0, len(messages) - 1))


def _lose(draw: st.DrawFn, messages: list[Raw]) -> list[Raw]:
    at = _at(draw, messages)
    return messages[:at] + messages[at + 1 :]


def _displace(draw: st.DrawFn, messages: list[Raw]) -> list[Raw]:
    moved = messages[_at(draw, messages)]
    rest = [message for message in messages if message is not moved]
    at = draw(st.integers(0, len(rest)))
    return [*rest[:at], moved, *rest[at:]]


def _double(draw: st.DrawFn, messages: list[Raw]) -> list[Raw]:
    again = messages[_at(draw, messages)]
    at = draw(st.integers(0, len(messages)))
    return [*messages[:at], again, *messages[at:]]


def _intrude(draw: st.DrawFn, messages: list[Raw]) -> list[Raw]:
    at = draw(st.integers(0, len(messages)))
    return [*messages[:at], draw(_odd_messages()), *messages[at:]]


def _change_id(draw: st.DrawFn, messages: list[Raw]) -> list[Raw]:
    """Change an id everywhere, or in one message only, so that it is strange, used or gone."""
    old = draw(st.sampled_from([f"call_{number}" for number in range(1, 6)]))
    new = draw(st.sampled_from((*_IDS, "", None, 7)))
    only = draw(st.none() | st.integers(0, len(messages) - 1))
    return [
        _replaced(message, old, new) if only in (None, at) else message
        for at, message in enumerate(messages)
    ]


def _replaced(value: Any, old: Any, new: Any) -> Any:
    if isinstance(value, dict):
        return {key: _replaced(inner, old, new) for key, inner in value.items()}
    if isinstance(value, list):
        return [_replaced(inner, old, new) for inner in value]
    return new if value == old else value


@cache
def _odd_values() -> st.SearchStrategy[Any]:
    return json_values() | st.sampled_from(("aborted", "error", "", [], "message"))


def _spoil(draw: st.DrawFn, messages: list[Raw]) -> list[Raw]:
    at = _at(draw, messages)
    key = draw(
        st.sampled_from(("role", "content", "tool_calls", "stopReason", "stop_reason", "type"))
    )
    value = draw(_odd_values())
    return [*messages[:at], {**messages[at], key: value}, *messages[at + 1 :]]


def _spoil_block(draw: st.DrawFn, messages: list[Raw]) -> list[Raw]:
    at = _at(draw, messages)
    content = messages[at].get("content")
    if not isinstance(content, list):
        return messages
    place = draw(st.integers(0, len(content)))
    changed = [*content[:place], draw(_odd_blocks()), *content[place + draw(st.integers(0, 1)) :]]
    return [*messages[:at], {**messages[at], "content": changed}, *messages[at + 1 :]]


def _break_off(draw: st.DrawFn, messages: list[Raw]) -> list[Raw]:
    at = _at(draw, messages)
    if messages[at].get("role") != "assistant":
        return messages
    return [*messages[:at], {**messages[at], "stopReason": "aborted"}, *messages[at + 1 :]]


_MISHAPS: list[Mishap] = [
    _break_off,
    _lose,
    _displace,
    _double,
    _intrude,
    _change_id,
    _spoil,
    _spoil_block,
]


@cache
def _odd_blocks() -> st.SearchStrategy[Any]:
    image = {"type": "image", "data": "aGk=", "mimeType": "image/png"}
    source = {"type": "base64", "media_type": "image/png", "data": "aGk="}
    fixed: list[Any] = [
        {"type": "text", "text": "  "},
        {"type": "text", "text": 5},
        {"type": "thinking", "thinking": "unsigned"},
        {"type": "redacted_thinking", "data": "xyz"},
        image,
        {"type": "image", "source": source},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}},
        {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}},
        {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "x"}},
        {"type": "tool_use", "id": "call_1", "name": "read", "input": "free text"},
        {
            "type": "tool_result",
            "tool_use_id": "call_2",
            "content": [image, {"type": "text", "text": ""}],
        },
        {"type": "toolCall", "id": "call_3", "name": "read", "arguments": "{broken"},
        {"type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": {}},
        {"type": 5},
        "bare string",
        None,
    ]
    return st.sampled_from(fixed) | json_values()


@cache
def _odd_messages() -> st.SearchStrategy[Raw]:
    function = {"name": "read", "arguments": "{}"}
    fixed: list[Raw] = [
        {"role": "user", "content": ""},
        {"role": "assistant", "content": [], "stopReason": "error"},
        {"role": "assistant", "content": None, "function_call": function},
        {"role": "function", "name": "read", "content": "file body"},
        {"role": "assistant", "content": None, "refusal": "I cannot do that."},
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"id": "c", "function": {"name": "x"}}],
        },
        {"role": "toolResult", "toolCallId": "call_1", "content": []},
        {"role": "tool", "tool_call_ids": ["call_2"], "content": "by list"},
        {"role": "bashExecution", "command": "ls", "output": "a.txt", "exitCode": 0},
        {"role": "developer", "content": "be brief"},
        {"role": "system", "content": [{"type": "text", "text": "later head"}]},
        {"role": "alien", "content": "?"},
        {"type": "function_call", "call_id": "call_2", "name": "read", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "call_2", "output": "ok"},
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]},
    ]
    return st.sampled_from(fixed) | st.dictionaries(st.text(max_size=6), json_values(), max_size=3)
