from __future__ import annotations

import json

import pytest

from lossless_claw.errors import UsageError
from lossless_claw.model import Entry
from lossless_claw.transcript import Lane, Problem, read


@pytest.fixture
def open_lines(tmp_path):
    def write(*lines, name="file.jsonl"):
        path = tmp_path / name
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        return read(path)

    return write


@pytest.fixture
def open_json(tmp_path):
    def write(value, name="file.json", indent=2):
        path = tmp_path / name
        path.write_text(json.dumps(value, indent=indent))
        return read(path)

    return write


def say(text, role="user"):
    return {"role": role, "content": text}


def message(name, source, text, **more):
    return {
        "type": "message",
        "id": name,
        "parentId": source,
        "timestamp": f"t-{name}",
        "message": say(text),
        **more,
    }


def texts(transcript, lane=0):
    return [entry.message["content"] for entry in transcript.entries(transcript.lanes[lane])]


HEAD = {"type": "session", "version": 3, "id": "5e55", "timestamp": "t"}

# OpenClaw and pi


def test_the_active_branch_is_in_the_context_and_the_other_outside(open_lines):
    transcript = open_lines(
        HEAD,
        message("e1", None, "Count the herons"),
        {"type": "model_change", "id": "e2", "parentId": "e1"},
        message("e3", "e2", "Seven"),
        {"type": "compaction", "id": "e4", "parentId": "e3"},
        message("e5", "e2", "Nine"),
    )
    assert transcript.format == "openclaw"
    assert transcript.lanes == (Lane("5e55", None),)
    assert list(transcript.entries(transcript.lanes[0])) == [
        Entry(say("Count the herons"), "e1", "t-e1", on_branch=False, line=2),
        Entry(say("Seven"), "e3", "t-e3", on_branch=True, line=4),
        Entry(say("Nine"), "e5", "t-e5", on_branch=False, line=6),
    ]
    assert transcript.skipped == {"model_change": 1, "compaction": 1}
    assert (transcript.read, transcript.problems) == (3, [])


@pytest.mark.parametrize("version", [1, 2, 3, 4, None])
def test_every_header_version_is_read(open_lines, version):
    head = {key: value for key, value in {**HEAD, "version": version}.items() if value is not None}
    transcript = open_lines(head, message("a", None, "x"))
    assert (transcript.lanes[0].session_id, texts(transcript)) == ("5e55", ["x"])


def test_version_one_without_ids_keeps_the_order_of_the_file(open_lines):
    lines = [{"type": "message", "timestamp": n, "message": say(str(n))} for n in range(3)]
    transcript = open_lines(HEAD, *lines)
    entries = list(transcript.entries(transcript.lanes[0]))
    assert [(e.message["content"], e.id, e.timestamp, e.on_branch) for e in entries] == [
        ("0", None, 0, False),
        ("1", None, 1, False),
        ("2", None, 2, False),
    ]


def test_a_bare_line_among_entries_is_a_message_and_ends_the_tree(open_lines):
    transcript = open_lines(
        HEAD, message("a", None, "x"), message("b", "a", "y"), say("bare"), message("c", "a", "z")
    )
    entries = list(transcript.entries(transcript.lanes[0]))
    assert [entry.message["content"] for entry in entries] == ["x", "y", "bare", "z"]
    assert not any(entry.on_branch for entry in entries)


def test_uuid_and_parent_uuid_are_aliases(open_lines):
    line = {"uuid": "a", "parentUuid": None, "timestamp": "t", "message": say("x")}
    other = {"uuid": "b", "parentUuid": "a", "message": say("y")}
    last = {"uuid": "c", "parentUuid": "a", "message": say("z")}
    transcript = open_lines(HEAD, line, other, last)
    entries = list(transcript.entries(transcript.lanes[0]))
    assert [(e.id, e.on_branch) for e in entries] == [("a", False), ("b", True), ("c", False)]


def test_the_stem_names_a_session_without_a_header(open_lines):
    assert open_lines(message("a", None, "x"), name="s7.jsonl").lanes == (Lane("s7", None),)


