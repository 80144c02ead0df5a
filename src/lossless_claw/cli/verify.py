"""`lcm verify`: the proof that nothing is lost, doubled or altered."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from lossless_claw.cli import diagnostics, output
from lossless_claw.cli.imports import progress_bar
from lossless_claw.cli.output import Answer
from lossless_claw.cli.session import Session
from lossless_claw.cli.tree import Command


@click.command(cls=Command)
@click.pass_obj
def verify(session: Session) -> int:
    """Check every stored message; ends with status 1 when one is missing, doubled or altered."""
    with session.read_engine() as engine, progress_bar("verify") as progress:
        found = engine.verify(None if progress is None else lambda done: progress(done, None))
    data = {"checks": output.plain(found.checks), "ok": found.ok}
    output.write(session, Answer("verify", data, meta=session.meta()), lambda: _view(data))
    return diagnostics.OK if found.ok else diagnostics.UNEXPECTED


def _view(data: dict[str, Any]) -> Iterator[Any]:
    yield output.grid(data["checks"], ("name", "checked", "faults", "examples"))
    yield "\nnothing missing, doubled or altered" if data["ok"] else "\nfaults found"
