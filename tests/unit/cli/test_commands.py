"""Every command over one small database, made by `lcm import`, through the real engine."""

from __future__ import annotations

import json

import pytest

from lossless_claw.cli import main

SECRET = "harbour-lock-7319"
TURNS = 60


def messages():
    filler = "The quick brown fox jumps over the lazy dog near the old stone bridge. " * 6
    yield {"role": "user", "content": f"Remember the code {SECRET} please."}
    yield {"role": "assistant", "content": [{"type": "text", "text": "潮位の計算は完了しました"}]}
    for turn in range(TURNS):
        jobs = " ".join(f"Job {10_000 * (turn + 1) + 37 * job} ended well." for job in range(20))
        yield {"role": "user", "content": f"Question number {turn}: {filler}"}
        yield {"role": "assistant", "content": [{"type": "text", "text": f"Answer {turn}. {jobs}"}]}
    yield {"role": "user", "content": "odd \ud800 text", "extra": {"n": 12345678901234567890}}


def write_transcript(path):
    lines = [{"type": "session", "version": 3, "id": "s1", "timestamp": "2026-01-01T00:00:00.000Z"}]
    above = None
    for number, message in enumerate(messages()):
        stamp = f"2026-01-01T{number // 60:02}:{number % 60:02}:00.000Z"
        name = f"{number:08x}"
        lines.append(
            {
                "type": "message",
                "id": name,
                "parentId": above,
                "timestamp": stamp,
                "message": message,
            }
        )
        above = name
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return str(path)


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    folder = tmp_path_factory.mktemp("world")
    transcript, db = write_transcript(folder / "s1.jsonl"), str(folder / "lcm.db")
    assert main.run(["import", transcript, "--session-key", "agent:a:main", "--db", db]) == 0
    return transcript, db


@pytest.fixture
def lcm(world, capfdbinary, monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))

    def call(*words, status=0, db=world[1]):
        found = main.run([*words, "--db", db])
        out, err = capfdbinary.readouterr()
        assert (found, err) == (status, b"")
        return json.loads(out)

    return call


def test_a_second_import_adds_nothing(lcm, world):
    (item,) = lcm("import", world[0], "--session-key", "agent:a:main")["data"]["items"]
    assert (item["read"], item["added"], item["known"]) == (2 * TURNS + 3, 0, 2 * TURNS + 3)
    assert (item["format"], item["sessionKey"], item["problems"]) == (
        "openclaw",
        "agent:a:main",
        [],
    )


def test_a_file_that_is_no_transcript_is_refused_and_nothing_is_made(capfd, tmp_path):
    text = tmp_path / "note.txt"
    text.write_text("dear diary", encoding="utf-8")
    assert main.run(["import", str(text), "--db", str(tmp_path / "x.db")]) == 2
    assert json.loads(capfd.readouterr().err)["error"]["code"] == "NOT_A_TRANSCRIPT"
    assert main.run(["import", str(tmp_path / "no"), "--db", str(tmp_path / "y.db")]) == 3
    assert json.loads(capfd.readouterr().err)["error"]["code"] == "TRANSCRIPT_NOT_FOUND"
    assert not (tmp_path / "y.db").exists()


def test_what_can_be_read_of_a_folder_is_stored_and_the_rest_named(lcm, tmp_path):
    write_transcript(tmp_path / "good.jsonl")
    (tmp_path / "bad.jsonl").write_text("dear diary\n", encoding="utf-8")
    data = lcm("import", str(tmp_path), db=str(tmp_path / "new.db"), status=2)["data"]
    assert [item["added"] for item in data["items"]] == [2 * TURNS + 3]
    assert data["failed"][0]["code"] == "NOT_A_TRANSCRIPT"


def test_grep_finds_words_and_patterns_and_pages(lcm):
    (match,) = lcm("grep", SECRET)["data"]["matches"]
    assert match["type"] == "message"
    assert (match["conversationId"], match["seq"], match["role"]) == (1, 1, "user")
    assert SECRET in match["snippet"]
    first = lcm("grep", r"Question number \d+", "--mode", "regex", "--limit", "40")["data"]
    rest = lcm(
        "grep", r"Question number \d+", "--mode", "regex", "--limit", "40",
        "--cursor", first["nextCursor"],
    )["data"]  # fmt: skip
    found = [match["id"] for match in first["matches"] + rest["matches"]]
    assert len(set(found)) == len(found) == TURNS
    assert rest["nextCursor"] is None


def test_grep_keeps_to_the_conversation_that_was_chosen(lcm):
    assert lcm("grep", SECRET, "--session-key", "agent:a:main")["data"]["matches"]
    assert lcm("grep", SECRET, "--conversation-id", "1")["data"]["matches"]
    assert lcm("grep", SECRET, "--all")["data"]["matches"]


@pytest.mark.parametrize(
    ("words", "status", "code"),
    [
        (["grep", "x", "--all", "--conversation-id", "1"], 2, "INVALID_SELECTOR"),
        (["grep", "x", "--conversation-id", "9"], 3, "CONVERSATION_NOT_FOUND"),
        (["grep", "(", "--mode", "regex"], 2, "INVALID_PATTERN"),
        (["grep", "x", "--limit", "201"], 2, "INVALID_ARGUMENT"),
        (["grep", "x", "--cursor", "zzz"], 2, "INVALID_CURSOR"),
        (["describe", "sum_none"], 3, "SUMMARY_NOT_FOUND"),
        (["expand", "msg_99999"], 3, "MESSAGE_NOT_FOUND"),
        (["ask", "x", "--session-key", "agent:b:main"], 3, "CONVERSATION_NOT_FOUND"),
        (["export"], 2, "MISSING_SELECTOR"),
        (["export", "--conversation-id", "9"], 3, "CONVERSATION_NOT_FOUND"),
        (["assemble", "--conversation-id", "1", "--shape", "telegram"], 2, "INVALID_ARGUMENT"),
        (["compact", "--conversation-id", "1", "--budget", "0"], 2, "INVALID_ARGUMENT"),
    ],
)
def test_recall_refuses_by_code(world, capfd, words, status, code):
    assert main.run([*words, "--db", world[1]]) == status
    out, err = capfd.readouterr()
    assert (out, json.loads(err)["error"]["code"]) == ("", code)


