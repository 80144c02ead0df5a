"""`lcm import`: transcripts into the database, and what became of every line."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lossless_claw.cli import diagnostics, output
from lossless_claw.cli.output import Answer
from lossless_claw.cli.session import Session
from lossless_claw.cli.tree import Command
from lossless_claw.errors import LcmError, TranscriptError

if TYPE_CHECKING:
    from lossless_claw.engine import Engine

COLUMNS = ("path", "format", "conversationId", "read", "added", "known", "skipped")

Progress = Callable[[int, int | None], None]


@click.command("import", cls=Command)
@click.argument("paths", nargs=-1, required=True, metavar="PATH...", type=click.Path())
@click.option("--session-key", metavar="KEY", help="The session key to store the messages under.")
@click.pass_obj
def import_(session: Session, paths: tuple[str, ...], session_key: str | None) -> int:
    """Store the messages of transcripts; what is stored already is left alone."""
    items: list[Any] = []
    failed: list[tuple[str, LcmError]] = []
    files = _files(paths)
    with session.write_engine(create=True) as engine:
        for path in files:
            try:
                items += _import_one(engine, path, (session_key or "").strip() or None)
            except TranscriptError as error:
                failed.append((str(path), error))
    if failed and not items:
        raise failed[0][1]
    _write(session, items, failed)
    return diagnostics.exit_status(failed[0][1].code) if failed else diagnostics.OK


def _files(paths: Sequence[str]) -> list[Path]:
    """Return the files to read; a path that leads nowhere is an error before anything is read."""
    from lossless_claw.transcript import find

    return [file for path in paths for file in find(Path(path))]


def _import_one(engine: Engine, path: Path, session_key: str | None) -> list[Any]:
    with progress_bar(path.name) as progress:
        return list(engine.import_file(path, session_key=session_key, progress=progress))


@contextmanager
def progress_bar(label: str) -> Iterator[Progress | None]:
    """Give a function to report progress to: (done, total or None). None without a terminal."""
    import sys

    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress as Bar

    with Bar(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(output.clean(label), total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def _write(session: Session, items: list[Any], failed: list[tuple[str, LcmError]]) -> None:
    rows = [_row(item) for item in items]
    data: dict[str, Any] = {"items": rows}
    if failed:
        data["failed"] = [
            {"path": path, "code": error.code, "message": error.message} for path, error in failed
        ]
    output.write(session, Answer("import", data, meta=session.meta()), lambda: _view(rows, data))


def _row(item: Any) -> dict[str, Any]:
    row: dict[str, Any] = output.plain(item)
    return {**row, "path": str(item.path)}


def _view(rows: list[dict[str, Any]], data: dict[str, Any]) -> Iterator[Any]:
    if rows:
        yield output.grid(rows, COLUMNS)
    for row in rows:
        for problem in row["problems"]:
            yield output.clean(f"{row['path']}:{problem['line']}: {problem['reason']}")
    for one in data.get("failed", ()):
        yield output.clean(f"{one['path']}: {one['message']}")
    yield "\nnext: lcm status"
