"""Commands and groups as all of ours are: global options anywhere, modules loaded on use."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, NamedTuple

import click

from lossless_claw.cli.session import Session
from lossless_claw.errors import CommandError

CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


class Lazy(NamedTuple):
    """A command that is loaded when it is used."""

    place: str
    sentence: str


def _remember(attribute: str) -> Callable[[click.Context, click.Parameter, Any], None]:
    def keep(ctx: click.Context, _: click.Parameter, value: Any) -> None:
        session = ctx.find_root().ensure_object(Session)
        if value not in (None, False):
            setattr(session, attribute, value)

    return keep


def _global_options() -> list[click.Parameter]:
    def option(name: str, attribute: str, text: str, **more: Any) -> click.Option:
        return click.Option(
            [name], expose_value=False, callback=_remember(attribute), help=text, **more
        )

    return [
        option("--db", "db", "The database file.", metavar="PATH"),
        option("--config", "config_path", "The host's configuration file.", metavar="PATH"),
        option("--openclaw-dir", "openclaw_dir", "The host's state directory.", metavar="PATH"),
        option(
            "--format",
            "form",
            "json or table; by default tables on a terminal, JSON in a pipe.",
            type=click.Choice(["json", "table"]),
        ),
        option("--pretty", "is_pretty", "Indent JSON.", is_flag=True),
    ]


class Command(click.Command):
    """A command with the global options."""

    def __init__(self, *args: Any, **kwargs: Any):
        kwargs.setdefault("context_settings", CONTEXT)
        super().__init__(*args, **kwargs)
        self.params = [*self.params, *_global_options()]


class Group(click.Group):
    """A group with the global options, which loads its commands on use.

    Args:
        lazy: The commands by name, in the order of the help text.
    """

    command_class: type[click.Command] | None = Command

    def __init__(self, *args: Any, lazy: Mapping[str, Lazy] | None = None, **kwargs: Any):
        kwargs.setdefault("context_settings", CONTEXT)
        kwargs.setdefault("no_args_is_help", False)
        kwargs.setdefault("invoke_without_command", True)
        super().__init__(*args, **kwargs)
        self.lazy = dict(lazy or {})
        self.params = [*self.params, *_global_options()]

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands."""
        return [*self.lazy, *super().list_commands(ctx)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command called *cmd_name*, loading its module."""
        if cmd_name not in self.lazy:
            return super().get_command(ctx, cmd_name)
        module, name = self.lazy[cmd_name].place.split(":")
        command: click.Command = getattr(import_module(module), name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands without loading any."""
        if not self.lazy:
            super().format_commands(ctx, formatter)
            return
        with formatter.section("Commands"):
            formatter.write_dl([(name, lazy.sentence) for name, lazy in self.lazy.items()])


def require_subcommand(ctx: click.Context) -> None:
    """Refuse a group's name alone.

    Raises:
        CommandError: If no command of the group was named.
    """
    if ctx.invoked_subcommand is None and isinstance(ctx.command, click.Group):
        names = ", ".join(ctx.command.list_commands(ctx))
        raise CommandError(
            f"{ctx.command_path} needs one more word",
            hint=f"One of: {names}.",
            command=ctx.info_name,
        )
