from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path

import pytest

from lossless_claw.errors import TranscriptError
from lossless_claw.transcript import find, read


def find_data():
    named = os.environ.get("LCM_SHARED")
    repository = Path(__file__).resolve().parents[3]
    shared = Path(named) if named else repository.parent / "shared"
    return shared / "data" / "transcripts"


DATA = find_data()
FILES = sorted(each for each in DATA.rglob("*") if each.is_file()) if DATA.is_dir() else []
TRANSCRIPTS = [path for path in FILES if not path.name.endswith("sessions.json")]
pytestmark = pytest.mark.skipif(not FILES, reason=f"no shared transcripts at {DATA}")
each_file = pytest.mark.parametrize("path", TRANSCRIPTS, ids=lambda path: path.name)
each_line_file = pytest.mark.parametrize(
    "path", [path for path in TRANSCRIPTS if path.suffix == ".jsonl"], ids=lambda path: path.name
)


def expect(path):
    """Messages of a file as plain JSON tells them, without any of our code."""
    text = path.read_text(encoding="utf-8")
    match path.parent.name:
        case "tau_bench":
            return [message for run in json.loads(text) for message in run["traj"]]
        case "swe_agent":
            return json.loads(text)["history"]
    if path.suffix == ".json":
        records = json.loads(text)["loglines"]
    else:
        records = [json.loads(line) for line in text.splitlines()]
    if "transcript_events" in path.name:
        records = [json.loads(record["event_json"]) for record in records]
    messages = (record.get("message") for record in records if isinstance(record, dict))
    return [message for message in messages if isinstance(message, dict)]


@each_file
def test_every_message_of_a_real_file_is_read_as_it_is(path):
    transcript = read(path)
    expected = expect(path)
    entries = [entry for lane in transcript.lanes for entry in transcript.entries(lane)]
    assert transcript.read == len(entries) == len(expected) > 0
    dumps = [json.dumps(message, sort_keys=True) for message in expected]
    assert Counter(json.dumps(e.message, sort_keys=True) for e in entries) == Counter(dumps)
    if len(transcript.lanes) == 1:
        assert [entry.message for entry in entries] == expected
    assert transcript.size == path.stat().st_size
    assert len({lane.session_id for lane in transcript.lanes}) == len(transcript.lanes)


@each_line_file
def test_every_line_of_a_real_file_is_accounted_for(path):
    transcript = read(path)
    lines = path.read_bytes().splitlines()
    headers = sum(b'type":"session"' in line.replace(b"\\", b"") for line in lines)
    counted = transcript.read + sum(transcript.skipped.values()) + len(transcript.problems)
    assert counted + headers == len(lines)


@each_file
def test_real_files_are_told_by_content_whatever_they_are_called(path, tmp_path):
    copy = tmp_path / "x"
    copy.write_bytes(path.read_bytes())
    assert (read(copy).format, read(copy).read) == (read(path).format, read(path).read)


def lanes_of(name):
    (path,) = [each for each in FILES if each.name == name]
    transcript = read(path)
    return transcript, [
        (lane.session_key, len(list(transcript.entries(lane)))) for lane in transcript.lanes
    ]


def test_real_sidechains_are_lanes():
    transcript, lanes = lanes_of("japanese.jsonl")
    key = "claude-code:5c0375b4-57a5-4f26-b12d-d022ee4e51b7"
    assert transcript.format == "claude-code"
    assert lanes == [(key, 31), (f"{key}:1", 7), (f"{key}:2", 15)]


def test_real_broken_lines_are_reported():
    transcript, lanes = lanes_of("edge-cases.jsonl")
    assert lanes == [("claude-code:edge_cases", 13)]
    assert [problem.line for problem in transcript.problems] == [11, 13, 14, 15, 16]


def test_real_runs_are_lanes():
    transcript, lanes = lanes_of("airline-25.json")
    assert transcript.format == "openai"
    assert [key for key, _ in lanes] == [f"openai:airline-25:{n}" for n in range(1, 26)]


def test_real_sessions_get_their_keys_from_the_index():
    _, lanes = lanes_of("2026.7.1-cli-lcm.jsonl")
    assert lanes == [("agent:main:explicit:s1", 14)]


def test_the_real_index_is_refused():
    (path,) = [each for each in FILES if each.name.endswith("sessions.json")]
    with pytest.raises(TranscriptError, match="session index"):
        read(path)


def test_the_real_folder_gives_all_transcripts():
    assert list(find(DATA)) == TRANSCRIPTS
