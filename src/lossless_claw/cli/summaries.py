"""`lcm summaries`: the summary DAG, node by node."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from lossless_claw.cli import options, output, params, rows
from lossless_claw.cli.output import Answer
from lossless_claw.cli.recall import passage
from lossless_claw.cli.session import Session
from lossless_claw.cli.tree import Group, require_subcommand
from lossless_claw.clock import SystemClock

COLUMNS = (
    "summaryId",
    "conversationId",
    "kind",
    "depth",
    "tokenCount",
    "sourceMessageCount",
    "childCount",
    "coverageAt",
    "preview",
)

MESSAGE_COLUMNS = ("messageId", "seq", "role", "tokenCount", "createdAt", "content")


@click.group(cls=Group)
@click.pass_context
def summaries(ctx: click.Context) -> None:
    """List summaries, or show one."""
    require_subcommand(ctx)


@summaries.command("list")
@options.conversation_selector
@click.option("--depth", type=params.Digits(0), metavar="N", help="Only this depth.")
@click.option("--kind", type=click.Choice(["leaf", "condensed"]), help="Only this kind.")
@options.times
@options.content
@options.paging
@click.pass_obj
def list_(
    session: Session,
    conversation_id: int | None,
    session_key: str | None,
    depth: int | None,
    kind: str | None,
    after: str | None,
    before: str | None,
    between: str | None,
    recency: str | None,
    include_content: bool,
    limit: int,
    cursor: str | None,
) -> None:
    """List summaries by the time they cover, newest first."""
    selected = params.selector(conversation_id, session_key)
    since, until = params.time_range(
        after=after, before=before, between=between, recency=recency, now=SystemClock().now()
    )
    with rows.listing(session) as lists:
        owner = None if selected is None else rows.find(lists, selected).conversation_id
        page = lists.summaries(
            owner,
            limit=limit,
            cursor=cursor,
            depth=depth,
            kind=kind,
            after=since,
            before=until,
            include_content=include_content,
        )
    rows.write_page(session, "summaries.list", page, {"conversationId": owner}, COLUMNS)


@summaries.command()
@click.argument("summary_id", metavar="ID")
@click.pass_obj
def show(session: Session, summary_id: str) -> None:
    """Show a summary, what was derived from it, and what it was made from."""
    with rows.listing(session) as lists:
        found = lists.summary(summary_id)
    data = output.plain(found)
    output.write(session, Answer("summaries.show", data, meta=session.meta()), lambda: _node(data))


def _node(data: dict[str, Any]) -> Iterator[Any]:
    summary = data["summary"]
    hidden = ("content", "preview", "coverageAt", "parentCount", "childCount")
    yield output.facts({name: one for name, one in summary.items() if name not in hidden})
    yield from passage("\ncontent", summary["content"])
    for title, found, columns in (
        ("derived from it", data["parents"], COLUMNS[:1] + COLUMNS[2:]),
        ("made from summaries", data["children"], COLUMNS[:1] + COLUMNS[2:]),
        ("made from messages", data["sourceMessages"], MESSAGE_COLUMNS),
    ):
        if found:
            yield f"{title}:"
            yield output.grid(found, columns)
