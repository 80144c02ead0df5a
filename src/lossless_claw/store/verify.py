"""Prove that nothing is lost, doubled or altered. Reads only.

Every message is put together again and its full-content hash recomputed; every count that is kept
is counted again; every message is looked for in the context, under a summary, or outside it for a
named reason. A fault is a value with examples, never an exception.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from typing import NamedTuple

from msgspec import Struct

from lossless_claw.message.identity import full_hash
from lossless_claw.message.original import DamagedError, restore
from lossless_claw.message.parts import single_text
from lossless_claw.model import Part, Raw
from lossless_claw.store.messages import rebuilt
from lossless_claw.store.search.rows import usable
from lossless_claw.store.search.text import search_text
from lossless_claw.store.sqlite import Database

EXAMPLES = 5
_PAGE = 500

Progress = Callable[[int], None]


class Check(Struct, frozen=True):
    """One promise: how many things were looked at, how many break it, and a few of them."""

    name: str
    promise: str
    checked: int
    faults: int
    examples: tuple[str, ...] = ()


class Verification(Struct, frozen=True):
    """All checks. `ok` when nothing is missing, doubled or altered."""

    checks: tuple[Check, ...]

    @property
    def ok(self) -> bool:
        return all(check.faults == 0 for check in self.checks)


class _Tally:
    """Collects the faults of one check."""

    def __init__(self, name: str, promise: str):
        self.name, self.promise = name, promise
        self.checked = self.faults = 0
        self.examples: list[str] = []

    def fault(self, example: str) -> None:
        self.faults += 1
        if len(self.examples) < EXAMPLES:
            self.examples.append(example)

    def done(self) -> Check:
        return Check(self.name, self.promise, self.checked, self.faults, tuple(self.examples))


def verify(database: Database, progress: Progress | None = None) -> Verification:
    """Check the whole file; its cost follows the number of messages.

    Args:
        progress: Called with the number of messages of each page checked.
    """
    with database.snapshot() as connection:
        checks = [
            *_check_messages(connection, progress, database),
            *(_check_query(connection, query) for query in _QUERIES),
            _check_graph(connection),
            _check_file(connection),
        ]
    return Verification(tuple(checks))


# -- messages --------------------------------------------------------------------------------


class _Stored(NamedTuple):
    message: int
    role: str
    content: str
    identity: bytes | None
    rest: bytes | None
    is_inexact: bool
    parts: list[Part]


def _check_messages(
    connection: sqlite3.Connection, progress: Progress | None, database: Database
) -> Iterator[Check]:
    intact = _Tally("messages", "every message restores to its original, by hash")
    indexed = _Tally("search", "every message with text is in the full-text index, once")
    has_index = usable(connection, database).words
    if database.has_fts5 and not has_index:
        indexed.fault("the table messages_fts is missing")
    for page in _pages(connection):
        found = _indexed(connection, page) if has_index else set()
        for stored in page:
            _check_message(stored, intact)
            if has_index:
                _check_indexed(stored, found, indexed)
        if progress is not None:
            progress(len(page))
    yield intact.done()
    yield indexed.done()


def _check_message(stored: _Stored, tally: _Tally) -> None:
    tally.checked += 1
    if stored.identity is None:
        return
    try:
        original = _original(stored)
    except DamagedError as error:
        tally.fault(f"msg_{stored.message}: {error}")
        return
    if full_hash(original, stored.role, single_text(original)) != stored.identity:
        tally.fault(f"msg_{stored.message}: its content is not what was stored")


def _original(stored: _Stored) -> Raw:
    if stored.is_inexact:
        return rebuilt(stored.role, stored.content, stored.parts)
    return restore(stored.role, stored.content, stored.parts, stored.rest)


def _check_indexed(stored: _Stored, found: set[int], tally: _Tally) -> None:
    tally.checked += 1
    # Upstream indexes the text of a message, without the bodies of its tools.
    parts = () if stored.is_inexact else stored.parts
    is_wanted = bool(search_text(stored.content, parts).strip())
    if is_wanted and stored.message not in found:
        tally.fault(f"msg_{stored.message} is not indexed")


def _pages(connection: sqlite3.Connection) -> Iterator[list[_Stored]]:
    last = 0
    while True:
        rows = connection.execute(
            """SELECT m.message_id, m.role, m.content, l.hash, l.rest, coalesce(l.flags, 4) & 4
            FROM messages m
            LEFT JOIN lossless_message l ON l.message_id = m.message_id
            WHERE m.message_id > ? ORDER BY m.message_id LIMIT ?""",
            (last, _PAGE),
        ).fetchall()
        if not rows:
            return
        parts = _parts(connection, rows[0][0], rows[-1][0])
        yield [
            _Stored(message, role, content, identity, rest, bool(inexact), parts.get(message, []))
            for message, role, content, identity, rest, inexact in rows
        ]
        last = rows[-1][0]


def _parts(connection: sqlite3.Connection, first: int, last: int) -> dict[int, list[Part]]:
    found: dict[int, list[Part]] = {}
    rows = connection.execute(
        """SELECT message_id, part_type, text_content, tool_call_id, tool_name, tool_input,
        tool_output, metadata FROM message_parts WHERE message_id BETWEEN ? AND ?
        ORDER BY message_id, ordinal""",
        (first, last),
    )
    for message, *fields in rows:
        found.setdefault(message, []).append(Part(*fields))
    return found


def _indexed(connection: sqlite3.Connection, page: list[_Stored]) -> set[int]:
    rows = connection.execute(
        "SELECT rowid FROM messages_fts WHERE rowid BETWEEN ? AND ?",
        (page[0].message, page[-1].message),
    )
    return {row[0] for row in rows}


# -- counts and places -----------------------------------------------------------------------


class _Query(NamedTuple):
    """A check that SQL alone makes: how many are looked at, and the faults with an example."""

    name: str
    promise: str
    looked_at: str
    broken: str


_IN_CONTEXT = "SELECT message_id FROM context_items WHERE message_id IS NOT NULL"
# Every message below a summary that stands in the context, once for each leaf it is under.
_COVERED = """WITH RECURSIVE shown(id) AS (
 SELECT summary_id FROM context_items WHERE summary_id IS NOT NULL
 UNION SELECT p.parent_summary_id FROM summary_parents p JOIN shown ON p.summary_id = shown.id)
 SELECT e.message_id FROM shown JOIN summary_messages e ON e.summary_id = shown.id"""

_QUERIES = (
    _Query(
        "counts",
        "each conversation holds as many messages as were stored in it",
        "SELECT count(*) FROM lossless_context",
        """SELECT 'conversation ' || c.conversation || ': ' || c.stored || ' stored, ' ||
        count(m.message_id) || ' there' FROM lossless_context c
        LEFT JOIN messages m ON m.conversation_id = c.conversation
        GROUP BY c.conversation HAVING count(m.message_id) <> c.stored""",
    ),
    _Query(
        "order",
        "the messages of a conversation are numbered without a gap",
        "SELECT count(*) FROM conversations",
        """SELECT 'conversation ' || conversation_id || ': ' || max(seq) || ' numbers for ' ||
        count(*) || ' messages' FROM messages GROUP BY conversation_id
        HAVING max(seq) <> count(*) OR min(seq) <> 1""",
    ),
    _Query(
        "originals",
        "every message has its full-content identity",
        "SELECT count(*) FROM messages",
        """SELECT 'msg_' || m.message_id FROM messages m LEFT JOIN lossless_message l
        ON l.message_id = m.message_id WHERE l.message_id IS NULL UNION ALL
        SELECT 'msg_' || l.message_id || ' is gone' FROM lossless_message l LEFT JOIN messages m
        ON m.message_id = l.message_id WHERE m.message_id IS NULL""",
    ),
    _Query(
        "doubled",
        "no transcript entry is stored twice",
        "SELECT count(*) FROM messages WHERE transcript_entry_id IS NOT NULL",
        """SELECT 'entry ' || transcript_entry_id || ' in conversation ' || conversation_id
        FROM messages WHERE transcript_entry_id IS NOT NULL
        GROUP BY conversation_id, transcript_entry_id HAVING count(*) > 1""",
    ),
    _Query(
        "coverage",
        "each message is in the context once, raw or under a summary, or outside for a reason",
        "SELECT count(*) FROM lossless_message",
        f"""SELECT 'msg_' || l.message_id || CASE WHEN count(p.message_id) = 0
        THEN ' is nowhere' WHEN l.outside IS NULL THEN ' is shown twice'
        ELSE ' is shown, though ' || l.outside END FROM lossless_message l
        LEFT JOIN (SELECT * FROM ({_IN_CONTEXT}) UNION ALL SELECT * FROM ({_COVERED})) p
        ON p.message_id = l.message_id GROUP BY l.message_id
        HAVING count(p.message_id) <> (l.outside IS NULL)""",
    ),
    _Query(
        "totals",
        "the running totals of each context are right",
        "SELECT count(*) FROM lossless_context",
        """SELECT 'conversation ' || r.conversation || ': ' || r.tokens || ' tokens kept, ' ||
        coalesce(sum(coalesce(l.tokens, h.tokens, m.token_count, s.token_count)), 0) || ' counted'
        FROM lossless_context r
        LEFT JOIN context_items c ON c.conversation_id = r.conversation
        LEFT JOIN messages m ON m.message_id = c.message_id
        LEFT JOIN lossless_message l ON l.message_id = c.message_id
        LEFT JOIN summaries s ON s.summary_id = c.summary_id
        LEFT JOIN lossless_summary h ON h.summary_id = c.summary_id
        GROUP BY r.conversation HAVING
        r.tokens <> coalesce(sum(coalesce(l.tokens, h.tokens, m.token_count, s.token_count)), 0)
        OR r.items <> count(c.ordinal)""",
    ),
)


def _check_query(connection: sqlite3.Connection, query: _Query) -> Check:
    tally = _Tally(query.name, query.promise)
    (tally.checked,) = connection.execute(query.looked_at).fetchone()
    for (example,) in connection.execute(query.broken):
        tally.fault(example)
    return tally.done()


# -- summaries and the file ------------------------------------------------------------------


def _check_graph(connection: sqlite3.Connection) -> Check:
    tally = _Tally("summaries", "every summary has its sources, one depth below it or deeper")
    depths = dict(connection.execute("SELECT summary_id, depth FROM summaries"))
    leaves = dict(
        connection.execute("SELECT summary_id, count(*) FROM summary_messages GROUP BY 1")
    )
    sources: dict[str, list[str]] = {}
    for derived, source in connection.execute(
        "SELECT summary_id, parent_summary_id FROM summary_parents"
    ):
        sources.setdefault(derived, []).append(source)
    tally.checked = len(depths)
    for summary, depth in depths.items():
        below = [depths.get(source, depth) for source in sources.get(summary, ())]
        is_whole = bool(leaves.get(summary)) if depth == 0 else bool(below) and max(below) < depth
        if not is_whole:
            tally.fault(f"{summary} (depth {depth}) is not made of what lies below it")
    return tally.done()


def _check_file(connection: sqlite3.Connection) -> Check:
    tally = _Tally("file", "SQLite finds the file and its references whole")
    tally.checked = 1
    for (finding,) in connection.execute("PRAGMA integrity_check(5)"):
        if finding != "ok":
            tally.fault(str(finding))
    for row in connection.execute("PRAGMA foreign_key_check"):
        tally.fault(f"{row[0]} row {row[1]} refers to a missing row of {row[2]}")
    return tally.done()
