"""Cuts never part a call from its result; the tail is capped; both are the same for everyone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lossless_claw.boundary import borders, cuttable, fresh_tail, newest_user, open_call
from lossless_claw.model import Item


def listed(*shorts: str, tokens: int = 10) -> list[Item]:
    """Build items from shorts: `u`, `a`, `S1`, `a:c1,c2` (calls), `t:c1` (results), `t`."""
    items = []
    for index, short in enumerate(shorts):
        kind, _, ids = short.partition(":")
        named = tuple(ids.split(",")) if ids else ()
        if kind.startswith("S"):
            items.append(Item(index, f"sum_{index}", tokens, "summary", int(kind[1:])))
            continue
        role = {"u": "user", "a": "assistant", "t": "tool"}[kind]
        calls, results = (named, ()) if kind == "a" else ((), named)
        items.append(Item(index, index + 1, tokens, role, None, calls, results))
    return items


@pytest.mark.parametrize(
    ("shorts", "expected"),
    [
        ([], []),
        (["u", "a", "u"], [0, 1, 2]),
        (["u", "a:c1", "t:c1", "a"], [0, 1, 3]),
        (["u", "a:c1,c2", "t:c1", "t:c2", "a"], [0, 1, 4]),
        (["u", "a:c1,c2", "t:c2", "t:c1", "a"], [0, 1, 4]),
        (["u", "a:c1", "u", "t:c1", "a"], [0, 1, 4]),
        (["u", "t:c1", "a:c1", "a"], [0, 3]),
        (["a:c1", "a:c2", "t:c2", "t:c1", "u"], [0, 4]),
        (["a:1", "t:1", "u", "a:1", "t:1", "u"], [0, 2, 3, 5]),
        (["a:1", "u", "a:1", "t:1", "u"], [0, 1, 2, 4]),
        (["u", "a:c9"], [0, 1]),
        (["u", "a:c1,c2", "t:c1"], [0, 1]),
        (["u", "a:c1,c2", "t:c1", "u", "a"], [0, 1, 3, 4]),
        (["u", "a:c1", "u", "a"], [0, 1, 2, 3]),
        (["u", "t:lost", "a"], [0, 2]),
        (["S0", "t:lost", "a"], [0, 1, 2]),
        (["u", "t", "a"], [0, 2]),
        (["S1", "S0", "u", "a"], [0, 1, 2, 3]),
        (["t:c1", "u", "t:c1", "a:c1", "u"], [0, 1, 4]),
    ],
)
def test_where_a_cut_may_fall(shorts: list[str], expected: list[int]) -> None:
    assert borders(listed(*shorts)) == expected


@pytest.mark.parametrize(
    ("shorts", "expected"),
    [
        ([], None),
        (["u", "a:c9"], 1),
        (["u", "a:c1", "t:c1"], None),
        (["u", "a:c1,c2", "t:c1"], 1),
        (["u", "a:c1", "a:c2", "t:c2"], 1),
        (["a:c1", "t:c1", "a:c2"], 2),
        (["a:c1", "u"], None),
        (["a:c1", "a"], None),
        (["a:c0", "t:c0", "a:c1", "t:c1"], None),
    ],
)
def test_where_an_open_exchange_begins(shorts: list[str], expected: int | None) -> None:
    assert open_call(listed(*shorts)) == expected


def test_an_old_unanswered_call_does_not_glue_history_together() -> None:
    items = listed("u", "a:lost", *["u", "a"] * 20)
    assert borders(items) == list(range(len(items)))


@pytest.mark.parametrize(
    ("shorts", "sizes", "count", "cap", "begin"),
    [
        (["u", "a", "u"], [60, 30, 50], 8, 100, 1),
        (["u", "a", "u"], [60, 30, 50], 2, None, 1),
        (["u", "a"], [10, 900], 8, 100, 1),
        (["u", "a"], [10, 10], 0, 0, 1),
        (["a:c", "t:c", "a"], [10, 10, 10], 2, None, 0),
        (["a:c", "t:c", "a"], [10, 10, 10], 2, 30, 0),
        (["a:c", "t:c", "a"], [90, 10, 10], 2, 30, 2),
        (["u", "a:c", "t:c"], [10, 90, 10], 2, 30, 1),
        (["u", "S0", "a", "a"], [10, 10, 10, 10], 3, None, 2),
        (["u", "a", "S0"], [10, 10, 10], 1, None, 1),
        (["S0", "S0"], [10, 10], 3, None, 2),
        ([], [], 3, None, 0),
    ],
)
def test_where_the_tail_begins(
    shorts: list[str], sizes: list[int], count: int, cap: int | None, begin: int
) -> None:
    items = [
        Item(i.ordinal, i.ref, size, i.role, i.depth, i.calls, i.results)
        for i, size in zip(listed(*shorts), sizes, strict=True)
    ]
    assert fresh_tail(items, count, cap) == begin


def test_the_newest_user_message_may_lie_before_the_tail() -> None:
    items = listed("u", *(short for n in range(9) for short in (f"a:{n}", f"t:{n}")))
    assert fresh_tail(items, 4, None) == 15
    assert newest_user(items) == 0


def test_a_user_message_with_results_is_not_the_users() -> None:
    items = [*listed("u", "a:c"), Item(2, 3, 10, "user", None, (), ("c",))]
    assert newest_user(items) == 0
    assert borders(items) == [0, 1]


IDS = st.sampled_from(["", "c1", "c2", "c3", "c4"])
HISTORIES = st.lists(
    st.one_of(
        st.sampled_from(["u", "a", "t", "S0", "S1"]),
        st.lists(IDS, min_size=1, max_size=3).map(lambda ids: "a:" + ",".join(ids)),
        st.lists(IDS, min_size=1, max_size=2).map(lambda ids: "t:" + ",".join(ids)),
    ),
    max_size=30,
)


@given(st.lists(st.tuples(st.integers(1, 3), st.permutations(range(3))), max_size=8), st.data())
def test_no_cut_parts_a_call_from_its_result(
    exchanges: list[tuple[int, list[int]]], data: st.DataObject
) -> None:
    """Unique ids, parallel and displaced results: every pair lies on one side of every cut."""
    shorts: list[str] = []
    for number, (width, order) in enumerate(exchanges):
        names = [f"c{number}_{n}" for n in range(width)]
        shorts += ["u", "a:" + ",".join(names)]
        shorts += [f"t:{names[n]}" for n in order if n < width]
        shorts.insert(data.draw(st.integers(0, len(shorts))), "a")
    items = listed(*shorts)
    where = {call: i for i, item in enumerate(items) for call in item.calls}
    for cut in borders(items):
        for index, item in enumerate(items):
            for result in item.results:
                assert (where[result] < cut) is (index < cut)


@given(HISTORIES, st.integers(0, 12), st.one_of(st.none(), st.integers(0, 150)))
def test_the_tail_begins_at_a_border_and_holds_the_newest(
    shorts: list[str], count: int, cap: int | None
) -> None:
    items = listed(*shorts)
    begin = fresh_tail(items, count, cap)
    raw = [index for index, item in enumerate(items) if not item.is_summary]
    if not raw:
        assert begin == len(items)
        return
    assert begin <= raw[-1]
    assert cuttable(items)[begin]
    opened = open_call(items)
    assert opened is None or begin <= opened


@given(HISTORIES)
def test_borders_open_with_the_first_item(shorts: list[str]) -> None:
    found = borders(listed(*shorts))
    assert found[:1] == ([0] if shorts else [])