def test_the_name_of_a_session_is_its_title(open_lines):
    info = {"type": "session_info", "id": "i", "parentId": "a", "name": "Herons"}
    assert open_lines(HEAD, message("a", None, "x"), info).lanes == (Lane("5e55", None, "Herons"),)


def test_unknown_types_are_counted_and_reported(open_lines):
    transcript = open_lines(
        HEAD,
        {"type": "quantum_leap", "id": "q", "parentId": None},
        message("a", "q", "x"),
        {"odd": 1},
        {"type": 7, "id": "b", "parentId": "a"},
        {"type": "message", "id": "c", "parentId": "a", "message": "text"},
        {"type": "message", "id": "d", "parentId": "a"},
        {"type": "session", "id": "again"},
    )
    assert transcript.skipped == {"quantum_leap": 1, "session": 1}
    assert transcript.problems == [
        Problem(2, "unknown entry type 'quantum_leap'"),
        Problem(4, "unknown entry: neither a type nor a message"),
        Problem(5, "unknown entry: its type is a number, not a string"),
        Problem(6, "message is a string, not an object"),
        Problem(7, "entry of type 'message' without a message"),
    ]
    assert texts(transcript) == ["x"]


def test_entries_that_share_an_id_are_both_yielded(open_lines):
    transcript = open_lines(
        HEAD, message("a", None, "x"), message("a", None, "x"), message("b", "a", "y")
    )
    entries = list(transcript.entries(transcript.lanes[0]))
    assert [(entry.id, entry.on_branch) for entry in entries] == [
        ("a", False),
        ("a", False),
        ("b", False),
    ]


@pytest.mark.parametrize(
    "odd", [{}, {"role": "wizard", "content": 5}, {"role": None}, {"content": "x"}]
)
def test_messages_without_a_known_role_are_yielded(open_lines, odd):
    transcript = open_lines(HEAD, {"type": "message", "id": "a", "parentId": None, "message": odd})
    assert [entry.message for entry in transcript.entries(transcript.lanes[0])] == [odd]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("2031-04-02", "2031-04-02"),
        (12, 12),
        (1.5, 1.5),
        (None, None),
        (True, None),
        ([], None),
        ("", ""),
    ],
)
def test_the_timestamp_of_the_envelope_is_passed_on_raw(open_lines, given, expected):
    transcript = open_lines(HEAD, message("a", None, "x", timestamp=given))
    assert next(transcript.entries(transcript.lanes[0])).timestamp == expected


# Rows of transcript_events


def row(entry, session="s1", **more):
    return {
        "session_id": session,
        "seq": 0,
        "event_json": json.dumps(entry),
        "event_zstd": None,
        **more,
    }


def test_rows_are_the_entries_of_their_sessions(open_lines):
    transcript = open_lines(
        row({**HEAD, "id": "s1", "version": 4}),
        row(message("a", None, "one")),
        row({**HEAD, "id": "s2"}, session="s2"),
        row(message("b", "a", "left")),
        row(message("a", None, "two"), session="s2"),
        row(message("c", "a", "three")),
    )
    assert transcript.format == "transcript-events"
    assert transcript.lanes == (Lane("s1", None), Lane("s2", None))
    assert texts(transcript, 0) == ["one", "left", "three"]
    assert texts(transcript, 1) == ["two"]
    entries = transcript.entries(transcript.lanes[0])
    assert [(e.id, e.timestamp, e.on_branch, e.line) for e in entries] == [
        ("a", "t-a", False, 2),
        ("b", "t-b", True, 4),
        ("c", "t-c", False, 6),
    ]


def test_a_row_lends_its_time_to_an_entry_without_one(open_lines):
    entry = {"type": "message", "id": "a", "parentId": None, "message": say("x")}
    transcript = open_lines(row(HEAD), row(entry, created_at=1796070102925))
    assert next(transcript.entries(transcript.lanes[0])).timestamp == 1796070102925


