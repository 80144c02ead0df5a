"""All of stderr, and the exit status of every error.

People on a terminal get a red line and the next step, programs one JSON object. The status is
derived from the error's code in one table (spec operator-surfaces 1.5).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import Any

import click

from lossless_claw.errors import CommandError, LcmError, UsageError

OK, UNEXPECTED, USAGE, NOT_FOUND, CONFIG, DATABASE = 0, 1, 2, 3, 4, 5
INTERRUPTED, PIPE_CLOSED = 130, 141

EXIT: Mapping[str, int] = {
    "INVALID_ARGUMENT": USAGE,
    "INVALID_COMMAND": USAGE,
    "INVALID_SELECTOR": USAGE,
    "MISSING_SELECTOR": USAGE,
    "INVALID_TIME_FILTER": USAGE,
    "INVALID_CURSOR": USAGE,
    "INVALID_PATTERN": USAGE,
    "INVALID_INPUT": USAGE,
    "NOT_A_TRANSCRIPT": USAGE,
    "NOT_FOUND": NOT_FOUND,
    "CONVERSATION_NOT_FOUND": NOT_FOUND,
    "SUMMARY_NOT_FOUND": NOT_FOUND,
    "MESSAGE_NOT_FOUND": NOT_FOUND,
    "DATABASE_NOT_FOUND": NOT_FOUND,
    "TRANSCRIPT_NOT_FOUND": NOT_FOUND,
    "CONFIG_NOT_FOUND": NOT_FOUND,
    "CONFIG_VALIDATION_FAILED": CONFIG,
    "CONFIG_PARSE_FAILED": CONFIG,
    "CONFIG_SHAPE_INVALID": CONFIG,
    "CONFIG_READ_FAILED": CONFIG,
    "DATABASE_QUERY_FAILED": DATABASE,
    "DATABASE_OPEN_FAILED": DATABASE,
    "DATABASE_BUSY": DATABASE,
    "DATABASE_READ_ONLY": DATABASE,
    "DATABASE_CORRUPT": DATABASE,
    "DATABASE_FULL": DATABASE,
    "DATABASE_TOO_NEW": DATABASE,
}
"""Exit status by error code; a code that is not here is unexpected (1)."""


def exit_status(code: str) -> int:
    """Return the exit status of the error *code*."""
    return EXIT.get(code, UNEXPECTED)


def translate(error: click.ClickException) -> LcmError:
    """Return what click found wrong with the command line as our own error."""
    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else "lcm"
    hint = f"`{command} --help` shows what it takes."
    if not isinstance(error, click.UsageError):
        return UsageError(error.format_message(), hint=hint)
    is_wording = isinstance(error, click.NoSuchCommand) if _HAS_NO_SUCH_COMMAND else False
    is_arity = isinstance(error, click.MissingParameter) and isinstance(error.param, click.Argument)
    kind = CommandError if is_wording or is_arity or _is_bare(error) else UsageError
    return kind(error.format_message(), hint=hint, command=command, **_option(error))


_HAS_NO_SUCH_COMMAND = hasattr(click, "NoSuchCommand")


def _is_bare(error: click.UsageError) -> bool:
    # Unexpected words and, before click 8.4, unknown commands come as the base class itself.
    return type(error) is click.UsageError


def _option(error: click.UsageError) -> dict[str, Any]:
    if isinstance(error, click.NoSuchOption | click.BadOptionUsage):
        return {"option": error.option_name}
    parameter = getattr(error, "param", None)
    if isinstance(parameter, click.Option):
        return {"option": max(parameter.opts, key=len)}
    return {}


def report(error: LcmError, *, form: str | None = None, is_pretty: bool = False) -> int:
    """Print *error* on stderr and return the exit status."""
    is_for_people = form is None and sys.stderr.isatty()
    text = _for_people(error) if is_for_people else _for_programs(error, is_pretty=is_pretty)
    try:
        sys.stderr.write(text + "\n")
        sys.stderr.flush()
    except (BrokenPipeError, UnicodeEncodeError):
        # Nobody listens, or not in this encoding: the status still says it.
        pass
    return exit_status(error.code)


def _for_people(error: LcmError) -> str:
    head = click.style(f"error: {error.message}", fg="red")
    return f"{head}\n{error.hint}" if error.hint else head


def _for_programs(error: LcmError, *, is_pretty: bool) -> str:
    body: dict[str, Any] = {"code": error.code, "message": error.message}
    if error.hint:
        body["hint"] = error.hint
    if error.details:
        body["details"] = error.details
    return json.dumps(
        {"ok": False, "error": body},
        indent=2 if is_pretty else None,
        separators=None if is_pretty else (",", ":"),
        default=str,
    )


def note(text: str) -> None:
    """Tell people something beside the answer, on a terminal only."""
    if sys.stderr.isatty():
        click.secho(text, fg="yellow", err=True)


def unexpected(error: Exception) -> LcmError:
    """Return the error for what the library did not foresee."""
    return LcmError(
        f"unexpected {type(error).__name__}: {error}",
        hint="This is a fault in lossless-claw. LCM_DEBUG=1 shows where.",
    )
