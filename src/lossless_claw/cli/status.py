"""`lcm status`: the database in figures."""

from __future__ import annotations

import click

from lossless_claw.cli import output
from lossless_claw.cli.output import Answer
from lossless_claw.cli.session import Session
from lossless_claw.cli.tree import Command
from lossless_claw.version import __version__


@click.command(cls=Command)
@click.pass_obj
def status(session: Session) -> None:
    """Show the database in figures. Reads only."""
    from lossless_claw.store.listing import Listing

    database = session.read_database()
    listing = Listing(database)
    tail = {
        "count": session.config.fresh_tail_count,
        "maxTokens": session.config.fresh_tail_max_tokens,
    }
    data = {
        "version": __version__,
        "databaseSizeBytes": listing.size(),
        "freshTail": tail,
        "status": listing.status(),
    }
    database.close()
    output.write(session, Answer("status", data, meta=session.meta()))