def test_rows_without_a_readable_event_say_why(open_lines):
    transcript = open_lines(
        row(HEAD),
        row(None, event_json=None, event_zstd="KLUv/Q=="),
        row(None, event_json='{"type":"mess'),
        row(None, event_json=None),
        row(None, event_json="[1]"),
        {"odd": 1},
        row(message("a", None, "x")),
    )
    assert transcript.problems == [
        Problem(2, "event is compressed (event_zstd without event_json): export it as JSON"),
        Problem(3, "event_json: not valid JSON: Unterminated string starting at at column 9"),
        Problem(4, "event_json is null, not an object"),
        Problem(5, "event_json is a list, not an object"),
        Problem(6, "unknown entry: no row of transcript_events"),
    ]
    assert texts(transcript) == ["x"]


def test_a_lone_surrogate_inside_a_row_is_kept(open_lines):
    event = '{"type":"message","id":"a","parentId":null,"message":{"role":"user","content":"\ud800\\udc00"}}'
    transcript = open_lines(row(HEAD), row(None, event_json=event.replace("\ud800", "\\ud800x")))
    assert texts(transcript) == ["\ud800x\udc00"]


# The session index


def test_the_index_beside_a_session_gives_its_key(open_lines, tmp_path):
    index = {
        "agent:main:main": {"sessionId": "other"},
        "agent:main:u1": {"sessionId": "5e55", "sessionFile": "/home/a/5e55.jsonl"},
    }
    (tmp_path / "sessions.json").write_text(json.dumps(index))
    assert open_lines(HEAD, message("a", None, "x")).lanes == (Lane("5e55", "agent:main:u1"),)
    rows = open_lines(row(HEAD, session="other"), row(message("a", None, "x"), session="other"))
    assert rows.lanes == (Lane("other", "agent:main:main"),)


def test_the_index_knows_a_session_by_its_file_too(open_lines, tmp_path):
    index = {"agent:main:u1": {"sessionId": "new", "sessionFile": "C:\\a\\moved.jsonl"}}
    (tmp_path / "2026-sessions.json").write_text(json.dumps(index))
    assert open_lines(HEAD, name="moved.jsonl").lanes[0].session_key == "agent:main:u1"
    assert open_lines(HEAD, name="else.jsonl").lanes[0].session_key is None


def test_the_index_by_the_host_name_goes_before_others(open_lines, tmp_path):
    for name, key in (("a-sessions.json", "k:other"), ("sessions.json", "k:host")):
        (tmp_path / name).write_text(json.dumps({key: {"sessionId": "5e55"}}))
    assert open_lines(HEAD).lanes[0].session_key == "k:host"


def test_an_index_that_changed_is_read_again(open_lines, tmp_path):
    for key in ("k:first", "k:second-and-longer"):
        (tmp_path / "sessions.json").write_text(json.dumps({key: {"sessionId": "5e55"}}))
        assert open_lines(HEAD).lanes[0].session_key == key


def test_a_broken_index_is_a_problem_of_the_file(open_lines, tmp_path):
    (tmp_path / "sessions.json").write_text('{"agent:')
    transcript = open_lines(HEAD, message("a", None, "x"))
    assert transcript.lanes[0].session_key is None
    assert transcript.problems[0].line == 0
    assert "sessions.json cannot be read: not valid JSON" in transcript.problems[0].reason


def test_the_index_says_nothing_about_other_formats(open_lines, tmp_path):
    (tmp_path / "sessions.json").write_text(json.dumps({"k": {"sessionId": "file"}}))
    assert open_lines(say("x")).lanes[0].session_key == "openai:file"


# Claude Code


def claude(uuid, source, text, *, kind="user", **more):
    return {
        "type": kind,
        "uuid": uuid,
        "parentUuid": source,
        "sessionId": "c1",
        "timestamp": f"t-{uuid}",
        "message": say(text, kind),
        **more,
    }


def test_sidechains_are_conversations_of_their_own(open_lines):
    side = {"isSidechain": True}
    transcript = open_lines(
        claude("m1", None, "main 1"),
        claude("a1", None, "side a1", **side),
        claude("m2", "m1", "main 2", isSidechain=False, kind="assistant"),
        claude("b1", "m1", "side b1", **side),
        claude("a2", "a1", "side a2", **side),
        claude("b2", "b1", "side b2", **side),
    )
    assert transcript.format == "claude-code"
    assert [(lane.session_id, lane.session_key) for lane in transcript.lanes] == [
        ("c1", "claude-code:c1"),
        ("c1:1", "claude-code:c1:1"),
        ("c1:2", "claude-code:c1:2"),
    ]
    assert [texts(transcript, n) for n in range(3)] == [
        ["main 1", "main 2"],
        ["side a1", "side a2"],
        ["side b1", "side b2"],
    ]
    first = next(transcript.entries(transcript.lanes[1]))
    assert first == Entry(say("side a1"), "a1", "t-a1", on_branch=False, line=2)


