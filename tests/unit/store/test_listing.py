from __future__ import annotations

import gzip
import json
import sqlite3
from importlib import resources

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lossless_claw.errors import ConversationNotFoundError, CursorError, SummaryNotFoundError
from lossless_claw.store.listing import keyset
from lossless_claw.store.listing.keyset import Position
from lossless_claw.store.listing.listed import Limits
from lossless_claw.store.listing.listing import Listing
from lossless_claw.store.listing.pages import preview
from lossless_claw.store.sqlite import Database

SCHEMA = (resources.files("lossless_claw.store") / "sql" / "schema.sql").read_text("utf-8")


class File:
    """A database made row by row, and its lists over a read-only handle."""

    def __init__(self, path):
        self.path = path
        self.sql = sqlite3.connect(path)
        self.sql.execute("PRAGMA synchronous = OFF")
        self.sql.executescript(SCHEMA)

    def conversation(self, key=None, *, active=1, created="2026-01-01 00:00:00", updated=None):
        return self.add(
            "conversations",
            session_id=f"s-{key}",
            session_key=key,
            active=active,
            created_at=created,
            updated_at=updated or created,
        )

    def message(self, conversation, seq, text="hello", *, at="2026-01-01 00:00:00", **more):
        tokens = more.pop("own", None)
        values = {"role": "user", "token_count": 10, **more}
        number = self.add(
            "messages",
            conversation_id=conversation,
            seq=seq,
            content=text,
            created_at=at,
            **values,
        )
        if tokens is not None:
            self.add(
                "lossless_message",
                message_id=number,
                conversation=conversation,
                hash=b"x",
                tokens=tokens,
            )
        return number

    def item(self, conversation, ordinal, *, message=None, summary=None):
        kind = "message" if summary is None else "summary"
        self.add(
            "context_items",
            conversation_id=conversation,
            ordinal=ordinal,
            item_type=kind,
            message_id=message,
            summary_id=summary,
        )

    def summary(self, conversation, name, *, depth=0, **more):
        self.add(
            "summaries",
            **{
                "summary_id": name,
                "conversation_id": conversation,
                "kind": "condensed" if depth else "leaf",
                "depth": depth,
                "content": f"about {name}",
                "token_count": 5,
                "source_message_token_count": 30,
                "created_at": "2026-01-01 00:00:00",
                **more,
            },
        )

    def add(self, table, **values):
        names = ", ".join(values)
        marks = ", ".join("?" * len(values))
        cursor = self.sql.execute(
            f"INSERT INTO {table} ({names}) VALUES ({marks})", tuple(values.values())
        )
        self.sql.commit()
        return cursor.lastrowid

    def lists(self):
        return Listing(Database(str(self.path), read_only=True))


@pytest.fixture
def file(tmp_path):
    made = File(tmp_path / "lcm.db")
    yield made
    made.sql.close()


def walk(page_of):
    """Return the items of all pages."""
    items, cursor = [], None
    while True:
        page = page_of(cursor)
        items += page.items
        cursor = page.next_cursor
        if cursor is None:
            return items


# -- pages -------------------------------------------------------------------------------


@pytest.mark.parametrize("limit", [1, 2, 3, 4])
def test_equal_times_give_no_gap_and_no_duplicate(file, limit):
    for _ in range(3):
        number = file.conversation()
        for seq in (1, 2, 3):
            file.message(number, seq)
        file.summary(number, f"sum_{number}")
    lists = file.lists()
    found = walk(lambda c: lists.conversations(limit=limit, cursor=c))
    assert [one.conversation_id for one in found] == [3, 2, 1]
    found = walk(lambda c: lists.messages(2, limit=limit, cursor=c))
    assert [one.seq for one in found] == [3, 2, 1]
    found = walk(lambda c: lists.summaries(limit=limit, cursor=c))
    assert [one.summary_id for one in found] == ["sum_3", "sum_2", "sum_1"]


TIMES = {
    "2026-01-01 10:00:00": 4,
    "2026-01-01T09:59:59.500Z": 2,
    "2026-01-01T09:30:00-00:29": 1,
    "2026-01-01T10:59:59.9+01:00": 3,
    "2026-01-02": 5,
    "not a time": 0,
    "": 0,
}


