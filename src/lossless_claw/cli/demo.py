"""`lcm demo`: a session replayed, the context staying small, and the originals found again.

Presentation only: `replay` does the work through the engine.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lossless_claw.cli import diagnostics, output, replay
from lossless_claw.cli.imports import progress_bar
from lossless_claw.cli.output import Answer
from lossless_claw.cli.params import Digits
from lossless_claw.cli.recall import passage
from lossless_claw.cli.replay import Found, Point, Question, Replay
from lossless_claw.cli.session import Session
from lossless_claw.cli.tree import Command

if TYPE_CHECKING:
    from lossless_claw.chat import Chat
    from lossless_claw.engine import Engine
    from lossless_claw.store.verify import Verification

BUDGET = 32_000
BAR = 40
EXCERPT_LINES = 8
LEVELS = 3
EXCERPT = 700
SHIPPED = "the session that ships with lossless-claw"


@click.command(cls=Command)
@click.argument("path", required=False, type=click.Path())
@click.option(
    "--budget",
    type=Digits(1_000),
    default=BUDGET,
    show_default=True,
    metavar="TOKENS",
    help="How many tokens the context may have.",
)
@click.pass_obj
def demo(session: Session, path: str | None, budget: int) -> int:
    """Replay a session turn by turn and watch the context stay small.

    Without PATH it is a session that ships with the package. The database is a temporary one
    unless --db names one to keep.
    """
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="lcm-demo-")))
        is_kept = session.db is not None
        if not is_kept:
            session.db = str(folder / "demo.db")
        entries = replay.entries_of(_transcript(path, folder))
        engine = stack.enter_context(session.write_engine(create=True))
        story = _play(engine, entries, path, budget)
    # A temporary database is gone by now: its path would help nobody.
    meta = {**session.meta(), **({} if is_kept else {"databasePath": None})}
    answer = Answer("demo", story.data(), meta=meta)
    output.write(session, answer, lambda: _view(story, is_kept=is_kept))
    return diagnostics.OK if story.verification.ok else diagnostics.UNEXPECTED


def _transcript(path: str | None, folder: Path) -> Path:
    if path is not None:
        return Path(path)
    from lossless_claw.demo import session as shipped

    file = folder / "session.jsonl"
    file.write_bytes(shipped())
    return file


class Story:
    """Everything that the demo shows."""

    def __init__(
        self,
        source: str,
        played: Replay,
        nodes: Sequence[dict[str, Any]],
        answers: Sequence[Found],
        verification: Verification,
    ):
        self.source = source
        self.played = played
        self.nodes = nodes
        self.answers = answers
        self.verification = verification

    def data(self) -> dict[str, Any]:
        """Return all figures as plain data."""
        return {
            "source": self.source,
            "replay": self.played,
            "summaries": self.nodes,
            "questions": self.answers,
            "verification": {"ok": self.verification.ok, "checks": self.verification.checks},
        }


def _play(engine: Engine, entries: Sequence[Any], path: str | None, budget: int) -> Story:
    chat = engine.conversation("agent:demo:main")
    with progress_bar("replaying") as progress:
        played = replay.replay(engine, chat, entries, budget, progress)
    questions = _shipped_questions() if path is None else _own_questions(engine, chat, budget)
    shown = replay.context_text(chat, budget)
    answers = [replay.find(engine, chat, question, shown) for question in questions]
    # Only what the model can no longer read by itself is worth asking for.
    answers.sort(key=lambda answer: answer.in_context)
    return Story(
        path or SHIPPED, played, _nodes(engine, chat), answers[: replay.ASKED], engine.verify()
    )


def _shipped_questions() -> list[Question]:
    from lossless_claw.demo import questions

    return [Question(one.question, one.needle) for one in questions()]


def _own_questions(engine: Engine, chat: Chat, budget: int) -> list[Question]:
    return replay.questions_about(engine, chat, budget)


def _nodes(engine: Engine, chat: Chat) -> list[dict[str, Any]]:
    listed = engine.listing.summaries(chat.id, limit=replay.EXPAND_CAP).items
    return [
        {
            "summaryId": one.summary_id,
            "kind": one.kind,
            "depth": one.depth,
            "tokens": one.token_count,
            "sourceMessages": one.source_message_count,
            "isRoot": one.parent_count == 0,
            "sources": [
                child.summary_id for child in engine.listing.summary(one.summary_id).children
            ],
            "earliestAt": one.earliest_at,
            "latestAt": one.latest_at,
            "preview": one.preview,
        }
        for one in reversed(listed)
    ]


# -- for people --------------------------------------------------------------------------


def _view(story: Story, *, is_kept: bool) -> Iterator[Any]:
    yield from _heading("1. History and context", f"Replayed {output.clean(story.source)}.")
    yield _chart(story.played.points, story.played.budget)
    yield _verdict(story.played)
    yield from _heading("2. The summaries", "Each can be opened down to the original messages.")
    yield _dag(story.nodes)
    yield from _heading(
        "3. Asking for what is no longer in the context", "The answers are the original messages."
    )
    for answer in story.answers:
        yield from _answer(answer)
    yield from _heading("4. Proof", "")
    yield output.grid(output.plain(story.verification.checks), ("name", "checked", "faults"))
    yield from _heading("Next", _next(story, is_kept=is_kept))


def _heading(title: str, sentence: str) -> Iterator[Any]:
    from rich.text import Text

    yield Text(f"\n{title}", style="bold")
    if sentence:
        yield Text(sentence)


def _chart(points: Sequence[Point], budget: int) -> Any:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("messages", "history", "context", "summaries"):
        table.add_column(name, justify="right")
    table.add_column("history (░) and context (█), in tokens")
    widest = max([budget, *(point.raw_tokens for point in points)])
    for point in points:
        context = max(1, round(BAR * point.context_tokens / widest))
        history = max(0, round(BAR * point.raw_tokens / widest) - context)
        table.add_row(
            f"{point.messages:,}",
            f"{point.raw_tokens:,}",
            f"{point.context_tokens:,}",
            str(point.summaries),
            Text("█" * context, style="green") + Text("░" * history, style="dim"),
        )
    return table


def _verdict(played: Replay) -> str:
    ends = "Every context fitted" if played.always_fits else "Not every context fitted"
    return (
        f"{ends} into {played.budget:,} tokens over {played.turns} turns; "
        f"the largest had {played.largest:,}."
    )


def _dag(nodes: Sequence[dict[str, Any]]) -> Any:
    from rich.tree import Tree

    known = {node["summaryId"]: node for node in nodes}
    root = Tree("context" if nodes else "no summaries yet: everything fits")

    def grow(branch: Tree, node: dict[str, Any], levels: int) -> None:
        twig = branch.add(_label(node))
        if node["sources"] and levels == 1:
            twig.add(f"{_below(known, node)} summaries below")
            return
        for source in node["sources"]:
            grow(twig, known[source], levels - 1)

    for node in nodes:
        if node["isRoot"]:
            grow(root, node, LEVELS)
    return root


def _below(known: dict[str, dict[str, Any]], node: dict[str, Any]) -> int:
    found: set[str] = set()
    waiting = list(node["sources"])
    while waiting:
        source = waiting.pop()
        if source not in found:
            found.add(source)
            waiting += known[source]["sources"]
    return len(found)


def _label(node: dict[str, Any]) -> Any:
    from rich.text import Text

    is_leaf = node["kind"] == "leaf"
    count = node["sourceMessages"] if is_leaf else len(node["sources"])
    noun = ("message" if is_leaf else "summary", "messages" if is_leaf else "summaries")
    head = f"{node['summaryId']}  {node['kind']}  {node['tokens']:,} tokens from {count}"
    span = f"  {_minute(node['earliestAt'])} .. {_minute(node['latestAt'])}"
    return Text(f"{head} {noun[count != 1]}", no_wrap=True) + Text(span, style="dim")


def _minute(time: str | None) -> str:
    return (time or "")[5:16].replace("T", " ")


def _answer(answer: Found) -> Iterator[Any]:
    from rich.text import Text

    yield Text(f"\n? {output.clean(answer.question)}", style="bold")
    if not answer.found:
        yield Text(f"not among the first passages: {output.clean(answer.needle)}", style="red")
        return
    place = "also in the context" if answer.in_context else "no longer in the context"
    head = f"{answer.citation}  {answer.role}  {answer.created_at}  ({place})"
    yield from passage(head, excerpt(answer.original or "", answer.needle))


def excerpt(text: str, needle: str) -> str:
    """Return what stands around *needle*, verbatim, and how much of the message is not shown."""
    at = text.index(needle)
    start = max(text.rfind("\n", 0, at) + 1, at - EXCERPT // 2)
    for _ in range(EXCERPT_LINES // 2):
        earlier = text.rfind("\n", 0, max(0, start - 1)) + 1
        if start == 0 or at - earlier > EXCERPT // 2:
            break
        start = earlier
    end = min(len(text), max(start + EXCERPT, at + len(needle)))
    shown = "\n".join(text[start:end].split("\n")[:EXCERPT_LINES])
    if needle not in shown:
        shown = text[start:end]
    hidden = len(text) - len(shown)
    return shown + (f"\n[{hidden:,} more characters of this message]" if hidden else "")


def _next(story: Story, *, is_kept: bool) -> str:
    if not is_kept:
        return (
            "lcm demo --db demo.db      keep this database\n"
            "lcm demo PATH              the same with a transcript of yours\n"
            "lcm import PATH            store your transcripts for good"
        )
    node = next((one["summaryId"] for one in story.nodes if one["isRoot"]), "ID")
    return f"lcm status\nlcm expand {node}\nlcm grep 'some words'\n(each with --db as above)"
