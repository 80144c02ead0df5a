from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from lossless_claw.transcript.tree import Tree


def left(*entries):
    """Entries are (id, source); the line is the position from 1."""
    tree = Tree()
    for line, entry in enumerate(entries, 1):
        if entry is None:
            tree.add_nameless()
        else:
            tree.add(*entry, line)
    return set(tree.find_left())


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        ([], set()),
        ([("a", None), ("b", "a"), ("c", "b")], set()),
        ([("a", None), ("b", "a"), ("c", "a")], {2}),
        ([("a", None), ("b", "a"), ("c", "b"), ("d", "a"), ("e", "d")], {2, 3}),
        # A second root leaves everything before it.
        ([("a", None), ("b", "a"), ("c", None)], {1, 2}),
        # A branch may be taken up again.
        ([("a", None), ("b", "a"), ("c", "a"), ("d", "b")], {3}),
    ],
)
def test_the_branch_of_the_last_entry_is_the_active_one(entries, expected):
    assert left(*entries) == expected


@pytest.mark.parametrize(
    "entries",
    [
        [("a", None), ("b", "a"), None, ("c", "a")],  # an entry without an id
        [("a", None), ("b", "a"), ("c", "gone")],  # a source that is not in the file
        [("a", "gone"), ("b", "a"), ("c", "a")],
        [("a", "c"), ("b", "a"), ("c", "a")],  # a cycle
        [("a", None), ("b", "b")],
        [("a", None), ("b", "a"), ("c", UNSET)],  # an entry that names no source at all
    ],
)
def test_without_a_tree_the_order_of_the_file_is_the_history(entries):
    assert left(*entries) == set()


def test_a_lost_source_on_a_branch_that_was_left_does_not_matter():
    assert left(("a", None), ("b", "gone"), ("c", "a")) == {2}


def test_the_last_of_two_entries_with_one_id_says_where_the_branch_goes_on():
    entries = [("a", None), ("b", "a"), ("x", "a"), ("x", "b"), ("c", "x"), ("y", "a"), ("d", "c")]
    assert left(*entries) == {6}


def test_the_first_entry_needs_no_source():
    assert left(("a", UNSET), ("b", "a"), ("c", "a")) == {2}


@given(st.data())
def test_what_is_not_left_is_the_way_from_the_last_entry_to_its_root(data):
    count = data.draw(st.integers(1, 25))
    sources = [None, *(data.draw(st.integers(0, n - 1) | st.none()) for n in range(1, count))]
    tree = Tree()
    for n, source in enumerate(sources):
        tree.add(f"e{n}", None if source is None else f"e{source}", n)
    way, at = set(), count - 1
    while at is not None:
        way.add(at)
        at = sources[at]
    assert tree.find_left() == set(range(count)) - way
