"""Figures of what is read: contexts, summaries reopened, searches."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from msgspec.structs import replace

from benchmarks import corpus as queries
from benchmarks.figures import Figure, Run, milliseconds
from benchmarks.measure import repeat
from benchmarks.stages import BUDGET, KEY, opened
from lossless_claw.chat import Chat
from lossless_claw.recall.grep import Grep
from lossless_claw.store.search.search import Search


def assembling(run: Run, size: int) -> Iterator[Figure]:
    """A context of 200 items, none of which is left out."""
    with opened(run.stages.ready(size)) as engine:
        chat = engine.conversation(KEY)
        context = chat.assemble(BUDGET, live=False)
        if context.report.left_out or not context.fits:
            raise RuntimeError(f"{context.report.left_out} items did not fit")
        spent = repeat(lambda: chat.assemble(BUDGET, live=False), run.seconds)
    kinds = ", ".join(f"{count} {kind}" for kind, count in context.report.items.items())
    note = f"{kinds}: {context.tokens:,} tokens"
    yield milliseconds("assemble.ready", size, spent, note)


def assembling_uncompacted(run: Run, size: int) -> Iterator[Figure]:
    """What fits of a history that nothing was summarised of."""
    with opened(run.stages.imported(size).path) as engine:
        chat = engine.conversation(KEY)
        context = chat.assemble(BUDGET, live=False)
        spent = repeat(lambda: chat.assemble(BUDGET, live=False), run.seconds)
    note = f"{len(context.messages)} messages, {context.report.left_out} left out"
    yield milliseconds("assemble.uncompacted", size, spent, note)


def reopening(run: Run, size: int) -> Iterator[Figure]:
    """The oldest summary that fills a page: what it is, and that page of what it was made from."""
    with opened(run.stages.compacted(size).path) as engine:
        chat = engine.conversation(KEY)
        items = engine.store.context.items(chat.id)
        pages = [chat.expand(str(item.ref)) for item in items if item.is_summary]
        page = next((one for one in pages if one.tokens > 2_000), pages[0])
        node = page.id
        described = repeat(lambda: chat.describe(node), run.seconds)
        expanded = repeat(lambda: chat.expand(node, token_cap=4_000), run.seconds)
    yield milliseconds("describe", size, described)
    yield milliseconds("expand", size, expanded, f"{page.tokens} tokens")


def words(run: Run, size: int) -> Iterator[Figure]:
    """Full text."""
    yield from _searches(
        run,
        size,
        {
            "grep.rare": lambda chat: chat.grep(queries.RARE),
            "grep.recency": lambda chat: chat.grep(queries.COMMON, sort="recency"),
            "grep.relevance": lambda chat: chat.grep(queries.COMMON),
            "grep.question": lambda chat: chat.grep(queries.TEN_WORDS),
        },
    )


def patterns(run: Run, size: int) -> Iterator[Figure]:
    """Regular expressions."""
    asked = {
        "regex.selective": queries.SELECTIVE,
        "regex.absent": queries.ABSENT,
        "regex.common_trigrams": queries.COMMON_TRIGRAMS,
        "regex.no_literal": queries.NO_LITERAL,
    }
    yield from _searches(run, size, {name: _regex(pattern) for name, pattern in asked.items()})


def characters(run: Run, size: int) -> Iterator[Figure]:
    """Texts without word borders."""
    yield from _searches(
        run,
        size,
        {
            "cjk.one": lambda chat: chat.grep(queries.ONE_CHARACTER),
            "cjk.two": lambda chat: chat.grep(queries.TWO_CHARACTERS),
        },
    )


def _regex(pattern: str) -> Callable[[Chat], Grep]:
    return lambda chat: chat.grep(pattern, mode="regex")


def _searches(run: Run, size: int, asked: dict[str, Callable[[Chat], Grep]]) -> Iterator[Figure]:
    with opened(run.stages.imported(size).path) as engine:
        chat = engine.conversation(KEY)

        def forget() -> None:
            # A search remembers the order of its last answers; each repetition is a first page.
            engine.store.search = Search(engine.store.database)

        for name, ask in asked.items():
            spent = repeat(lambda ask=ask: ask(chat), run.seconds, forget)  # type: ignore[misc]
            forget()
            found = ask(chat)
            yield replace(milliseconds(name, size, spent, _told(found)), is_exact=not found.note)


def _told(found: Grep) -> str:
    total = "?" if found.total is None else f"{found.total:,}"
    more = "" if found.total_is_exact else "+"
    return f"{total}{more} hits" + (f"; {found.note}" if found.note else "")