def test_sidechains_are_told_apart_by_agent_and_linked_through_other_lines(open_lines):
    side = {"isSidechain": True}
    transcript = open_lines(
        claude("m1", None, "main"),
        claude("x2", "x1", "x late", **side),  # its source comes later in the file
        claude("a1", None, "a one", agentId="A", **side),
        {"type": "progress", "uuid": "a2", "parentUuid": "a1", "sessionId": "c1", **side},
        claude("a3", "a2", "a two", **side),
        claude("a9", None, "a three", agentId="A", **side),
        claude("x1", None, "x root", **side),
        claude("l1", "l2", "loop", **side),
        claude("l2", "l1", "loop back", **side),
    )
    assert [texts(transcript, n) for n in range(1, len(transcript.lanes))] == [
        ["x late", "x root"],
        ["a one", "a two", "a three"],
        ["loop", "loop back"],
    ]
    assert transcript.skipped == {"progress": 1}


def test_a_file_of_one_agent_is_named_after_itself(open_lines):
    side = {"isSidechain": True, "agentId": "f00"}
    transcript = open_lines(
        claude("a", None, "x", **side), claude("b", "a", "y", **side), name="agent-f00.jsonl"
    )
    assert transcript.lanes == (Lane("agent-f00", "claude-code:agent-f00"),)
    assert texts(transcript) == ["x", "y"]


def test_a_resumed_session_bears_the_id_of_its_file(open_lines):
    lines = [claude("a", None, "x", sessionId="old"), claude("b", "a", "y", sessionId="new")]
    assert open_lines(*lines, name="new.jsonl").lanes[0].session_id == "new"
    assert open_lines(*lines, name="copy.jsonl").lanes[0].session_id == "old"


def test_meta_lines_are_messages_and_other_types_are_skipped(open_lines):
    transcript = open_lines(
        {"type": "summary", "summary": "of another session", "leafUuid": "zz"},
        {"type": "summary", "summary": "Herons", "leafUuid": "a"},
        {"type": "file-history-snapshot", "messageId": "a"},
        claude("a", None, "x", isMeta=True),
        {"type": "system", "uuid": "s", "parentUuid": "a", "content": "note", "sessionId": "c1"},
        {"type": "new-thing", "sessionId": "c1"},
        claude("b", "a", "y") | {"message": "text"},
        {"silly": "this"},
    )
    assert texts(transcript) == ["x"]
    assert transcript.lanes[0].title == "Herons"
    assert transcript.skipped == {
        "summary": 2,
        "file-history-snapshot": 1,
        "system": 1,
        "new-thing": 1,
    }
    assert transcript.problems == [
        Problem(6, "unknown entry type 'new-thing'"),
        Problem(7, "message is a string, not an object"),
        Problem(8, "unknown entry: neither a type nor a message"),
    ]


@pytest.mark.parametrize("wrap", [lambda lines: {"loglines": lines}, lambda lines: lines])
@pytest.mark.parametrize("indent", [None, 2])
def test_the_array_form_is_read(open_json, wrap, indent):
    side = claude("s", None, "side", isSidechain=True)
    transcript = open_json(
        wrap([claude("a", None, "x"), 7, side, claude("b", "a", "y")]), indent=indent
    )
    assert transcript.format == "claude-code"
    assert [texts(transcript, n) for n in range(2)] == [["x", "y"], ["side"]]
    assert transcript.problems == [Problem(2, "item 2: expected an object, found a number")]
    assert [entry.line for entry in transcript.entries(transcript.lanes[0])] == [1, 4]


# Codex

