"""`lcm messages`: what a conversation holds, and what of it is still raw in the context."""

from __future__ import annotations

import click

from lossless_claw.cli import options, output, params, rows
from lossless_claw.cli.output import Answer
from lossless_claw.cli.session import Session
from lossless_claw.cli.tree import Group, require_subcommand
from lossless_claw.clock import SystemClock

COLUMNS = ("messageId", "seq", "role", "tokenCount", "createdAt", "preview")
TAIL_COLUMNS = ("messageId", "seq", "role", "tokenCount", "createdAt", "content")
ROLES = ("system", "user", "assistant", "tool")


@click.group(cls=Group)
@click.pass_context
def messages(ctx: click.Context) -> None:
    """List messages, or the newest raw ones."""
    require_subcommand(ctx)


@messages.command("list")
@options.conversation_selector
@click.option("--role", multiple=True, type=click.Choice(ROLES), help="Only this role; repeatable.")
@options.times
@options.content
@options.paging
@click.pass_obj
def list_(
    session: Session,
    conversation_id: int | None,
    session_key: str | None,
    role: tuple[str, ...],
    after: str | None,
    before: str | None,
    between: str | None,
    recency: str | None,
    include_content: bool,
    limit: int,
    cursor: str | None,
) -> None:
    """List a conversation's messages, newest first."""
    selected = params.required_selector(conversation_id, session_key)
    since, until = params.time_range(
        after=after, before=before, between=between, recency=recency, now=SystemClock().now()
    )
    with rows.listing(session) as lists:
        conversation = rows.find(lists, selected)
        page = lists.messages(
            conversation.conversation_id,
            limit=limit,
            cursor=cursor,
            roles=role,
            after=since,
            before=until,
            include_content=include_content,
        )
    rows.write_page(session, "messages.list", page, {"conversation": conversation}, COLUMNS)


@messages.command()
@options.conversation_selector
@click.option("--count", type=params.Digits(1, options.MAX_LIMIT), metavar="K", help="How many.")
@click.pass_obj
def tail(
    session: Session, conversation_id: int | None, session_key: str | None, count: int | None
) -> None:
    """Show the newest messages that are still raw in the context, in order."""
    selected = params.required_selector(conversation_id, session_key)
    with rows.listing(session) as lists:
        conversation = rows.find(lists, selected)
        found = lists.tail(conversation.conversation_id, rows.tail_limits(session, count))
    answer = Answer("messages.tail", found, meta=session.meta())
    shown = output.plain(found.messages)
    output.write(
        session, answer, lambda: [output.grid(shown, TAIL_COLUMNS) if shown else "nothing raw"]
    )
