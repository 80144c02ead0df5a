from __future__ import annotations

import gzip
import json
import re
from collections import Counter
from datetime import datetime, timedelta, timezone
from functools import cache
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from lossless_claw import demo

ROOT = Path(__file__).resolve().parents[3]
JAPAN = timezone(timedelta(hours=9))
CJK = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]")
KANA = re.compile(r"[\u3040-\u30ff]")


@cache
def lines() -> list[dict[str, Any]]:
    return [json.loads(line) for line in demo.session().decode().splitlines()]


@cache
def messages() -> list[dict[str, Any]]:
    return [line for line in lines() if line["type"] == "message"]


def blocks(kind: str) -> list[tuple[int, dict[str, Any]]]:
    return [
        (number, block)
        for number, entry in enumerate(messages())
        for block in entry["message"]["content"]
        if block["type"] == kind
    ]


def texts(value: Any) -> str:
    """Every string inside *value*, joined."""
    if isinstance(value, dict):
        return "\n".join(texts(inner) for inner in value.values())
    if isinstance(value, list):
        return "\n".join(texts(inner) for inner in value)
    return value if isinstance(value, str) else ""


def test_it_opens_with_a_header_of_version_3() -> None:
    header = lines()[0]
    assert (header["type"], header["version"]) == ("session", 3)
    assert header["cwd"].startswith("/home/mika/")
    assert {line["type"] for line in lines()[1:]} == {
        "message",
        "model_change",
        "thinking_level_change",
    }


def test_every_entry_follows_the_one_before() -> None:
    entries = lines()[1:]
    assert entries[0]["parentId"] is None
    assert [entry["parentId"] for entry in entries[1:]] == [entry["id"] for entry in entries[:-1]]
    assert len({entry["id"] for entry in entries}) == len(entries)
    assert all(re.fullmatch("[0-9a-f]{8}", entry["id"]) for entry in entries)


def test_time_never_goes_back_and_envelope_and_message_agree() -> None:
    stamps = [datetime.fromisoformat(entry["timestamp"]) for entry in lines()]
    assert stamps == sorted(stamps)
    for entry in messages():
        at = datetime.fromisoformat(entry["timestamp"]).timestamp() * 1000
        assert abs(at - entry["message"]["timestamp"]) <= 1


def test_it_is_some_six_hundred_messages_over_three_days() -> None:
    assert 560 <= len(messages()) <= 680
    days = {datetime.fromisoformat(m["timestamp"]).astimezone(JAPAN).date() for m in messages()}
    assert len(days) == 3
    assert max(days) - min(days) == timedelta(days=2)


def test_the_roles_are_those_of_a_coding_session() -> None:
    roles = Counter(entry["message"]["role"] for entry in messages())
    assert set(roles) == {"user", "assistant", "toolResult"}
    assert 60 <= roles["user"] <= 110
    assert roles["toolResult"] > 200


def test_every_tool_call_is_answered_right_after_its_message_in_order() -> None:
    entries = [entry["message"] for entry in messages()]
    for number, message in enumerate(entries):
        if message["role"] != "assistant":
            continue
        calls = [(b["id"], b["name"]) for b in message["content"] if b["type"] == "toolCall"]
        answers = entries[number + 1 : number + 1 + len(calls)]
        assert [(a.get("toolCallId"), a.get("toolName")) for a in answers] == calls
        assert message["stopReason"] == ("toolUse" if calls else "stop")
    answered = [m["toolCallId"] for m in entries if m["role"] == "toolResult"]
    assert answered == [block["id"] for _, block in blocks("toolCall")]
    assert len(set(answered)) == len(answered)


def test_a_user_speaks_only_when_the_turn_before_has_ended() -> None:
    entries = [entry["message"] for entry in messages()]
    for before, after in pairwise(entries):
        if after["role"] == "user":
            assert before["role"] == "assistant"
            assert before["stopReason"] == "stop"
    assert entries[-1]["role"] == "assistant"


def test_it_has_thinking_parallel_calls_and_calls_that_fail() -> None:
    calls = Counter(number for number, _ in blocks("toolCall"))
    assert sum(count > 1 for count in calls.values()) >= 20
    assert len(blocks("thinking")) >= 15
    assert sum(entry["message"].get("isError", False) for entry in messages()) >= 10
    names = {block["name"] for _, block in blocks("toolCall")}
    assert names == {"read", "write", "edit", "exec", "grep", "web_fetch"}


def test_usage_adds_up() -> None:
    for entry in messages():
        usage = entry["message"].get("usage")
        if usage is not None:
            parts = ("input", "output", "cacheRead", "cacheWrite")
            assert usage["totalTokens"] == sum(usage[part] for part in parts)


def test_colleagues_write_chinese_and_japanese() -> None:
    users = [texts(m["message"]["content"]) for m in messages() if m["message"]["role"] == "user"]
    spoken = [text for text in users if CJK.search(text)]
    assert sum(bool(KANA.search(text)) for text in spoken) >= 4
    assert sum(not KANA.search(text) for text in spoken) >= 3


def test_no_two_user_messages_and_no_two_answers_are_equal() -> None:
    for role in ("user", "assistant"):
        said = [
            block["text"]
            for entry in messages()
            if entry["message"]["role"] == role
            for block in entry["message"]["content"]
            if block["type"] == "text"
        ]
        assert len(set(said)) == len(said)


def test_it_is_long_enough_to_outgrow_a_context_and_small_enough_to_ship() -> None:
    assert sum(len(texts(entry["message"]["content"])) for entry in messages()) > 450_000
    assert len(files(demo).joinpath("session.jsonl.gz").read_bytes()) < 400_000


def test_no_machine_path_is_left_in_it() -> None:
    text = demo.session().decode()
    assert not re.search(r"/(work|tmp|root|venv|usr/local/lib|site-packages)\b", text)
    assert set(re.findall(r"/home/(\w+)", text)) == {"mika"}


def test_there_are_three_questions_or_more_and_one_is_not_in_english() -> None:
    assert len(demo.questions()) >= 3
    assert any(CJK.search(question.question) for question in demo.questions())


@pytest.mark.parametrize("question", demo.questions(), ids=lambda question: question.entry)
def test_the_needle_is_in_one_message_of_the_oldest_half(question: demo.Question) -> None:
    found = [n for n, entry in enumerate(messages()) if question.needle in texts(entry)]
    assert len(found) == 1
    assert messages()[found[0]]["id"] == question.entry
    assert found[0] < len(messages()) / 2
    assert question.needle not in question.question


def test_building_it_again_gives_the_same_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT))
    build = pytest.importorskip("benchmarks.demo_session.build", reason="not in this source tree")
    session, questions = build.build()
    assert session == demo.session()
    assert questions == files(demo).joinpath("questions.json").read_bytes()


def test_the_compressed_file_names_no_time_and_no_file() -> None:
    content = files(demo).joinpath("session.jsonl.gz").read_bytes()
    assert content[3:8] == b"\0\0\0\0\0"
    assert gzip.decompress(content) == demo.session()