ITEMS = [
    {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]},
    {"type": "reasoning", "summary": [], "encrypted_content": "x"},
    {"type": "function_call", "name": "shell", "arguments": "{}", "call_id": "c1"},
    {"type": "function_call_output", "call_id": "c1", "output": "ok"},
    {"type": "custom_tool_call", "name": "exec", "call_id": "c2", "input": "ls"},
    {"type": "custom_tool_call_output", "call_id": "c2", "output": "a"},
    {"type": "local_shell_call", "call_id": "c3", "action": {"type": "exec"}},
    {"type": "web_search_call", "id": "w"},
]


def messages_of(transcript):
    return [entry.message for entry in transcript.entries(transcript.lanes[0])]


def test_each_item_of_a_rollout_is_a_message(open_lines):
    meta = {"timestamp": "t0", "type": "session_meta", "payload": {"id": "0a1b-22", "cwd": "/srv"}}
    wrapped = [
        {"timestamp": f"t{n}", "type": "response_item", "payload": item}
        for n, item in enumerate(ITEMS, 1)
    ]
    future = {"timestamp": "t", "type": "response_item", "payload": {"type": "invented_call"}}
    noise = [
        {"timestamp": "t", "type": kind, "payload": {}}
        for kind in ("event_msg", "turn_context", "compacted")
    ]
    forked = {"timestamp": "t", "type": "session_meta", "payload": {"id": "forked-from"}}
    transcript = open_lines(meta, forked, *wrapped, *noise, future)
    assert transcript.format == "codex"
    assert transcript.lanes == (Lane("0a1b-22", "codex:0a1b-22"),)
    assert messages_of(transcript) == [*ITEMS, {"type": "invented_call"}]
    assert next(transcript.entries(transcript.lanes[0])) == Entry(
        ITEMS[0], None, "t1", on_branch=False, line=3
    )
    assert transcript.skipped == {
        "session_meta": 1,
        "event_msg": 1,
        "turn_context": 1,
        "compacted": 1,
    }
    assert transcript.problems == []


def test_an_older_rollout_holds_bare_items(open_lines):
    head = {"id": "77-aa", "timestamp": "t", "instructions": None, "git": {}}
    transcript = open_lines(head, {"record_type": "state"}, *ITEMS, say("plain"))
    assert transcript.lanes == (Lane("77-aa", "codex:77-aa"),)
    assert messages_of(transcript) == [*ITEMS, say("plain")]
    assert transcript.skipped == {"state": 1}


def test_the_oldest_rollout_is_an_object(open_json):
    transcript = open_json({"session": {"id": "old-1", "timestamp": "t"}, "items": ITEMS})
    assert transcript.lanes == (Lane("old-1", "codex:old-1"),)
    assert messages_of(transcript) == ITEMS


def test_a_rollout_reports_what_it_cannot_use(open_lines):
    transcript = open_lines(
        {"type": "session_meta", "payload": {}},
        {"type": "response_item", "payload": "text"},
        {"type": "hologram", "payload": {}},
        {"odd": 1},
        {"type": "response_item", "payload": ITEMS[0]},
        name="rollout-1.jsonl",
    )
    assert transcript.lanes == (Lane("rollout-1", "codex:rollout-1"),)
    assert transcript.problems == [
        Problem(2, "payload of response_item is a string, not an object"),
        Problem(3, "unknown entry type 'hologram'"),
        Problem(4, "unknown entry: neither a type nor a role"),
    ]
    assert messages_of(transcript) == [ITEMS[0]]


# Bare messages

OPENAI = [
    say("be brief", "system"),
    say("hi"),
    {"role": "assistant", "content": None, "tool_calls": [{"id": "c", "type": "function"}]},
    {"role": "tool", "tool_call_id": "c", "content": "ok"},
]
ANTHROPIC = [
    say("hi"),
    {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "ls", "input": {}}]},
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "a"}]},
]


