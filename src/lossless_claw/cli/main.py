"""The program `lcm`: the tree of commands, and the one place where an error ends the program."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

import click

from lossless_claw.cli import diagnostics
from lossless_claw.cli.session import Session
from lossless_claw.cli.tree import Group, Lazy
from lossless_claw.errors import LcmError
from lossless_claw.version import __version__

PLACE = "lossless_claw.cli"

COMMANDS = {
    "demo": Lazy(f"{PLACE}.demo:demo", "Replay a session and watch the context stay small."),
    "import": Lazy(f"{PLACE}.imports:import_", "Store the messages of transcripts."),
    "status": Lazy(f"{PLACE}.status:status", "Show the database in figures."),
    "conversations": Lazy(f"{PLACE}.conversations:conversations", "List conversations."),
    "messages": Lazy(f"{PLACE}.messages:messages", "List messages, or the newest raw ones."),
    "summaries": Lazy(f"{PLACE}.summaries:summaries", "List summaries, or show one."),
    "compact": Lazy(f"{PLACE}.context:compact", "Summarise a conversation into a budget."),
    "assemble": Lazy(f"{PLACE}.context:assemble", "Show the context that a model would see."),
    "grep": Lazy(f"{PLACE}.recall:grep", "Search messages and summaries."),
    "describe": Lazy(f"{PLACE}.recall:describe", "Tell what a summary or message is."),
    "expand": Lazy(f"{PLACE}.recall:expand", "Read the full text behind a summary or message."),
    "ask": Lazy(f"{PLACE}.recall:ask", "Find the passages that answer a question."),
    "export": Lazy(f"{PLACE}.export:export", "Write the original messages as JSON lines."),
    "verify": Lazy(f"{PLACE}.verify:verify", "Prove that nothing is lost, doubled or altered."),
}


def _show_version(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    if not value:
        return
    from lossless_claw.cli import output

    session = ctx.find_root().ensure_object(Session)
    answer = output.Answer("version", {"version": __version__})
    output.write(session, answer, lambda: [f"lcm {__version__}"])
    ctx.exit()


@click.group(name="lcm", cls=Group, lazy=COMMANDS)
@click.option(
    "-v",
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_version,
    help="Show the version.",
)
@click.pass_context
def tree(ctx: click.Context) -> None:
    """Keep every message of an agent's conversations, and read any of them again."""
    ctx.ensure_object(Session)
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def main() -> None:
    """Run the program and end the process with its status."""
    sys.exit(run(sys.argv[1:]))


def run(args: Sequence[str]) -> int:
    """Carry out one command line and return the exit status; errors are told on stderr."""
    session = Session()
    try:
        # A command that ends with a status of its own returns it.
        status = tree.main(args, prog_name="lcm", standalone_mode=False, obj=session)
        sys.stdout.flush()
        for problem in session.problems:
            diagnostics.note(problem)
        return status if isinstance(status, int) else diagnostics.OK
    except BrokenPipeError:
        from lossless_claw.cli import output

        return output.abandon()
    except (KeyboardInterrupt, click.Abort):
        return diagnostics.INTERRUPTED
    except click.ClickException as error:
        return _report(diagnostics.translate(error), session)
    except LcmError as error:
        return _report(error, session)
    except Exception as error:
        if os.environ.get("LCM_DEBUG"):
            raise
        return _report(diagnostics.unexpected(error), session)


def _report(error: LcmError, session: Session) -> int:
    return diagnostics.report(error, form=session.form, is_pretty=session.is_pretty)