def test_mixed_styles_of_time_sort_as_instants_and_what_is_no_time_comes_last(file):
    number = file.conversation()
    for seq, at in enumerate(TIMES, 1):
        file.message(number, seq, at=at)
    lists = file.lists()
    found = walk(lambda c: lists.messages(number, limit=1, cursor=c))
    assert [TIMES[one.created_at] for one in found] == [5, 4, 3, 2, 1, 0, 0]


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.sampled_from(sorted(TIMES)), max_size=12), st.integers(1, 5))
def test_pages_of_any_size_are_the_whole_list_once(tmp_path_factory, times, limit):
    file = File(tmp_path_factory.mktemp("any") / "lcm.db")
    number = file.conversation()
    for seq, at in enumerate(times, 1):
        file.message(number, seq, at=at)
    lists = file.lists()
    whole = lists.messages(number, limit=100)
    assert whole.next_cursor is None
    assert walk(lambda c: lists.messages(number, limit=limit, cursor=c)) == list(whole.items)
    file.sql.close()


def test_a_cursor_is_bound_to_its_list_and_its_filters(file):
    number = file.conversation()
    for seq in (1, 2):
        file.message(number, seq)
    lists = file.lists()
    cursor = lists.messages(number, limit=1).next_cursor
    for wrong in (
        lambda: lists.summaries(cursor=cursor),
        lambda: lists.messages(number, cursor=cursor, roles=["user"]),
        lambda: lists.messages(number, cursor=cursor[:-3]),
        lambda: lists.messages(number, cursor="é"),
        lambda: lists.messages(number, cursor=""),
    ):
        with pytest.raises(CursorError):
            wrong()


@pytest.mark.parametrize("key", ["5", True, 2**63, None, 1.0])
def test_a_cursor_of_messages_names_an_integer(key):
    with pytest.raises(CursorError):
        keyset.decode(keyset.encode("messages", Position("", key), {}), "messages", {})


def test_a_cursor_of_upstream_without_filters_is_accepted():
    text = json.dumps({"v": 1, "resource": "messages", "timestamp": "2026-01-01", "id": 7})
    cursor = keyset.base64.urlsafe_b64encode(text.encode()).rstrip(b"=").decode()
    assert keyset.decode(cursor, "messages", {"a": 1}) == Position("2026-01-01", 7)


# -- messages ----------------------------------------------------------------------------


def test_messages_are_filtered_by_role_and_half_open_range(file):
    number = file.conversation()
    other = file.conversation()
    file.message(other, 1)
    roles = ["user", "assistant", "tool", "system"]
    for seq, role in enumerate(roles):
        file.message(number, seq, role=role, at=f"2026-01-0{seq + 1}T00:00:00Z")
    lists = file.lists()
    found = lists.messages(number, roles=["tool", "user"])
    assert [one.role for one in found.items] == ["tool", "user"]
    found = lists.messages(number, after="2026-01-02T00:00:00Z", before="2026-01-03T00:00:00Z")
    assert [one.role for one in found.items] == ["assistant"]


def test_content_is_there_only_when_asked_for(file):
    number = file.conversation()
    file.message(number, 1, " " * 2_000 + "x")
    lists = file.lists()
    (short,) = lists.messages(number).items
    (whole,) = lists.messages(number, include_content=True).items
    assert (short.content, short.preview) == (None, "")
    assert whole.content == " " * 2_000 + "x"


@pytest.mark.parametrize(
    ("text", "expected"),
    [("a\n\t b ", "a b"), ("x" * 240, "x" * 240), ("x" * 241, "x" * 239 + "…"), ("", "")],
)
def test_a_preview_is_one_line_of_240_characters(text, expected):
    assert preview(text) == expected


def test_tokens_are_our_estimate_where_one_is_stored(file):
    number = file.conversation()
    file.message(number, 1, own=3)
    file.message(number, 2)
    assert [one.token_count for one in file.lists().messages(number).items] == [10, 3]
    assert file.lists().status().messages.tokens == 13


