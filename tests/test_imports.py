"""What a fresh process loads: heavy things only when they are used."""

from __future__ import annotations

import json
import os
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import lossless_claw

# Where the package under test was imported from: installed, or the tree.
SRC = Path(lossless_claw.__file__).parents[1]
HEAVY = {"rich", "textual", "openai", "anthropic", "jinja2", "click", "asyncio", "pygments"}
TOP = "import sys, json; print(json.dumps(sorted({name.split('.')[0] for name in sys.modules})))"


def fresh(code, tmp_path):
    """Run *code* in a fresh process with an empty home and return its last line."""
    environ = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "PYTHONPATH": str(SRC),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        env=environ,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip().splitlines()[-1]


def test_the_library_loads_nothing_heavy(tmp_path):
    loaded = set(json.loads(fresh(f"import lossless_claw; {TOP}", tmp_path)))
    assert "lossless_claw" in loaded
    assert loaded & HEAVY == set()


@pytest.mark.parametrize("words", [["--help"], ["--version"], ["grep", "--help"], ["import", "-h"]])
def test_help_loads_nothing_heavy_but_click(tmp_path, words):
    code = f"from lossless_claw.cli.main import run; assert run({words!r}) == 0; {TOP}"
    assert set(json.loads(fresh(code, tmp_path))) & HEAVY <= {"click"}


def test_the_list_of_commands_loads_none_of_them(tmp_path):
    code = (
        "from lossless_claw.cli.main import run; run(['--help']);"
        " import sys; print(sorted(n for n in sys.modules if n.startswith('lossless_claw.cli.')))"
    )
    loaded = fresh(code, tmp_path)
    for name in ("demo", "imports", "recall", "messages", "status", "verify", "output"):
        assert f"lossless_claw.cli.{name}'" not in loaded


def test_a_program_gets_its_answer_without_rich(tmp_path):
    code = (
        "from lossless_claw.cli.main import run;"
        f" run(['status', '--db', {str(tmp_path / 'none.db')!r}]); {TOP}"
    )
    assert "rich" not in json.loads(fresh(code, tmp_path))


def test_importing_creates_no_files(tmp_path):
    fresh("import lossless_claw, lossless_claw.cli.main; print(1)", tmp_path)
    assert list(tmp_path.iterdir()) == []


def modules():
    package = SRC / "lossless_claw"
    for found in pkgutil.walk_packages([str(package)], "lossless_claw."):
        if not found.name.endswith("__main__"):
            yield found.name


@pytest.mark.slow
def test_every_module_can_be_imported_first(tmp_path):
    names = list(modules())
    assert len(names) > 20
    # One process, but each import starts from nothing of ours: a cycle shows as an error.
    code = (
        "import importlib, sys\n"
        f"for name in {names!r}:\n"
        "    for loaded in [n for n in sys.modules if n.split('.')[0] == 'lossless_claw']:\n"
        "        del sys.modules[loaded]\n"
        "    importlib.import_module(name)\n"
        "print('done')"
    )
    assert fresh(code, tmp_path) == "done"
