"""`lcm compact` and `lcm assemble`: make a conversation smaller, and see what a model would see."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from lossless_claw.cli import options, output, params
from lossless_claw.cli.output import Answer
from lossless_claw.cli.session import Session
from lossless_claw.cli.tree import Command
from lossless_claw.model import Shape

if TYPE_CHECKING:
    from lossless_claw.chat import Chat
    from lossless_claw.engine import Engine

SHAPES = [shape.value for shape in Shape if shape is not Shape.RESPONSES]
"""What a context can be sent as: Responses items are read, not written."""


@click.command(cls=Command)
@options.conversation_selector
@options.budget
@click.option("--force", is_flag=True, help="Compact even when it is below the threshold.")
@click.pass_obj
def compact(
    session: Session,
    conversation_id: int | None,
    session_key: str | None,
    budget: int | None,
    force: bool,
) -> None:
    """Summarise the older part of a conversation until it fits well into the budget."""
    selected = params.required_selector(conversation_id, session_key)
    with session.write_engine(create=False) as engine:
        chat = chosen(engine, selected)
        done = chat.compact(budget=budget, force=force)
    output.write(session, Answer("compact", done, meta=session.meta()))


@click.command(cls=Command)
@options.conversation_selector
@options.budget
@click.option("--shape", type=click.Choice(SHAPES), help="Whose messages.")
@click.pass_obj
def assemble(
    session: Session,
    conversation_id: int | None,
    session_key: str | None,
    budget: int | None,
    shape: str | None,
) -> None:
    """Show the context that a model would see. Reads only."""
    selected = params.required_selector(conversation_id, session_key)
    with session.read_engine() as engine:
        chat = chosen(engine, selected)
        context = chat.assemble(budget=budget, shape=shape, live=False)
    data = {
        "messages": context.messages,
        "system": context.system,
        "tokens": context.tokens,
        "budget": context.budget,
        "fits": context.fits,
        "reason": context.reason,
        "items": context.report.items,
        "leftOut": context.report.left_out,
    }
    answer = Answer("assemble", data, meta=session.meta())
    output.write(session, answer, lambda: _context(data))


def chosen(engine: Engine, selected: str | int) -> Chat:
    """Return the conversation of a number or a session key.

    Raises:
        ConversationNotFoundError: If there is none.
    """
    if isinstance(selected, int):
        return engine.chat(conversation_id=selected)
    return engine.chat(session_key=selected)


def _context(data: dict[str, Any]) -> Iterator[Any]:
    messages = output.plain(data["messages"])
    shown = [
        {"n": place, "role": one.get("role", one.get("type")), "content": _line(one)}
        for place, one in enumerate(messages, 1)
    ]
    if shown:
        yield output.grid(shown)
    kept = {name: data[name] for name in ("tokens", "budget", "fits", "reason", "items", "leftOut")}
    yield output.facts(kept)


def _line(message: dict[str, Any]) -> str:
    body = message.get("content", message)
    line = output.cell(body)
    return line if len(line) <= 160 else line[:159] + "…"
