from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from recall_fixtures import add_summary, filled

from lossless_claw.errors import CursorError
from lossless_claw.recall.below import Below
from lossless_claw.recall.describe import describe
from lossless_claw.recall.expand import expand

LEAVES = st.lists(st.lists(st.integers(1, 8), unique=True, max_size=4), min_size=1, max_size=4)
NODES = st.lists(st.lists(st.integers(0, 9), unique=True, max_size=4), min_size=1, max_size=5)


def reference(leaves, nodes, name, given_, seen):
    """The messages below a node by a plain walk that remembers all it came by."""
    if name in seen:
        return []
    seen.add(name)
    if name < len(leaves):
        fresh = [one for one in leaves[name] if one not in given_]
        given_.update(fresh)
        return fresh
    sources = nodes[name - len(leaves)]
    return [m for one in sources for m in reference(leaves, nodes, one, given_, seen)]


@settings(max_examples=60, deadline=None)
@given(LEAVES, NODES, st.integers(10, 60))
def test_a_walk_gives_each_message_once_in_order_from_any_place_on(leaves, nodes, cap):
    # Sources come before what is derived from them, so there is no circle; sharing is allowed.
    nodes = [[one for one in sources if one < len(leaves) + n] for n, sources in enumerate(nodes)]
    with filled(8, long=False) as engine:
        store = engine.store
        for n, messages in enumerate(leaves):
            add_summary(store, f"sum_x{n}", "leaf", messages=messages)
        for n, sources in enumerate(nodes, len(leaves)):
            names = [f"sum_x{one}" for one in sources]
            add_summary(store, f"sum_x{n}", "node", sources=names, depth=1)
        last = len(leaves) + len(nodes) - 1
        root = f"sum_x{last}"
        wanted = reference(leaves, nodes, last, set(), set())
        steps = list(Below(store.summaries, root).walk())
        assert [message for _, _, message in steps] == wanted
        assert sorted(wanted) == sorted(store.summaries.messages_under(root))
        for number, (path, at, _) in enumerate(steps):
            later = Below(store.summaries, root).walk(path, at)
            assert [message for _, _, message in later] == wanted[number:]
        assert describe(store, root).messages == len(wanted)
        listed, cursor = [], None
        while True:
            page = expand(store, root, token_cap=cap, cursor=cursor)
            listed += [piece.id for piece in page.pieces if piece.offset == 0]
            cursor = page.next_cursor
            if cursor is None:
                break
        assert listed == [f"msg_{one}" for one in wanted]


def test_a_circle_ends():
    with filled(long=False) as engine:
        add_summary(engine.store, "sum_s", "s", depth=2)
        add_summary(engine.store, "sum_r", "r", sources=["sum_c", "sum_s"], depth=2)
        with engine.store.database.transaction() as connection:
            connection.execute("INSERT INTO summary_parents VALUES ('sum_s', 'sum_r', 0)")
        found = expand(engine.store, "sum_r", token_cap=10_000)
        assert len(found.pieces) == 12
        described = describe(engine.store, "sum_r")
        assert (described.messages, described.first_seq) == (12, 1)


@pytest.mark.parametrize("place", [[[5], 0, 0], [[0], 99, 0], [[-1], 0, 0], [["a"], 0, 0], [0, 0]])
def test_a_cursor_that_names_no_place_is_refused(place):
    from lossless_claw.store import cursor as cursors

    with filled(long=False) as engine:
        mark = cursors.fingerprint("expand", "sum_c", "messages")
        with pytest.raises(CursorError):
            expand(engine.store, "sum_c", cursor=cursors.encode(mark, {"at": place}))


def test_the_work_of_a_page_does_not_grow_with_what_lies_below():
    with filled(600, long=False) as engine:
        store = engine.store
        for n in range(100):
            add_summary(store, f"sum_l{n}", "leaf", messages=range(6 * n + 1, 6 * n + 7))
        for n in range(10):
            names = [f"sum_l{one}" for one in range(10 * n, 10 * n + 10)]
            add_summary(store, f"sum_m{n}", "node", sources=names, depth=1)
        add_summary(store, "sum_t", "top", sources=[f"sum_m{n}" for n in range(10)], depth=2)
        cursor = expand(store, "sum_t", token_cap=2_000).next_cursor
        statements = []
        with store.database.read() as connection:
            connection.set_trace_callback(statements.append)
            page = expand(store, "sum_t", token_cap=60, cursor=cursor)
            connection.set_trace_callback(None)
        assert page.pieces[0].seq > 100
        assert len(statements) < 40
