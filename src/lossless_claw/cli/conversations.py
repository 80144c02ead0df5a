"""`lcm conversations`: the conversations of a database."""

from __future__ import annotations

import click

from lossless_claw.cli import options, rows
from lossless_claw.cli.session import Session
from lossless_claw.cli.tree import Group, require_subcommand

COLUMNS = (
    "conversationId",
    "sessionKey",
    "active",
    "messageCount",
    "messageTokens",
    "summaryCount",
    "contextItems",
    "contextTokens",
    "updatedAt",
)


@click.group(cls=Group)
@click.pass_context
def conversations(ctx: click.Context) -> None:
    """List conversations."""
    require_subcommand(ctx)


@conversations.command("list")
@options.paging
@click.pass_obj
def list_(session: Session, limit: int, cursor: str | None) -> None:
    """List the conversations, the last updated first."""
    with rows.listing(session) as lists:
        page = lists.conversations(limit=limit, cursor=cursor, tail=rows.tail_limits(session))
    rows.write_page(session, "conversations.list", page, columns=COLUMNS)