# -- the tail ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("limits", "seqs"),
    [
        (Limits(2, None), [3, 4]),
        (Limits(9, None), [2, 3, 4]),
        (Limits(9, 20), [3, 4]),
        (Limits(9, 19), [4]),
        (Limits(9, 0), [4]),
    ],
)
def test_the_tail_is_the_newest_raw_messages_within_its_limits(file, limits, seqs):
    number = file.conversation()
    file.summary(number, "sum_a")
    file.item(number, 0, summary="sum_a")
    for seq in (1, 2, 3, 4):
        message = file.message(number, seq)
        if seq > 1:
            file.item(number, seq, message=message)
    tail = file.lists().tail(number, limits)
    assert [one.seq for one in tail.messages] == seqs
    assert tail.selected.tokens == 10 * len(seqs)
    assert (tail.selected.first_seq, tail.selected.last_seq) == (seqs[0], seqs[-1])
    assert (tail.conversation.messages, tail.conversation.tokens) == (4, 40)
    (row,) = walk(lambda c: file.lists().conversations(tail=limits, cursor=c))
    assert (row.fresh_tail_messages, row.fresh_tail_tokens) == (len(seqs), 10 * len(seqs))


def test_a_context_of_summaries_alone_has_an_empty_tail(file):
    number = file.conversation()
    file.summary(number, "sum_a")
    file.item(number, 0, summary="sum_a")
    tail = file.lists().tail(number)
    assert (tail.messages, tail.selected.first_seq) == ((), None)


# -- conversations -----------------------------------------------------------------------


def test_a_key_names_the_active_row_then_the_newest(file):
    old = file.conversation("k", active=0, created="2026-01-01 00:00:00")
    new = file.conversation("k", active=0, created="2026-01-03T00:00:00Z")
    assert file.lists().resolve(session_key="k").conversation_id == new
    live = file.conversation("k", created="2026-01-02 00:00:00")
    assert file.lists().resolve(session_key="k").conversation_id == live
    assert file.lists().resolve(conversation_id=old).conversation_id == old
    for wrong in ({"session_key": "K"}, {"conversation_id": 99}, {}):
        with pytest.raises(ConversationNotFoundError):
            file.lists().resolve(**wrong)


def test_a_conversation_has_its_own_figures_only(file):
    one, two = file.conversation("one"), file.conversation("two")
    first = file.message(one, 1, at="2026-01-01 00:00:00", own=7)
    file.message(one, 2, at="2026-01-02 00:00:00")
    file.message(two, 1)
    file.summary(one, "sum_a", latest_at="2026-01-05T00:00:00Z")
    file.summary(one, "sum_b", depth=1)
    file.item(one, 0, summary="sum_b")
    file.item(one, 1, message=first)
    found = {row.conversation_id: row for row in file.lists().conversations().items}
    row = found[one]
    assert (row.message_count, row.message_tokens) == (2, 17)
    assert row.earliest_message_at == "2026-01-01 00:00:00"
    assert row.latest_message_at == "2026-01-02 00:00:00"
    assert (row.summary_count, row.summary_tokens, row.max_summary_depth) == (2, 10, 1)
    assert (row.summarized_source_tokens, row.latest_summary_at) == (30, "2026-01-05T00:00:00Z")
    assert (row.context_items, row.context_tokens) == (2, 12)
    assert (found[two].summary_count, found[two].max_summary_depth) == (0, None)


def test_running_totals_are_taken_where_they_are_kept(file):
    number = file.conversation()
    file.item(number, 0, message=file.message(number, 1))
    assert file.lists().status().context.tokens == 10
    file.add("lossless_context", conversation=number, tokens=77, items=5, stored=1)
    assert msgspec.to_builtins(file.lists().status().context) == {"items": 5, "tokens": 77}


# -- summaries ---------------------------------------------------------------------------


