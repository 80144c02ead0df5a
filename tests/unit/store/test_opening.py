"""Every way a database can be unusable is a typed error that says what to do (issue: bad input)."""

from __future__ import annotations

import os
import sqlite3
import stat
from pathlib import Path

import pytest

from lossless_claw.errors import (
    DatabaseNotFoundError,
    StoreBusyError,
    StoreCorruptError,
    StoreError,
    StoreOpenError,
    StoreReadOnlyError,
    StoreVersionError,
)
from lossless_claw.store.migrate import SCHEMA_VERSION
from lossless_claw.store.store import Store

is_root = hasattr(os, "geteuid") and os.geteuid() == 0


def made(path: Path) -> Path:
    Store.open(path).close()
    return path


def test_a_new_file_is_its_owners_alone_and_has_the_whole_layout(tmp_path: Path) -> None:
    path = made(tmp_path / "deep" / "folder" / "lcm.db")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    connection = sqlite3.connect(path)
    kinds = dict(connection.execute("SELECT name, type FROM sqlite_master"))
    assert {"messages", "message_parts", "summaries", "messages_fts", "lossless_message"} <= set(
        kinds
    )
    assert set(kinds.values()) == {"table", "index"}
    assert connection.execute("PRAGMA user_version").fetchone() == (0,)
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert connection.execute("SELECT count(*) FROM lcm_migration_state").fetchone() == (4,)


def test_no_table_of_ours_has_a_column_that_upstreams_repair_refuses(tmp_path: Path) -> None:
    connection = sqlite3.connect(made(tmp_path / "lcm.db"))
    tables = connection.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'lossless@_%' ESCAPE '@'"
    ).fetchall()
    assert tables
    for (table,) in tables:
        columns = {row[1] for row in connection.execute(f"PRAGMA table_info({table})")}
        assert "conversation_id" not in columns


def test_opening_again_changes_nothing(tmp_path: Path) -> None:
    path = made(tmp_path / "lcm.db")
    before = path.read_bytes()
    made(path)
    assert path.read_bytes() == before


def test_no_file_to_read(tmp_path: Path) -> None:
    with pytest.raises(DatabaseNotFoundError) as caught:
        Store.open(tmp_path / "none.db", read_only=True)
    assert caught.value.hint
    assert not (tmp_path / "none.db").exists()


def test_a_file_that_is_no_database(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("these are notes, by no means a database\n" * 200)
    for read_only in (False, True):
        with pytest.raises(StoreCorruptError) as caught:
            Store.open(path, read_only=read_only)
        assert str(path) in caught.value.message
    assert path.read_text().startswith("these are notes")


def test_a_damaged_database(tmp_path: Path) -> None:
    path = made(tmp_path / "lcm.db")
    with path.open("r+b") as file:
        file.seek(100)
        file.write(b"\xff" * 4_000)
    with pytest.raises(StoreError):
        Store.open(path)


def test_a_folder(tmp_path: Path) -> None:
    with pytest.raises(StoreOpenError, match="folder"):
        Store.open(tmp_path)


def test_a_database_of_something_else_is_not_read_as_ours(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE recipes(name)")
    connection.close()
    with pytest.raises(StoreOpenError, match="holds no conversations"):
        Store.open(path, read_only=True)
    with pytest.raises(StoreOpenError, match="something else"):
        Store.open(path)
    tables = sqlite3.connect(path).execute("SELECT name FROM sqlite_master").fetchall()
    assert tables == [("recipes",)]


def test_a_lost_table_of_ours_is_made_again(tmp_path: Path) -> None:
    path = made(tmp_path / "lcm.db")
    connection = sqlite3.connect(path)
    connection.execute("DROP TABLE lossless_summary")
    connection.commit()
    connection.close()
    store = Store.open(path)
    assert store.summaries.load(["sum_x"]) == []
    store.close()


def test_a_newer_schema_is_refused_with_the_version_needed(tmp_path: Path) -> None:
    path = made(tmp_path / "lcm.db")
    connection = sqlite3.connect(path)
    newer = SCHEMA_VERSION + 1
    connection.execute("UPDATE lossless_meta SET value = ? WHERE name = 'schema'", (newer,))
    connection.commit()
    connection.close()
    for read_only in (False, True):
        with pytest.raises(StoreVersionError, match=f"schema {newer}"):
            Store.open(path, read_only=read_only)


def test_an_older_upstream_release_is_refused_by_name_and_left_alone(
    shared: Path, tmp_path: Path
) -> None:
    for source in sorted((shared / "data" / "compat" / "releases").glob("v0.1[0-4]*.db")):
        path = tmp_path / source.name
        path.write_bytes(source.read_bytes())
        with pytest.raises(StoreOpenError, match="older release"):
            Store.open(path)
        assert sqlite3.connect(path).execute("SELECT count(*) FROM messages").fetchone() == (6,)


def test_a_locked_database_is_busy_and_nothing_is_written(tmp_path: Path) -> None:
    path = made(tmp_path / "lcm.db")
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    store = Store.open(path, busy_ms=10)
    with pytest.raises(StoreBusyError) as caught:
        store.conversations.get_or_create("lane", None)
    assert caught.value.hint
    other.execute("ROLLBACK")
    assert store.conversations.all_ids() == []
    store.close()


@pytest.mark.skipif(is_root, reason="root writes everywhere")
def test_a_read_only_folder(tmp_path: Path) -> None:
    folder = tmp_path / "locked"
    made(folder / "lcm.db")
    folder.chmod(0o500)
    try:
        with pytest.raises(StoreReadOnlyError):
            Store.open(folder / "new.db")
        Store.open(folder / "lcm.db", read_only=True).close()
    finally:
        folder.chmod(0o700)


def test_a_store_opened_for_reading_never_writes(tmp_path: Path) -> None:
    store = Store.open(made(tmp_path / "lcm.db"), read_only=True)
    with pytest.raises(StoreReadOnlyError):
        store.conversations.get_or_create("lane", None)
    store.close()


def test_a_failed_block_leaves_nothing_and_the_first_error_is_raised(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "lcm.db")

    def fail(store: Store) -> None:
        with store.transaction():
            store.conversations.get_or_create("inner", None)
            raise ValueError("inner")

    def fail_inside() -> None:
        with store.transaction():
            store.conversations.get_or_create("outer", None)
            with pytest.raises(ValueError, match="inner"):
                fail(store)
            assert store.conversations.newest("inner") is None
            assert store.conversations.newest("outer") is not None
            raise KeyError("outer")

    with pytest.raises(KeyError, match="outer"):
        fail_inside()
    assert store.conversations.all_ids() == []
    store.close()


def test_a_closed_store_says_so(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "lcm.db")
    store.close()
    store.close()
    with pytest.raises(StoreError, match="closed"):
        store.conversations.all_ids()
