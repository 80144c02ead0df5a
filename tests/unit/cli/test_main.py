from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from importlib import import_module, resources
from pathlib import Path

import click
import pytest

from lossless_claw.cli import main
from lossless_claw.cli.tree import Group

SCHEMA = (resources.files("lossless_claw.store") / "sql" / "schema.sql").read_text("utf-8")


@pytest.fixture(autouse=True)
def empty_home(tmp_path, monkeypatch):
    for name in ("LCM_OPENCLAW_DIR", "OPENCLAW_STATE_DIR", "OPENCLAW_CONFIG_PATH", "OPENCLAW_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.delenv("LCM_DATABASE_PATH", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))


@pytest.fixture
def db(tmp_path):
    path = tmp_path / "lcm.db"
    sql = sqlite3.connect(path)
    sql.execute("PRAGMA synchronous = OFF")
    sql.executescript(SCHEMA)
    sql.execute("INSERT INTO conversations (session_id, session_key) VALUES ('s', 'k')")
    for seq in (1, 2, 3):
        sql.execute(
            "INSERT INTO messages (conversation_id, seq, role, content, token_count)"
            " VALUES (1, ?, 'user', 'hello', 2)",
            (seq,),
        )
    sql.commit()
    sql.close()
    return str(path)


@pytest.fixture
def lcm(capfdbinary):
    def call(*words):
        status = main.run(words)
        out, err = capfdbinary.readouterr()
        return status, out.decode(), err.decode()

    return call


def answer(result):
    status, out, err = result
    assert (status, err) == (0, "")
    return json.loads(out)


def refusal(result):
    status, out, err = result
    assert out == ""
    return status, json.loads(err)["error"]["code"]


def test_no_words_are_a_cry_for_help(lcm):
    status, out, err = lcm()
    assert (status, err) == (0, "")
    assert out.startswith("Usage: lcm")
    assert all(name in out for name in main.COMMANDS)


@pytest.mark.parametrize("words", [["--version"], ["-v", "--help"]])
def test_the_version_is_an_answer(lcm, words):
    found = answer(lcm(*words))
    assert found["command"] == "version"
    assert found["meta"] == {}


@pytest.mark.parametrize("place", ["before", "after", "both"])
def test_global_options_stand_before_or_after_the_command(lcm, db, place):
    words = {
        "before": ["--db", db, "--pretty", "status"],
        "after": ["status", "--pretty", f"--db={db}"],
        "both": ["--db", "/nowhere/x.db", "status", "--db", db, "--pretty"],
    }[place]
    status, out, _ = lcm(*words)
    assert status == 0
    assert out.startswith("{\n")
    assert json.loads(out)["meta"]["databasePath"] == db


def test_status_has_the_documented_data(lcm, db):
    data = answer(lcm("status", "--db", db))["data"]
    assert set(data) == {
        "version", "databaseSizeBytes", "freshTail", "status", "gaps", "health",
    }  # fmt: skip
    assert data["health"] == {"verdict": "healthy", "reasons": [], "next": None}
    assert data["freshTail"] == {"count": 64, "maxTokens": None}
    assert data["status"]["messages"]["count"] == 3


def test_pages_follow_the_cursor(lcm, db):
    words = ["messages", "list", "--session-key", "k", "--limit", "2", "--db", db]
    first = answer(lcm(*words))
    assert first["data"]["conversation"]["conversationId"] == 1
    assert first["pagination"]["returned"] == 2
    assert first["pagination"]["hasMore"] is True
    second = answer(lcm(*words, "--cursor", first["pagination"]["nextCursor"]))
    seqs = [item["seq"] for page in (first, second) for item in page["data"]["items"]]
    assert seqs == [3, 2, 1]
    assert second["pagination"]["nextCursor"] is None


@pytest.mark.parametrize(
    ("words", "status", "code"),
    [
        (["nonsense"], 2, "INVALID_COMMAND"),
        (["status", "extra"], 2, "INVALID_COMMAND"),
        (["messages"], 2, "INVALID_COMMAND"),
        (["messages", "nonsense"], 2, "INVALID_COMMAND"),
        (["summaries", "show"], 2, "INVALID_COMMAND"),
        (["summaries", "show", "a", "b"], 2, "INVALID_COMMAND"),
        (["status", "--limit", "3"], 2, "INVALID_ARGUMENT"),
        (["--help", "--limit", "5"], 2, "INVALID_ARGUMENT"),
        (["status", "--format", "xml"], 2, "INVALID_ARGUMENT"),
        (["status", "--db"], 2, "INVALID_ARGUMENT"),
        (["conversations", "list", "--limit", "0"], 2, "INVALID_ARGUMENT"),
        (["messages", "list"], 2, "MISSING_SELECTOR"),
        (["messages", "list", "--session-key", "  "], 2, "MISSING_SELECTOR"),
        (
            ["messages", "tail", "--session-key", " ", "--conversation-id", "1"],
            2,
            "INVALID_SELECTOR",
        ),
        (
            ["messages", "list", "--conversation-id", "1", "--recency", "1mo"],
            2,
            "INVALID_TIME_FILTER",
        ),
        (["messages", "list", "--conversation-id", "1", "--cursor", "x"], 2, "INVALID_CURSOR"),
        (["messages", "list", "--conversation-id", "9" * 18], 3, "CONVERSATION_NOT_FOUND"),
        (["summaries", "show", "sum_x"], 3, "SUMMARY_NOT_FOUND"),
    ],
)
def test_refusals_are_json_on_stderr_with_their_status(lcm, db, words, status, code):
    assert refusal(lcm("--db", db, *words)) == (status, code)
    assert refusal(lcm("--format", "table", "--db", db, *words)) == (status, code)


def test_a_missing_database_is_never_made(lcm, tmp_path):
    path = tmp_path / "none.db"
    for words in (["status"], ["conversations", "list"], ["summaries", "list"]):
        assert refusal(lcm(*words, "--db", str(path))) == (3, "DATABASE_NOT_FOUND")
    assert list(tmp_path.iterdir()) == []


def test_what_is_no_database_is_told_by_kind(lcm, tmp_path):
    folder, garbage, empty = tmp_path / "folder", tmp_path / "garbage", tmp_path / "empty"
    folder.mkdir()
    garbage.write_bytes(b"no database " * 400)
    empty.touch()
    assert refusal(lcm("status", "--db", str(folder))) == (5, "DATABASE_OPEN_FAILED")
    assert refusal(lcm("status", "--db", str(garbage))) == (5, "DATABASE_CORRUPT")
    assert refusal(lcm("status", "--db", str(empty))) == (5, "DATABASE_OPEN_FAILED")


def test_a_broken_configuration_is_told_with_its_place(lcm, tmp_path, db):
    config = tmp_path / "openclaw.json"
    config.write_text("{,}", encoding="utf-8")
    assert refusal(lcm("status", "--db", db, "--config", str(config))) == (4, "CONFIG_PARSE_FAILED")


def test_a_bad_setting_is_told(lcm, db, monkeypatch):
    monkeypatch.setenv("LCM_FRESH_TAIL_COUNT", "many")
    assert refusal(lcm("status", "--db", db)) == (4, "CONFIG_VALIDATION_FAILED")


def commands(group=main.tree, words=()):
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, Group):
            yield from commands(command, (*words, name))
        else:
            yield (*words, name), command


