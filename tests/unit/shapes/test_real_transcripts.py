"""Recorded sessions of other programs, read and rendered to every shape."""

from __future__ import annotations

import json

import pytest

from lossless_claw.assemble.pairing import RepairKind, pair
from lossless_claw.model import Shape
from lossless_claw.shapes import Other, detect_list, parse, render, validate

TARGETS = [Shape.OPENAI, Shape.ANTHROPIC, Shape.OPENCLAW]


def _lines(path):
    lines = [
        json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()
    ]
    lines = [
        json.loads(line["event_json"]) if "event_json" in line else line
        for line in lines
        if isinstance(line, dict)
    ]
    return [line["message"] for line in lines if isinstance(line.get("message"), dict)]


def _sessions(folder):
    """(name, shape, messages) of each session."""
    for path in sorted(folder.glob("claude_code/*.jsonl")):
        yield path.name, Shape.ANTHROPIC, _lines(path)
    array = json.loads((folder / "claude_code/array-form.json").read_text(encoding="utf-8"))
    yield "array", Shape.ANTHROPIC, [line["message"] for line in array["loglines"]]
    for path in sorted([*folder.glob("pi/*.jsonl"), *folder.glob("openclaw/*.jsonl")]):
        yield path.name, Shape.OPENCLAW, _lines(path)
    for path in sorted(folder.glob("swe_agent/*.traj")):
        yield path.name, Shape.OPENAI, json.loads(path.read_text(encoding="utf-8"))["history"]
    runs = json.loads((folder / "tau_bench/airline-25.json").read_text(encoding="utf-8"))
    for number, run in enumerate(runs):
        yield f"tau {number}", Shape.OPENAI, run["traj"]


@pytest.fixture(scope="module")
def sessions(shared):
    found = list(_sessions(shared / "data" / "transcripts"))
    assert len(found) > 40
    return found


def test_each_session_tells_its_shape_and_holds_nothing_unknown(sessions):
    for name, shape, messages in sessions:
        assert detect_list(messages) is shape, name
        turns = [parse(message) for message in messages]
        assert all(turn.role != "unknown" for turn in turns), name
        assert not any(isinstance(block, Other) for turn in turns for block in turn.blocks), name


@pytest.mark.parametrize("shape", TARGETS)
def test_each_session_is_rendered_validly(sessions, shape):
    for name, _, messages in sessions:
        turns = pair([parse(message) for message in messages]).turns
        faults = validate(render(turns, shape).messages, shape)
        assert [fault for fault in faults if fault.rule != "first"] == [], name


def test_no_session_holds_a_result_that_finds_no_call(sessions):
    for name, _, messages in sessions:
        kinds = {repair.kind for repair in pair([parse(message) for message in messages]).repaired}
        assert RepairKind.ORPHAN not in kinds, name


def test_openclaws_own_messages_are_given_back_as_they_came(sessions):
    for name, shape, messages in sessions:
        if shape is Shape.OPENCLAW:
            turns = pair([parse(message) for message in messages]).turns
            kept = [m for m in render(turns, shape).messages if m in messages]
            assert len(kept) >= len(messages) * 0.97, name