def test_a_summary_shows_what_is_one_step_away_in_its_own_conversation(file):
    here, there = file.conversation(), file.conversation()
    for owner, name, depth in ((here, "a", 0), (here, "b", 0), (here, "top", 1), (there, "x", 1)):
        file.summary(owner, name, depth=depth, file_ids="{damaged")
    message = file.message(here, 1, "body")
    foreign = file.message(there, 1)
    for ordinal, source in enumerate(("b", "a")):
        file.add("summary_parents", summary_id="top", parent_summary_id=source, ordinal=ordinal)
    file.add("summary_parents", summary_id="x", parent_summary_id="a", ordinal=0)
    for ordinal, one in enumerate((foreign, message)):
        file.add("summary_messages", summary_id="a", message_id=one, ordinal=ordinal)
    lists = file.lists()
    top, leaf = lists.summary("top"), lists.summary("a")
    assert [one.summary_id for one in top.children] == ["b", "a"]
    assert [one.summary_id for one in leaf.parents] == ["top"]
    assert [one.content for one in leaf.source_messages] == ["body"]
    assert (leaf.summary.parent_count, leaf.summary.source_message_count) == (1, 1)
    assert (top.summary.child_count, leaf.summary.file_ids) == (2, ())
    with pytest.raises(SummaryNotFoundError):
        lists.summary("nope")


def test_summaries_are_filtered_by_kind_depth_and_covered_time(file):
    number = file.conversation()
    file.summary(number, "leaf", latest_at="2026-03-01T00:00:00Z")
    file.summary(number, "mid", depth=1)
    file.summary(number, "top", depth=2)
    lists = file.lists()
    assert [one.summary_id for one in lists.summaries(kind="leaf").items] == ["leaf"]
    assert [one.summary_id for one in lists.summaries(depth=2).items] == ["top"]
    late = lists.summaries(after="2026-02-01T00:00:00Z")
    assert [one.summary_id for one in late.items] == ["leaf"]
    assert lists.summaries(number + 1).items == ()


# -- the whole file ----------------------------------------------------------------------


def test_an_empty_database_has_a_status(file):
    status = file.lists().status()
    assert (status.conversations.total, status.messages.count, status.messages.tokens) == (0, 0, 0)
    assert (status.messages.earliest_at, status.summaries.by_depth) == (None, ())


def test_status_never_scans_messages(file):
    number = file.conversation()
    file.message(number, 1)
    file.add("lossless_context", conversation=number, tokens=1, items=1, stored=1)
    database = Database(str(file.path), read_only=True)
    seen = []
    with database.read() as connection:
        connection.set_trace_callback(seen.append)
        Listing(database).status()
        connection.set_trace_callback(None)
        statements = [one for one in seen if "sum(tokens), 0) FROM message" not in one]
        plans = [
            row[3]
            for one in statements
            if not one.startswith("--")
            for row in connection.execute(f"EXPLAIN QUERY PLAN {one}")
        ]
    scans = [one for one in plans if one.startswith("SCAN m") and "INDEX" not in one]
    assert plans
    assert scans == ["SCAN maintenance"] * len(scans)


def test_every_released_layout_is_listed(shared):
    releases = sorted((shared / "data" / "compat" / "releases").glob("*.db"))
    assert releases
    for release in releases:
        lists = Listing(Database(str(release), read_only=True))
        status = lists.status()
        assert (status.messages.count, status.summaries.count) == (6, 3), release.name
        assert status.context.items == 4
        (row,) = lists.conversations().items
        assert (row.message_count, row.summary_count, row.active) == (6, 3, True)
        assert len(lists.messages(row.conversation_id).items) == 6
        top = max(lists.summaries().items, key=lambda one: one.depth)
        assert len(lists.summary(top.summary_id).children) == 2


def test_a_real_database_is_listed_without_being_changed(shared, tmp_path):
    path = tmp_path / "lcm.db"
    path.write_bytes(gzip.decompress((shared / "data/compat/sample_lcm.db.gz").read_bytes()))
    before = path.read_bytes()
    lists = Listing(Database(str(path), read_only=True))
    status = lists.status()
    assert (status.conversations.total, status.messages.count) == (4, 2_002)
    found = walk(lambda c: lists.summaries(limit=7, cursor=c))
    assert len({one.summary_id for one in found}) == len(found) == status.summaries.count == 78
    assert path.read_bytes() == before
