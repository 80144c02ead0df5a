from __future__ import annotations

import json
import os
import tracemalloc

import pytest

from lossless_claw.errors import TranscriptError, TranscriptNotFoundError
from lossless_claw.transcript import Problem, find, read

HEAD = b'{"type":"session","version":3,"id":"s","timestamp":"t"}\n'


def line(name, source, text="x"):
    content = {"role": "user", "content": text}
    record = {"type": "message", "id": name, "parentId": source, "message": content}
    return json.dumps(record).encode() + b"\n"


@pytest.fixture
def open_bytes(tmp_path):
    def write(*pieces, name="file.jsonl"):
        path = tmp_path / name
        path.write_bytes(b"".join(pieces))
        return read(path)

    return write


def contents(transcript):
    (lane,) = transcript.lanes
    return [entry.message["content"] for entry in transcript.entries(lane)]


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "is empty"),
        (b" \n\r\n\t", "is empty: it holds nothing but white space"),
        (b"\xef\xbb\xbf", "is empty"),
        (b"\x00\x01SQLite\x00", "is binary"),
        ("{}".encode("utf-16"), "is binary"),
        (b"{}", "is no transcript: it holds an object without messages"),
        (b"[]", "has no messages in it"),
        (b'{"messages":[]}', "has no messages in it"),
        (b"[1,2]", "is no transcript: a list of something else than messages"),
        (b'[{"name":"x","role":"admin"}]', "is no transcript: a list of something else"),
        (b"42", "is no transcript: it holds a number without messages"),
        (b'{"a":1}\n{"b":2}\n', "is no transcript: none of its first 2 lines belongs to one"),
        (b"# Title\n\nSome text\n", "is no transcript: line 1: not valid JSON"),
        (b"plain text", "is no transcript: "),
        (b'{\n "name": "pkg"\n}\n', "is no transcript: it holds an object without messages"),
        (b'{\n "messages": [\n {"role": "us', "is no transcript: not valid JSON: Unterminated"),
        (b'[{"role":"user","content":"x"},\n{"role"', "is no transcript: not valid JSON"),
        (b'{"agent:main:u":{"sessionId":"s"}}', "is a session index"),
        (b'{\n"agent:main:u": {\n"sessionId": "s"}}', "is a session index"),
    ],
)
def test_what_is_no_transcript_is_refused_with_a_reason(open_bytes, data, reason):
    with pytest.raises(TranscriptError) as caught:
        open_bytes(data)
    assert f"file.jsonl {reason}" in caught.value.message
    assert caught.value.hint
    assert caught.value.details["path"].endswith("file.jsonl")


def test_the_refusal_says_what_was_expected(open_bytes):
    with pytest.raises(TranscriptError) as caught:
        open_bytes(b"hello\n")
    assert "Claude Code" in caught.value.hint


def test_a_missing_file_and_a_folder_are_refused(tmp_path):
    with pytest.raises(TranscriptNotFoundError):
        read(tmp_path / "none.jsonl")
    with pytest.raises(TranscriptError, match="is a folder"):
        read(tmp_path)