def test_expand_gives_the_text_page_by_page(lcm):
    texts, cursor = [], []
    while True:
        data = lcm("expand", "msg_3", "--token-cap", "20", *cursor)["data"]
        assert data["tokens"] <= 20
        texts += [piece["text"] for piece in data["pieces"]]
        if data["nextCursor"] is None:
            break
        cursor = ["--cursor", data["nextCursor"]]
    assert len(texts) > 1
    assert "".join(texts) == list(messages())[2]["content"]


def test_ask_answers_with_citations_and_no_model(lcm):
    data = lcm("ask", f"What is the code {SECRET}?")["data"]
    assert data["model"] is None
    assert data["passages"][0]["citation"] == "msg_1"
    assert SECRET in data["passages"][0]["text"]


def test_export_is_bare_ascii_json_lines_equal_to_what_came_in(world, capfdbinary):
    assert main.run(["export", "--session-key", "agent:a:main", "--all", "--db", world[1]]) == 0
    out, err = capfdbinary.readouterr()
    assert err == b""
    assert out.isascii()
    assert [json.loads(line) for line in out.splitlines()] == list(messages())
    assert b"\\ud800" in out


def test_reading_commands_change_nothing(lcm, world):
    before = lcm("status")["data"]["status"]
    for words in (["grep", "fox"], ["describe", "msg_1"], ["verify"], ["ask", "fox"]):
        lcm(*words)
    lcm("assemble", "--conversation-id", "1", "--budget", "3000")
    assert lcm("status")["data"]["status"] == before


def test_assemble_shows_a_context_inside_the_budget(lcm):
    data = lcm("assemble", "--conversation-id", "1", "--budget", "3000", "--shape", "anthropic")[
        "data"
    ]
    assert data["fits"] is True
    assert data["tokens"] <= data["budget"] == 3_000
    assert data["messages"][0]["role"] == "user"
    assert data["leftOut"] > 0


def test_verify_says_what_it_checked(lcm):
    data = lcm("verify")["data"]
    assert data["ok"] is True
    assert all(check["faults"] == 0 for check in data["checks"])
    assert {check["checked"] for check in data["checks"]} & {2 * TURNS + 3}


def test_compact_summarises_into_the_budget(lcm, tmp_path):
    transcript, db = write_transcript(tmp_path / "s2.jsonl"), str(tmp_path / "own.db")
    lcm("import", transcript, db=db)
    done = lcm("compact", "--conversation-id", "1", "--budget", "4000", db=db)["data"]
    assert done["passes"] > 0
    assert done["tokensAfter"] < done["tokensBefore"]
    top = lcm("summaries", "list", db=db)["data"]["items"][0]
    shown = lcm("summaries", "show", top["summaryId"], db=db)["data"]
    assert shown["children"] or shown["sourceMessages"]
    assert lcm("describe", top["summaryId"], db=db)["data"]["id"] == top["summaryId"]


def test_verify_ends_with_one_when_a_message_was_altered(lcm, tmp_path):
    import sqlite3

    db = str(tmp_path / "bad.db")
    lcm("import", write_transcript(tmp_path / "s3.jsonl"), db=db)
    sql = sqlite3.connect(db)
    sql.execute("UPDATE messages SET content = 'forged' WHERE message_id = 3")
    sql.commit()
    sql.close()
    answer = lcm("verify", status=1, db=db)
    assert answer["ok"] is True
    assert answer["data"]["ok"] is False


def test_demo_of_a_transcript_finds_the_originals_again(lcm, world, tmp_path):
    db = str(tmp_path / "kept.db")
    answer = lcm("demo", world[0], "--budget", "6000", db=db)
    data = answer["data"]
    assert data["replay"]["messages"] == 2 * TURNS + 3
    assert data["replay"]["alwaysFits"] is True
    assert data["replay"]["largest"] <= 6_000
    assert data["replay"]["points"][-1]["rawTokens"] > 6_000
    assert data["summaries"]
    assert data["questions"]
    for question in data["questions"]:
        assert question["found"] is True
        assert question["needle"] in question["original"]
    assert any(not question["inContext"] for question in data["questions"])
    assert data["verification"]["ok"] is True
    assert answer["meta"]["databasePath"] == db


def test_demo_without_a_database_leaves_none_behind(capfd, world, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert main.run(["demo", world[0]]) == 0
    assert json.loads(capfd.readouterr().out)["meta"]["databasePath"] is None
    assert list(tmp_path.iterdir()) == []


def test_demo_on_a_terminal_tells_the_story(capfd, world, monkeypatch):
    monkeypatch.setattr("lossless_claw.cli.session.Session.is_for_people", True)
    monkeypatch.setenv("COLUMNS", "100")
    assert main.run(["demo", world[0], "--budget", "6000"]) == 0
    out = capfd.readouterr().out
    assert "Every context fitted into 6,000 tokens" in out
    for line in ("history and context", "summaries", "no longer in the context", "Proof", "Next"):
        assert line.lower() in out.lower()
