"""`lcm status`: the database in figures."""

from __future__ import annotations

from pathlib import Path

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
    from lossless_claw.maintain.status import judge
    from lossless_claw.store.condition import condition
    from lossless_claw.store.listing.listing import Listing

    database = session.read_database()
    listing = Listing(database)
    verdict = judge(condition(database), _look)
    tail = {
        "count": session.config.fresh_tail_count,
        "maxTokens": session.config.fresh_tail_max_tokens,
    }
    data = {
        "version": __version__,
        "databaseSizeBytes": listing.size(),
        "freshTail": tail,
        "status": listing.status(),
        "gaps": {
            "transcripts": verdict.transcripts,
            "changed": verdict.gaps,
            "gone": verdict.transcripts_gone,
            "ambiguous": verdict.ambiguous,
            "conflicts": verdict.conflicts,
        },
        "health": {"verdict": verdict.health, "reasons": verdict.reasons, "next": verdict.next},
    }
    database.close()
    output.write(session, Answer("status", data, meta=session.meta()))


def _look(path: str) -> tuple[int, int] | None:
    try:
        found = Path(path).stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError:
        # Not readable is not gone: shown as changed, since nobody can say that it is not.
        return -1, -1
    return found.st_size, found.st_mtime_ns // 1_000_000