def test_a_pipe_is_refused_without_waiting_for_it(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(TranscriptError, match="is no regular file"):
        read(tmp_path / "pipe")


def test_bad_lines_are_reported_and_the_rest_is_read(open_bytes):
    transcript = open_bytes(
        HEAD,
        line("a", None, "one"),
        b'{"type":"message","id":\n',
        b"\n   \r\n",
        b'{"type":"message","id":"b","parentId":"a","message":{"role":"user","content":"\xff"}}\n',
        b"42\n",
        b"\0" * 40 + b"\n",
        b'{"x":' + b"9" * 5000 + b"}\n",
        b"[" * 3000 + b"\n",
        line("c", "a", "two")[:-1] + b"\r\n",
        b'{"type":"message","id":"d","parentId":"c","mess',
    )
    assert contents(transcript) == ["one", "two"]
    assert [
        (problem.line, problem.reason.split(" at ")[0][:30]) for problem in transcript.problems
    ] == [
        (3, "not valid JSON: Expecting valu"),
        (6, "not valid UTF-8"),
        (7, "expected an object, found a nu"),
        (8, "not valid JSON: Expecting valu"),
        (9, "cannot be parsed: Exceeds the "),
        (10, "nested deeper than 500 levels"),
        (12, "last line is incomplete"),
    ]
    assert transcript.size == transcript.path.stat().st_size - 47


def test_the_size_is_the_whole_file_when_the_last_line_is_whole(open_bytes):
    transcript = open_bytes(HEAD, line("a", None)[:-1])
    assert transcript.problems == []
    assert transcript.read == 1
    stat = transcript.path.stat()
    assert (transcript.size, transcript.mtime_ms) == (stat.st_size, stat.st_mtime_ns // 1_000_000)


def test_a_broken_line_takes_the_tree_away_and_loses_nothing(open_bytes):
    transcript = open_bytes(HEAD, line("a", None), b'{"id":"b",\n', line("c", "b"), line("d", "b"))
    assert [(e.id, e.on_branch) for e in transcript.entries(transcript.lanes[0])] == [
        ("a", False),
        ("c", False),
        ("d", False),
    ]


@pytest.mark.parametrize(
    "first", [b'{"type":"sess\n', b"[1]\n", b"garbage\n", b'[{"a":\n', b"{}\n"]
)
def test_a_broken_first_line_does_not_hide_the_rest(open_bytes, first):
    transcript = open_bytes(first, line("a", None, "one"), line("b", "a", "two"))
    assert (transcript.format, contents(transcript)) == ("openclaw", ["one", "two"])
    assert [problem.line for problem in transcript.problems] == [1]


def test_a_byte_order_mark_is_ignored(open_bytes):
    bom = b"\xef\xbb\xbf"
    assert contents(open_bytes(bom, HEAD, line("a", None, "é"))) == ["é"]
    assert contents(open_bytes(bom, line("a", None, "first"))) == ["first"]
    assert contents(open_bytes(bom, b'[{"role":"user","content":"x"}]')) == ["x"]


def test_strings_survive_as_they_are(open_bytes):
    record = b'{"type":"message","id":"a","parentId":null,"message":{"role":"user","content":"\\ud800 \\u0000 \xe2\x80\xa8","n":[1e400,-0.0,123456789012345678901234567890]}}\n'
    transcript = open_bytes(HEAD, record)
    (entry,) = transcript.entries(transcript.lanes[0])
    assert entry.message["content"] == "\ud800 \0 \u2028"
    assert repr(entry.message["n"]) == "[inf, -0.0, 123456789012345678901234567890]"


def test_a_header_alone_is_a_conversation_without_messages(open_bytes):
    transcript = open_bytes(HEAD)
    assert (transcript.read, len(transcript.lanes), contents(transcript)) == (0, 1, [])


def test_what_is_appended_between_the_passes_waits(open_bytes):
    transcript = open_bytes(HEAD, line("a", None, "one"))
    with transcript.path.open("ab") as file:
        file.write(line("b", "a", "two"))
    assert contents(transcript) == ["one"]
    assert contents(read(transcript.path)) == ["one", "two"]


def test_a_line_over_the_limit_is_passed_over_without_being_held(tmp_path):
    path = tmp_path / "big.jsonl"
    with path.open("wb") as file:
        file.write(HEAD + line("a", None, "one"))
        file.write(b'{"type":"message","id":"b","message":{"role":"user","content":"')
        for _ in range(160):
            file.write(b"x" * 1024 * 1024)
        file.write(b'"}}\n' + line("c", "a", "two"))
    tracemalloc.start()
    transcript = read(path)
    read_contents = contents(transcript)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert read_contents == ["one", "two"]
    size = 160 * 1024 * 1024 + 67
    assert transcript.problems == [
        Problem(3, f"line of {size:,} bytes is over the limit of 67,108,864 bytes")
    ]
    # The reader may hold one line of the limit, twice while its pieces are joined.
    assert peak < 140 * 1024 * 1024


def test_a_long_file_is_not_held(tmp_path):
    path = tmp_path / "long.jsonl"
    with path.open("wb") as file:
        file.write(HEAD)
        source = None
        for n in range(8000):
            file.write(line(f"e{n}", source, "y" * 2000))
            source = f"e{n}"
    tracemalloc.start()
    transcript = read(path)
    count = sum(1 for _ in transcript.entries(transcript.lanes[0]))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert count == 8000
    assert peak < path.stat().st_size / 4


# Folders


def test_a_file_is_found_as_itself(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("x")
    assert list(find(path)) == [path]


def test_a_folder_is_searched_in_order_and_without_indexes(tmp_path):
    names = ["b.jsonl", "a/z.JSON", "a/b/c.traj", "c.ndjson", "a/my-sessions.json"]
    for name in [*names, "readme.md", "a/x.jsonl.bak"]:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("[]")
    (tmp_path / "sessions.json").write_text("{broken")
    (tmp_path / "a/2026-sessions.json").write_text('{"k":{"sessionId":"s"}}')
    (tmp_path / "d.json").mkdir()
    assert list(find(tmp_path)) == sorted(tmp_path / name for name in names)


def test_a_folder_without_transcripts_is_refused(tmp_path):
    (tmp_path / "sessions.json").write_text("{}")
    (tmp_path / "readme.md").write_text("x")
    with pytest.raises(TranscriptError, match="has no transcripts in it"):
        find(tmp_path)


def test_nothing_is_not_found(tmp_path):
    with pytest.raises(TranscriptNotFoundError):
        find(tmp_path / "none")