def own_options(command):
    return {
        option
        for parameter in command.params
        if isinstance(parameter, click.Option)
        for option in parameter.opts
    }


def test_every_option_of_another_command_is_refused(lcm, db):
    known = dict(commands())
    every = {option for command in known.values() for option in own_options(command)}
    for words, command in known.items():
        for option in every - own_options(command):
            assert refusal(lcm(*words, f"{option}=1", "--db", db)) == (2, "INVALID_ARGUMENT")


def test_every_command_and_option_says_what_it_is_for():
    for words, command in commands():
        assert command.help, words
        options = [one for one in command.params if isinstance(one, click.Option)]
        assert all(one.help for one in options if one.name != "limit"), words


def test_the_list_of_commands_names_what_exists():
    for lazy in main.COMMANDS.values():
        module, name = lazy.place.split(":")
        assert isinstance(getattr(import_module(module), name), click.Command)


def test_an_interrupt_ends_quietly(lcm, monkeypatch):
    def command(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(main.tree, "main", command)
    assert lcm("status") == (130, "", "")


def test_a_closed_pipe_ends_quietly(db):
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-m", "lossless_claw", "status", "--db", db],
        stdout=writer,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(Path(main.__file__).parents[2])},
        check=False,
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (141, b"")


def test_what_nobody_foresaw_is_one_json_object_too(lcm, monkeypatch):
    def command(*_, **__):
        raise ZeroDivisionError("by zero")

    monkeypatch.setattr(main.tree, "main", command)
    assert refusal(lcm("status")) == (1, "INTERNAL_ERROR")


def test_problems_of_the_configuration_are_told_to_people_and_stop_nothing(
    capfd, db, tmp_path, monkeypatch
):
    config = tmp_path / "openclaw.json"
    own = {"freshTailCuont": 3}
    data = {"plugins": {"entries": {"lossless-claw": {"config": own}}}}
    config.write_text(json.dumps(data), encoding="utf-8")
    words = ["status", "--db", db, "--config", str(config)]
    assert main.run(words) == 0
    assert capfd.readouterr().err == ""
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    assert main.run(words) == 0
    assert "Did you mean freshTailCount?" in capfd.readouterr().err