@pytest.mark.parametrize(
    ("listed", "name"),
    [(OPENAI, "openai"), (ANTHROPIC, "anthropic"), ([say("a"), say("b")], "openai")],
)
@pytest.mark.parametrize(
    "form", ["list", "line list", "object", "line object", "lines", "listed lines"]
)
def test_messages_are_read_in_every_form(open_json, open_lines, tmp_path, listed, name, form):
    match form:
        case "lines":
            transcript = open_lines(*listed, name="file.x")
        case "listed lines":
            path = tmp_path / "file.x"
            path.write_text("[\n" + ",\n".join(map(json.dumps, listed)) + "\n]\n")
            transcript = read(path)
        case _:
            value = {"model": "m", "messages": listed} if "object" in form else listed
            transcript = open_json(value, name="file.x", indent=None if "line" in form else 1)
    assert transcript.format == name
    assert transcript.lanes == (Lane("file", f"{name}:file"),)
    entries = list(transcript.entries(transcript.lanes[0]))
    assert entries == [Entry(each, line=line) for line, each in enumerate(listed, 1)]


def test_an_object_may_name_its_session(open_json):
    transcript = open_json({"session_id": "s9", "messages": OPENAI, "system": ""})
    assert transcript.lanes == (Lane("s9", "openai:s9"),)


def test_messages_without_roles_are_yielded_and_the_rest_reported(open_json):
    odd = [{"content": "no role"}, {"role": "wizard"}, ITEMS[2]]
    transcript = open_json([say("x"), *odd, {"silly": 1}, "text", None])
    assert messages_of(transcript) == [say("x"), *odd]
    assert transcript.problems == [
        Problem(5, "item 5: unknown entry: neither a role nor content"),
        Problem(6, "item 6: expected an object, found a string"),
        Problem(7, "item 7: expected an object, found null"),
    ]


@pytest.mark.parametrize("key", ["traj", "messages"])
@pytest.mark.parametrize("as_lines", [True, False])
def test_each_run_is_a_conversation(open_json, open_lines, key, as_lines):
    runs = [
        {"task_id": 4, "trial": 1, key: [say("a"), say("b")]},
        {"task_id": 5, key: []},
        {"title": "third", key: [say("c"), 7, *OPENAI]},
    ]
    transcript = open_lines(*runs, name="r.jsonl") if as_lines else open_json(runs, name="r.json")
    assert transcript.format == "openai"
    assert transcript.lanes == (
        Lane("r:1", "openai:r:1", "task 4, trial 1"),
        Lane("r:3", "openai:r:3", "third"),
    )
    assert texts(transcript, 0) == ["a", "b"]
    assert texts(transcript, 1) == ["c", *(each["content"] for each in OPENAI)]
    assert transcript.read == 7
    assert transcript.problems == [
        Problem(2, "run 2 has no messages"),
        Problem(2, "run 3, item 2: expected an object, found a number"),
    ]
    assert next(transcript.entries(transcript.lanes[1])).line == 1


def test_the_host_shape_without_envelopes_is_the_hosts_format(open_lines):
    call = {"role": "assistant", "content": [{"type": "thinking"}, {"type": "toolCall", "id": "t"}]}
    transcript = open_lines(say("hi"), call, name="bare.jsonl")
    assert (transcript.format, transcript.lanes) == ("openclaw", (Lane("bare", None),))


# SWE-agent


def test_the_history_of_a_trajectory_is_the_conversation(open_json):
    history = [
        say("system", "system"),
        {**say("ls", "assistant"), "thought": "look", "agent": "main"},
    ]
    transcript = open_json(
        {"trajectory": [{"messages": [say("not this")]}], "history": history}, name="x-1.traj"
    )
    assert transcript.format == "swe-agent"
    assert transcript.lanes == (Lane("x-1", "swe-agent:x-1"),)
    assert messages_of(transcript) == history


# A transcript as such


def test_entries_can_be_read_again_and_side_by_side(open_lines):
    transcript = open_lines(claude("a", None, "x"), claude("s", None, "y", isSidechain=True))
    assert texts(transcript) == texts(transcript) == ["x"]
    pairs = zip(
        transcript.entries(transcript.lanes[0]),
        transcript.entries(transcript.lanes[1]),
        strict=True,
    )
    assert [(a.id, b.id) for a, b in pairs] == [("a", "s")]


def test_a_lane_of_another_file_is_refused(open_lines):
    with pytest.raises(UsageError, match="no lane of"):
        open_lines(say("x")).entries(Lane("else", None))
