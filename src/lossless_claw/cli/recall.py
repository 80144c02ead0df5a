"""`lcm grep`, `describe`, `expand` and `ask`: find anything, and read it as it was."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from lossless_claw.cli import options, output, params
from lossless_claw.cli.output import Answer
from lossless_claw.cli.session import Session
from lossless_claw.cli.tree import Command
from lossless_claw.errors import SelectorError

if TYPE_CHECKING:
    from lossless_claw.engine import Engine

MATCH = {
    "type": "type",
    "id": "id",
    "conversationId": "conversation",
    "seq": "seq",
    "role": "role",
    "createdAt": "created_at",
    "snippet": "snippet",
    "coveredBy": "covered_by",
}


@click.command(cls=Command)
@click.argument("pattern")
@click.option(
    "--mode",
    type=click.Choice(["full_text", "regex"]),
    default="full_text",
    show_default=True,
    help="Words, or a regular expression.",
)
@click.option("--sort", type=click.Choice(["relevance", "recency"]), help="Which come first.")
@click.option(
    "--scope",
    type=click.Choice(["messages", "summaries", "both"]),
    default="both",
    show_default=True,
    help="What to search.",
)
@options.conversation_selector
@click.option("--all", "is_all", is_flag=True, help="Every conversation; this is the default.")
@click.option("--limit", type=params.Digits(1, 200), default=50, show_default=True, metavar="K")
@click.option("--cursor", help="nextCursor of the page before.")
@click.pass_obj
def grep(
    session: Session,
    pattern: str,
    mode: str,
    sort: str | None,
    scope: str,
    conversation_id: int | None,
    session_key: str | None,
    is_all: bool,
    limit: int,
    cursor: str | None,
) -> None:
    """Search messages and summaries. Reads only."""
    selected = params.selector(conversation_id, session_key)
    if is_all and selected is not None:
        raise SelectorError("--all excludes a conversation", hint="Give one of them.")
    with session.read_engine() as engine:
        found = engine.grep(
            pattern,
            mode=mode,
            conversations=conversations(engine, selected),
            sort=sort or ("relevance" if mode == "full_text" else "recency"),
            scope=scope,
            limit=limit,
            cursor=cursor,
        )
    matches = [
        {name: getattr(match, attribute) for name, attribute in MATCH.items()}
        for match in found.matches
    ]
    data = {
        "matches": matches,
        "total": found.total,
        "totalIsExact": found.total_is_exact,
        "nextCursor": found.next_cursor,
        "note": found.note,
    }
    output.write(session, Answer("grep", data, meta=session.meta()), lambda: _matches(data))


def conversations(engine: Engine, selected: str | int | None) -> list[int] | None:
    """Return the conversations to search: None for all, else the one and, by key, its family.

    Raises:
        ConversationNotFoundError: If there is no such conversation.
    """
    if selected is None:
        return None
    if isinstance(selected, int):
        return [engine.listing.resolve(conversation_id=selected).conversation_id]
    newest = engine.listing.resolve(session_key=selected).conversation_id
    return list(engine.store.conversations.family(newest))


@click.command(cls=Command)
@click.argument("id_", metavar="ID")
@click.pass_obj
def describe(session: Session, id_: str) -> None:
    """Tell what a summary (sum_...) or a message (msg_N) is. Reads only."""
    with session.read_engine() as engine:
        found = engine.describe(id_)
    output.write(session, Answer("describe", found, meta=session.meta()))


@click.command(cls=Command)
@click.argument("id_", metavar="ID")
@click.option("--token-cap", type=params.Digits(), metavar="T", help="The most tokens of a page.")
@click.option("--cursor", help="nextCursor of the page before.")
@click.option(
    "--level",
    type=click.Choice(["messages", "sources"]),
    default="messages",
    show_default=True,
    help="The original messages, or the summaries one step below.",
)
@click.pass_obj
def expand(
    session: Session, id_: str, token_cap: int | None, cursor: str | None, level: str
) -> None:
    """Read the full text behind a summary or a message, page by page. Reads only."""
    with session.read_engine() as engine:
        cap = session.config.max_expand_tokens if token_cap is None else token_cap
        found = engine.expand(id_, token_cap=cap, cursor=cursor, level=level)
    data = output.plain(found)
    output.write(session, Answer("expand", data, meta=session.meta()), lambda: _pieces(data))


@click.command(cls=Command)
@click.argument("question")
@options.conversation_selector
@click.pass_obj
def ask(
    session: Session, question: str, conversation_id: int | None, session_key: str | None
) -> None:
    """Find the passages that answer a question, with their sources. Reads only."""
    selected = params.selector(conversation_id, session_key)
    with session.read_engine() as engine:
        found = engine.ask(question, conversations=conversations(engine, selected))
    data = output.plain(found)
    output.write(session, Answer("ask", data, meta=session.meta()), lambda: _answer(data))


# -- for people --------------------------------------------------------------------------


def _matches(data: dict[str, Any]) -> Iterator[Any]:
    matches = data["matches"]
    if matches:
        yield output.grid(matches)
    count = f"{data['total']:,}" if data["total"] is not None else f"{len(matches)}"
    yield f"\n{count}{'' if data['totalIsExact'] else '+'} found"
    if data["note"]:
        yield output.clean(data["note"])
    if data["nextCursor"]:
        yield f"more: --cursor {data['nextCursor']}"


def _pieces(data: dict[str, Any]) -> Iterator[Any]:
    for piece in data["pieces"]:
        yield from passage(f"{piece['id']}  {piece['role']}  {piece['createdAt']}", piece["text"])
    if data["nextCursor"]:
        yield f"more: --cursor {data['nextCursor']}"


def _answer(data: dict[str, Any]) -> Iterator[Any]:
    yield output.clean(data["answer"]) + "\n"
    for one in data["passages"]:
        name = one.get("citation") or one.get("id")
        yield from passage(f"{name}  {one['role']}  {one['createdAt']}", one["text"])


def passage(head: str, text: str) -> Iterator[Any]:
    """Return a text under its head, as it was but for what a terminal would obey."""
    from rich.text import Text

    yield Text(output.clean(head), style="bold cyan")
    yield Text(output.clean(text) + "\n")
