from __future__ import annotations

import json
from pathlib import Path

import pytest

from lossless_claw.config.paths import resolve


def where(home, *, db=None, config=None, openclaw_dir=None, **environ):
    return resolve(db=db, config=config, openclaw_dir=openclaw_dir, environ=environ, home=home)


def write_config(path, **config):
    path.parent.mkdir(parents=True, exist_ok=True)
    data = {"plugins": {"entries": {"lossless-claw": {"config": config}}}}
    path.write_text(json.dumps(data), encoding="utf-8")


def test_everything_lies_in_the_state_directory_by_default(tmp_path):
    paths = where(tmp_path)
    assert paths.state_dir.path == tmp_path / ".openclaw"
    assert paths.config_path.path == tmp_path / ".openclaw" / "openclaw.json"
    assert paths.database_path.path == tmp_path / ".openclaw" / "lcm.db"
    assert paths.database_path.origin == "default"


@pytest.mark.parametrize(
    ("given", "expected", "origin"),
    [
        ({"openclaw_dir": "/a"}, "/a", "option --openclaw-dir"),
        ({"LCM_OPENCLAW_DIR": "/b"}, "/b", "environment LCM_OPENCLAW_DIR"),
        ({"OPENCLAW_STATE_DIR": "/c"}, "/c", "environment OPENCLAW_STATE_DIR"),
        ({"LCM_OPENCLAW_DIR": "/b", "OPENCLAW_STATE_DIR": "/c"}, "/b", None),
        ({"openclaw_dir": " ", "OPENCLAW_STATE_DIR": " /c "}, "/c", None),
        ({"OPENCLAW_HOME": "/h"}, "/h/.openclaw", "default"),
        ({"openclaw_dir": "~/x", "OPENCLAW_HOME": "/h"}, "/h/x", None),
    ],
)
def test_the_state_directory_comes_from_the_first_that_names_it(tmp_path, given, expected, origin):
    found = where(tmp_path, **given).state_dir
    assert found.path == Path(expected)
    assert origin is None or found.origin == origin


def test_openclaw_home_expands_against_the_process_home(tmp_path):
    assert where(tmp_path, OPENCLAW_HOME="~/o").state_dir.path == tmp_path / "o" / ".openclaw"
    assert where(tmp_path, OPENCLAW_HOME="~").state_dir.path == tmp_path / ".openclaw"


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"config": "/a.json", "OPENCLAW_CONFIG_PATH": "/b.json"}, "/a.json"),
        ({"OPENCLAW_CONFIG_PATH": "/b.json"}, "/b.json"),
        ({"openclaw_dir": "/s"}, "/s/openclaw.json"),
    ],
)
def test_the_configuration_comes_from_the_first_that_names_it(tmp_path, given, expected):
    assert where(tmp_path, **given).config_path.path == Path(expected)


def test_the_database_comes_from_the_first_that_names_it(tmp_path):
    write_config(tmp_path / ".openclaw" / "openclaw.json", databasePath="~/new.db")
    assert where(tmp_path, db="/a.db", LCM_DATABASE_PATH="/b.db").database_path.path == Path(
        "/a.db"
    )
    assert where(tmp_path, LCM_DATABASE_PATH="/b.db").database_path.path == Path("/b.db")
    found = where(tmp_path).database_path
    assert found.path == tmp_path / "new.db"
    assert found.origin.startswith("file ")


def test_the_older_name_of_the_database_is_still_read(tmp_path):
    write_config(tmp_path / ".openclaw" / "openclaw.json", dbPath="/old.db")
    assert where(tmp_path).database_path.path == Path("/old.db")


def test_relative_paths_become_absolute(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert where(tmp_path, db="x/../y.db").database_path.path == tmp_path / "y.db"


def test_a_broken_configuration_does_not_matter_when_the_database_is_named(tmp_path):
    broken = tmp_path / "broken.json"
    broken.write_text("{", encoding="utf-8")
    assert where(tmp_path, db="/a.db", config=str(broken)).database_path.path == Path("/a.db")
