from __future__ import annotations

import pytest

from lossless_claw.transcript.detection import is_index, outline, recognise
from lossless_claw.transcript.formats.messages import find_style

RECORDS = [
    ({"type": "session", "version": 3, "id": "s"}, "openclaw"),
    ({"type": "message", "timestamp": "t", "message": {"role": "user"}}, "openclaw"),
    ({"type": "message", "id": "a", "message": "broken"}, "openclaw"),
    ({"id": "a", "message": {"role": "user", "content": "hi"}}, "openclaw"),
    ({"type": "model_change", "id": "a", "parentId": None}, "openclaw"),
    ({"type": "something_new", "id": "a", "parentId": None}, "openclaw"),
    ({"session_id": "s", "seq": 0, "event_json": "{}"}, "transcript-events"),
    ({"session_id": "s", "event_json": None, "event_zstd": "KLUv"}, "transcript-events"),
    ({"type": "user", "message": {"role": "user"}, "uuid": "u"}, "claude-code"),
    ({"type": "assistant", "message": {"role": "assistant"}}, "claude-code"),
    ({"type": "summary", "summary": "s", "leafUuid": "u"}, "claude-code"),
    ({"type": "file-history-snapshot", "messageId": "m", "snapshot": {}}, "claude-code"),
    ({"type": "queue-operation", "sessionId": "s"}, "claude-code"),
    ({"type": "system", "uuid": "u", "sessionId": "s"}, "claude-code"),
    ({"timestamp": "t", "type": "session_meta", "payload": {"id": "s"}}, "codex"),
    ({"timestamp": "t", "type": "response_item", "payload": {}}, "codex"),
    ({"timestamp": "t", "type": "event_msg", "payload": {}}, "codex"),
    ({"id": "s", "timestamp": "t", "instructions": None}, "codex"),
    ({"id": "s", "timestamp": "t", "git": {}}, "codex"),
    ({"record_type": "state"}, "codex"),
    ({"type": "message", "role": "user", "content": [{"type": "input_text"}]}, "codex"),
    ({"type": "function_call", "name": "f", "call_id": "c"}, "codex"),
    ({"role": "user", "content": "hi"}, "messages"),
    ({"type": "message", "role": "assistant", "content": [{"type": "text"}]}, "messages"),
    ({"messages": [{"role": "user", "content": "hi"}]}, "runs"),
    ({"task_id": 1, "traj": []}, "runs"),
]


@pytest.mark.parametrize(("record", "family"), RECORDS)
def test_a_record_proves_its_family(record, family):
    assert recognise(record) == family


@pytest.mark.parametrize(
    "record",
    [
        {},
        {"silly": "this"},
        {"name": "pkg", "version": "1", "type": "module"},
        {"level": "info", "message": "listening"},
        {"level": "info", "message": {"port": 80}},
        {"threadId": "0a1b", "model": "m", "cwd": "/srv", "createdAt": "t"},
        {"display": "hi", "timestamp": 1, "project": "/p", "sessionId": "s"},
        {"type": "trace.start", "sessionId": "s", "seq": 1},
        {"type": ["user"], "message": {}},
        {"type": "custom"},
        {"role": "admin"},
    ],
)
def test_other_records_prove_nothing(record):
    assert recognise(record) is None


@pytest.mark.parametrize(
    ("message", "style"),
    [
        ({"role": "user", "content": "hi"}, None),
        ({"role": "user", "content": [{"type": "text", "text": "hi"}]}, None),
        ({"role": "assistant", "content": None, "tool_calls": []}, "openai"),
        ({"role": "tool", "tool_call_id": "c", "content": "x"}, "openai"),
        ({"role": "developer", "content": "x"}, "openai"),
        ({"role": "user", "content": [{"type": "image_url"}]}, "openai"),
        ({"type": "function_call", "call_id": "c"}, "openai"),
        ({"role": "assistant", "content": [{"type": "tool_use"}]}, "anthropic"),
        ({"role": "user", "content": [{"type": "tool_result"}]}, "anthropic"),
        ({"role": "user", "content": [{"type": "image", "source": {}}]}, "anthropic"),
        ({"role": "user", "content": [{"type": "text", "cache_control": {}}]}, "anthropic"),
        ({"role": "assistant", "content": [{"type": "toolCall"}]}, "openclaw"),
        (
            {"role": "assistant", "content": [{"type": "thinking"}, {"type": "toolCall"}]},
            "openclaw",
        ),
        ({"role": "user", "content": [{"type": "image", "data": "", "mimeType": ""}]}, "openclaw"),
        ({"role": "toolResult", "content": []}, "openclaw"),
        ({"role": ["tool"], "content": [5, None, {"type": ["tool_use"]}]}, None),
    ],
)
def test_a_message_shows_its_provider(message, style):
    assert find_style(message) == style


USER = {"role": "user", "content": "hi"}


@pytest.mark.parametrize(
    ("value", "family", "count"),
    [
        ([USER, USER], "messages", 2),
        ([7, {"odd": 1}, USER], "messages", 3),
        ([{"type": "message", "role": "user", "content": [{"type": "input_text"}]}], "messages", 1),
        ([{"traj": [USER]}, {"traj": []}], "runs", 2),
        ([{"type": "user", "message": USER}], "claude-code", 1),
        ({"loglines": []}, "claude-code", 0),
        ({"messages": [USER]}, "messages", 1),
        ({"traj": [USER]}, "messages", 1),
        ({"messages": [{"type": "user", "message": USER}]}, "claude-code", 1),
        ({"history": [USER], "trajectory": []}, "swe-agent", 1),
        ({"session": {"id": "s"}, "items": [USER]}, "codex", 1),
        ([1, 2], None, 2),
    ],
)
def test_a_document_is_told_by_its_content(value, family, count):
    document = outline(value)
    assert (document.family, len(document.items)) == (family, count)


@pytest.mark.parametrize("value", [1, "x", None, {}, {"a": 1}, {"history": [USER]}])
def test_other_documents_are_no_transcripts(value):
    assert outline(value) is None


def test_a_system_prompt_beside_the_messages_is_counted():
    assert outline({"system": "be brief", "messages": [USER]}).skipped == {"system": 1}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"agent:main:u1": {"sessionId": "s"}}, True),
        ({"a": {"sessionId": "s"}, "b": {"sessionId": "t", "sessionFile": "t.jsonl"}}, True),
        ({}, False),
        ({"a": {"sessionId": "s"}, "b": 1}, False),
        ([{"sessionId": "s"}], False),
        ({"messages": []}, False),
    ],
)
def test_an_index_is_told_by_its_content(value, expected):
    assert is_index(value) is expected
