"""`lcm export`: the original messages as JSON lines, and nothing else on stdout."""

from __future__ import annotations

import click

from lossless_claw.cli import options, output, params
from lossless_claw.cli.context import chosen
from lossless_claw.cli.session import Session
from lossless_claw.cli.tree import Command


@click.command(cls=Command)
@options.conversation_selector
@click.option("--all", "is_all", is_flag=True, help="Also messages that are outside the context.")
@click.pass_obj
def export(
    session: Session, conversation_id: int | None, session_key: str | None, is_all: bool
) -> None:
    """Write the original messages, one JSON object a line. Reads only.

    The lines are ASCII: every other character is a JSON escape, a lone surrogate too.
    """
    selected = params.required_selector(conversation_id, session_key)
    with session.read_engine() as engine:
        for message in chosen(engine, selected).export(include_outside=is_all):
            output.write_text(output.json_line(message) + "\n")
