"""What a message becomes in the columns, and that it comes back exactly (G1)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lossless_claw.errors import HostError
from lossless_claw.message.encoding import storable
from lossless_claw.message.original import DamagedError, restore
from lossless_claw.message.projection import CALLS, RESULTS, Projection, project
from lossless_claw.message.text import plain_text
from lossless_claw.model import Entry, Outside, Raw
from lossless_claw.testing.histories import (
    SPELLINGS,
    conversations,
    hostile_conversations,
    json_values,
)

IMAGE = "iVBOR" + "A" * 4000
THINKING = {"type": "thinking", "thinking": "hm", "signature": "s1g"}
CALL = {"type": "toolCall", "id": "call_1", "name": "ls", "arguments": {"path": "a", "n": 1.0}}


def back(row: Projection) -> Raw:
    return restore(row.role, row.content, row.parts, row.rest)


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("hi", "hi"),
        ([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], "a\nb"),
        ([THINKING, {"type": "text", "text": "answer"}, CALL], "answer"),
        ([CALL], ""),
        ([{"type": "tool_result", "tool_use_id": "t", "content": "out"}], ""),
        ('{"text":"inner"}', "inner"),
        ('{"a":1}', '{"a":1}'),
        (42, "42"),
        ({"text": "deep"}, "deep"),
        (None, ""),
        ([], ""),
    ],
)
def test_content_column_follows_the_specification(content: Any, text: str) -> None:
    """Spec store-and-ingest 3.3."""
    assert plain_text({"role": "user", "content": content}) == text


def test_json_text_that_would_lose_a_fact_stays_as_it_is() -> None:
    """The row tagged as a flaw in 3.3, and E44: two outcomes with one message differ."""
    ok, failed = ('{"status":"ok","message":"done"}', '{"status":"failed","message":"done"}')
    rows = [project(Entry({"role": "tool", "content": text})) for text in (ok, failed)]
    assert [row.content for row in rows] == [ok, failed]
    assert rows[0].hash != rows[1].hash


@pytest.mark.parametrize(
    "block",
    [
        {"type": "image", "data": IMAGE, "mimeType": "image/png"},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": IMAGE}},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64," + IMAGE}},
        {"type": "input_image", "image_url": "data:image/png;base64," + IMAGE},
    ],
)
def test_base64_never_becomes_text_and_comes_back(block: Raw) -> None:
    message = {"role": "user", "content": [block]}
    row = project(Entry(message))
    assert IMAGE not in row.content
    assert row.outside is None
    assert back(row) == message


@pytest.mark.parametrize(
    "message",
    [
        {"role": "user", "content": "plain"},
        {"role": "user", "content": [{"type": "text", "text": "one block"}], "timestamp": 17},
        {"role": "assistant", "content": [THINKING, CALL], "usage": {"cost": 0.1}, "x": None},
        {"role": "assistant", "content": None, "tool_calls": [
            {"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}]},
        {"role": "tool", "tool_call_id": "c", "content": "out"},
        {"role": "toolResult", "toolCallId": "c", "toolName": "f", "isError": True,
         "content": [{"type": "text", "text": "boom"}], "timestamp": 1.5},
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "t", "content": "out", "is_error": False},
            {"type": "tool_result", "tool_use_id": "u", "content": [{"type": "text", "text": "x"}]}]},
        {"type": "function_call_output", "call_id": "c", "output": "text"},
        {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}", "id": "fc_1"},
        {"role": "bashExecution", "command": "ls", "output": "a\nb", "exitCode": 0},
        {"role": "nobody", "content": {"a": [1, 2.0, None]}},
        {"content": "no role"},
        {"role": "user", "content": "lone \ud800 surrogate and \x00 NUL"},
        {"role": "user", "content": [{"type": "text", "text": "\udfff", "extra": "\ud800"}]},
        {"role": "user", "content": "n", "big": 12345678901234567890123, "f": 1e300, "e": -0.0},
        {"role": "user", "content": "hi", "weird": float("inf")},
        {"role": "assistant", "content": [{"type": "toolCall", "id": "", "name": "", "arguments": 1}]},
        {"role": "assistant", "content": [7, "text", None, {"no": "type"}]},
    ],
)  # fmt: skip
def test_every_shape_restores_equal(message: Raw) -> None:
    restored = back(project(Entry(message)))
    assert restored == message
    assert json.dumps(restored, sort_keys=True) == json.dumps(message, sort_keys=True)


def test_nan_comes_back() -> None:
    restored = back(project(Entry({"role": "user", "content": "x", "score": float("nan")})))
    assert json.dumps(restored) == '{"role": "user", "content": "x", "score": NaN}'


@given(st.sampled_from(list(SPELLINGS)).flatmap(conversations) | hostile_conversations(None))
def test_generated_messages_restore_equal(history: list[Raw]) -> None:
    for message in history:
        assert back(project(Entry(message))) == message


@given(st.dictionaries(st.text(max_size=8), json_values(), max_size=5))
def test_any_object_restores_equal(message: Raw) -> None:
    row = project(Entry(message))
    assert json.dumps(back(row), sort_keys=True) == json.dumps(message, sort_keys=True)
    row.content.encode()


@pytest.mark.parametrize(
    ("message", "why"),
    [
        ({"role": "user", "content": "hi"}, None),
        ({"role": "user", "content": " \n"}, Outside.NOISE),
        ({"role": "assistant", "content": [], "stopReason": "error"}, Outside.NOISE),
        ({"role": "assistant", "content": [{"type": "text", "text": ""}]}, Outside.NOISE),
        ({"role": "assistant", "content": "partial", "stopReason": "aborted"}, None),
        ({"role": "assistant", "content": [CALL]}, None),
        ({"role": "oracle", "content": "hi"}, Outside.ROLE),
        ({"content": "hi"}, Outside.ROLE),
    ],
)
def test_outside_names_why_a_message_is_not_shown(message: Raw, why: Outside | None) -> None:
    assert project(Entry(message)).outside is why


def test_a_branch_wins_over_every_other_reason() -> None:
    entry = Entry({"role": "user", "content": ""}, on_branch=True)
    assert project(entry).outside is Outside.BRANCH


def test_tool_ids_of_calls_and_results_are_found() -> None:
    call = project(Entry({"role": "assistant", "content": [CALL]}))
    result = project(Entry({"role": "tool", "tool_call_id": "call_1", "content": "x"}))
    both = project(Entry({"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": "t1", "content": "a"},
        {"type": "tool_result", "tool_use_id": "t2", "content": "b"}]}))  # fmt: skip
    assert (call.calls, call.results, call.flags) == (("call_1",), (), CALLS)
    assert (result.calls, result.results, result.flags) == ((), ("call_1",), RESULTS)
    assert (both.calls, both.results, both.role) == ((), ("t1", "t2"), "user")


def test_identity_leaves_host_only_keys_out() -> None:
    bare = {"role": "user", "content": "hi"}
    faces = [
        {**bare, "timestamp": 17, "id": "e1", "usage": {}},
        {"role": "user", "content": [{"type": "text", "text": "hi"}]},
        {"role": "user", "content": [
            {"type": "text", "text": "hi", "cache_control": {"type": "ephemeral"}}]},
    ]  # fmt: skip
    assert {project(Entry(face)).hash for face in faces} == {project(Entry(bare)).hash}


@pytest.mark.parametrize(
    "other",
    [
        {"role": "assistant", "content": "hi"},
        {"role": "user", "content": "hi "},
        {"role": "user", "content": "hi", "tool_call_id": "c"},
        {"role": "user", "content": [{"type": "text", "text": "hi"}, {"type": "text", "text": ""}]},
    ],
)
def test_identity_tells_messages_apart(other: Raw) -> None:
    assert project(Entry(other)).hash != project(Entry({"role": "user", "content": "hi"})).hash


def test_upstream_hash_vectors() -> None:
    """Spec store-and-ingest 2.2."""
    hello = project(Entry({"role": "user", "content": "hello"}))
    empty = project(Entry({"role": "tool", "content": ""}))
    assert hello.upstream_hash == (
        "87ce4613405ac8c20165d125a5c2219e8b38a9e030616dffd73a89faaf7293c8"
    )
    assert empty.upstream_hash == (
        "1c5317d605757dc1b96f56eb075eb87cb9a2d91c4b5ea4cf8775bab160b9dcf3"
    )


@pytest.mark.parametrize(
    ("value", "stored"),
    [
        (1_772_359_200_999, "2026-03-01 10:00:00"),
        ("2026-03-01T10:00:00+02:00", "2026-03-01 08:00:00"),
        ("2026-03-01", "2026-03-01 00:00:00"),
        ("2026-03-01T10:00", "2026-03-01 10:00:00"),
        ("2026-03-01 10:00:00.123456", "2026-03-01 10:00:00"),
        ("2026-03-01T10:00:00.5Z", "2026-03-01 10:00:00"),
        ("2026-03-01T10:00:00+0200", None),
        ("Sun Mar 1 2026", None),
        ("1772359200000", None),
        ("2026-02-30", None),
        (True, None),
        (1e400, None),
        (-1e17, None),
        (10**400, None),
        ({}, None),
    ],
)
def test_times_in_every_spelling(value: Any, stored: str | None) -> None:
    """Spec store-and-ingest 2.4, E58."""
    row = project(Entry({"role": "user", "content": "x", "timestamp": value}))
    assert row.created_at == stored


def test_the_envelope_gives_the_time_when_the_message_has_none() -> None:
    entry = Entry({"role": "user", "content": "x"}, timestamp="2026-03-01T10:00:00Z")
    assert project(entry).created_at == "2026-03-01 10:00:00"


def test_too_deep_nesting_is_a_named_error() -> None:
    deep: Any = "x"
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(HostError, match="nested too deeply"):
        project(Entry({"role": "user", "content": deep}))


@given(st.text(st.characters(codec="utf-16-le", categories=["Cs", "L"])))
def test_storable_text_can_be_encoded(text: str) -> None:
    assert len(storable(text).encode()) >= 0


def test_damaged_rest_is_noticed() -> None:
    row = project(Entry({"role": "user", "content": "x", "usage": {"input": 5}}))
    assert row.rest is not None
    for at in range(len(row.rest)):
        broken = row.rest[:at] + bytes([row.rest[at] ^ 0x55]) + row.rest[at + 1 :]
        try:
            restored = restore(row.role, row.content, row.parts, broken)
        except DamagedError:
            continue
        # The last bits of a deflated stream mean nothing.
        assert restored == {"role": "user", "content": "x", "usage": {"input": 5}}


def test_openclaw_sender_facts_are_kept_in_their_column() -> None:
    """Spec store-and-ingest 3.7."""
    message = {"role": "user", "content": "x", "__openclaw": {
        "senderName": "Ana", "senderId": "7", "senderUsername": " ", "other": 1}}  # fmt: skip
    assert project(Entry(message)).sender == '{"senderId":"7","senderName":"Ana"}'
