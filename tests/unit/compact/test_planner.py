"""Which pass comes next, and what no pass may touch."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lossless_claw.boundary import borders, fresh_tail, newest_user, open_call
from lossless_claw.compact.planner import (
    CondensedPass,
    End,
    Layout,
    LeafPass,
    Limits,
    Stop,
    next_pass,
)
from lossless_claw.model import Item


def raw(index: int, tokens: int, role: str = "assistant", **more: tuple[str, ...]) -> Item:
    return Item(index, index + 1, tokens, role, None, **more)


def node(index: int, tokens: int, depth: int) -> Item:
    return Item(index, f"sum_{index}", tokens, "summary", depth)


def listed(*sizes: tuple[str, int]) -> list[Item]:
    """Build items from (kind, tokens): `u`, `a`, or a summary's depth as a digit."""
    roles = {"u": "user", "a": "assistant"}
    return [
        node(i, tokens, int(kind)) if kind.isdigit() else raw(i, tokens, roles[kind])
        for i, (kind, tokens) in enumerate(sizes)
    ]


LIMITS = Limits(
    target=1_000,
    tail_count=2,
    tail_tokens=500,
    chunk_tokens=1_000,
    leaf_target=100,
    condensed_target=200,
    min_chunk=300,
)


def test_under_the_target_nothing_is_done() -> None:
    assert next_pass(listed(("u", 600), ("a", 400)), LIMITS) == Stop(End.UNDER_TARGET)


def test_what_is_beside_the_items_counts() -> None:
    items = listed(("a", 400), ("u", 100), ("a", 400))
    assert next_pass(items, LIMITS) == Stop(End.UNDER_TARGET)
    assert next_pass(items, LIMITS, overhead_tokens=200) == LeafPass(0, 1)


def test_the_oldest_chunk_comes_first_and_ends_at_its_size() -> None:
    items = listed(*[("a", 300)] * 9)
    assert next_pass(items, LIMITS) == LeafPass(0, 3)


def test_a_chunk_ends_at_a_summary() -> None:
    items = listed(("a", 350), ("0", 100), *[("a", 300)] * 9)
    assert next_pass(items, LIMITS) == LeafPass(0, 1)


def test_a_small_remainder_waits_while_larger_chunks_are_left() -> None:
    items = listed(("a", 100), ("0", 100), *[("a", 300)] * 9)
    assert next_pass(items, LIMITS) == LeafPass(2, 5)


def test_one_oversized_exchange_is_taken_whole() -> None:
    items = [
        raw(0, 10, calls=("c",)),
        raw(1, 5_000, "tool", results=("c",)),
        *(raw(i, 300) for i in range(2, 6)),
    ]
    assert next_pass(items, LIMITS) == LeafPass(0, 2)


def test_the_newest_user_message_splits_runs() -> None:
    items = listed(("a", 400), ("u", 400), *[("a", 300)] * 6)
    assert next_pass(items, LIMITS) == LeafPass(0, 1)
    after = [node(0, 100, 0), *items[1:]]
    assert next_pass(after, LIMITS) == LeafPass(2, 5)


def test_enough_leaves_are_condensed() -> None:
    items = listed(*[("0", 150)] * 8, ("u", 100), ("a", 100))
    assert next_pass(items, LIMITS) == CondensedPass(0, 6, 1)


def test_the_fanout_falls_as_the_pressure_rises() -> None:
    deep = [("1", 300)] * 4
    little = listed(*deep, ("0", 150), ("0", 150), ("u", 20), ("a", 20))
    assert next_pass(little, LIMITS) == CondensedPass(0, 3, 2)
    much = [*little[:4], node(4, 900, 0), node(5, 900, 0), *little[6:]]
    assert next_pass(much, LIMITS) == CondensedPass(4, 6, 1)


def test_a_short_run_does_not_hide_a_long_one() -> None:
    items = listed(*[("0", 120)] * 2, ("1", 200), *[("0", 120)] * 8, ("u", 100), ("a", 100))
    assert next_pass(items, LIMITS) == CondensedPass(3, 11, 1)


def test_neighbours_of_mixed_depth_are_the_last_resort_shallowest_first() -> None:
    items = listed(("2", 500), ("0", 400), ("1", 450), ("u", 100), ("a", 100))
    assert next_pass(items, LIMITS) == CondensedPass(1, 3, 2)


def test_a_message_too_small_for_a_leaf_joins_the_summaries_around_it() -> None:
    items = listed(("1", 600), ("u", 20), ("1", 600), ("u", 100), ("a", 100))
    assert next_pass(items, LIMITS) == LeafPass(1, 2, joins=True)


def test_summaries_are_not_ground_to_dust_for_a_target_out_of_reach() -> None:
    items = listed(("1", 120), ("1", 120), ("u", 100), ("a", 100))
    step = next_pass(items, LIMITS, overhead_tokens=5_000)
    assert isinstance(step, Stop)
    assert step.reason is End.NOTHING_LEFT
    assert "5200 of them may not be summarised" in step.detail


def test_nothing_is_left_when_everything_is_protected() -> None:
    step = next_pass(listed(("u", 3_000), ("a", 400)), LIMITS)
    assert isinstance(step, Stop)
    assert step.reason is End.NOTHING_LEFT


def test_an_open_call_is_never_taken() -> None:
    items = [raw(0, 900, "user"), raw(1, 900, calls=("c9",))]
    step = next_pass(items, LIMITS)
    assert isinstance(step, Stop)


@pytest.mark.parametrize("budget", [200, 2_000, 8_000, 32_000, 128_000, 1_000_000])
def test_limits_leave_room_to_reach_the_target(budget: int) -> None:
    limits = Limits.for_budget(budget)
    assert limits.target == budget // 2
    assert limits.tail_tokens == limits.target // 2
    if budget >= 1_000:
        assert 3 * limits.condensed_target + limits.tail_tokens <= limits.target
    assert limits.leaf_target <= limits.chunk_tokens <= 20_000
    assert 0 <= limits.min_chunk <= limits.chunk_tokens


def test_a_small_window_of_the_summarizer_bounds_the_chunk() -> None:
    assert Limits.for_budget(128_000, context_window=8_000).chunk_tokens <= 4_000


IDS = st.sampled_from(["c1", "c2", "c3"])
KINDS = st.one_of(
    st.sampled_from([("u", ()), ("a", ()), ("0", ()), ("1", ()), ("2", ())]),
    st.tuples(st.just("c"), st.lists(IDS, min_size=1, max_size=2, unique=True).map(tuple)),
    st.tuples(st.just("r"), IDS.map(lambda name: (name,))),
)


def built(kind: tuple[str, tuple[str, ...]], index: int, tokens: int) -> Item:
    name, ids = kind
    if name.isdigit():
        return node(index, tokens, int(name))
    if name == "c":
        return raw(index, tokens, calls=ids)
    return raw(index, tokens, "tool", results=ids) if name == "r" else raw(
        index, tokens, "user" if name == "u" else "assistant"
    )  # fmt: skip


CONTEXTS = st.lists(st.tuples(KINDS, st.integers(0, 900)), max_size=30).map(
    lambda rows: [built(kind, i, tokens) for i, (kind, tokens) in enumerate(rows)]
)


@given(CONTEXTS, st.integers(0, 4_000), st.integers(0, 6), st.integers(0, 1_000))
def test_a_pass_touches_only_what_it_may(
    items: list[Item], target: int, count: int, tail: int
) -> None:
    limits = Limits(target, count, tail, 1_000, 100, 200, min_chunk=300)
    step = next_pass(items, limits)
    if isinstance(step, Stop):
        return
    taken = items[step.start : step.end]
    assert step.end <= fresh_tail(items, count, tail)
    if isinstance(step, CondensedPass):
        assert len(taken) >= 2
        assert all(item.is_summary for item in taken)
        assert step.depth == 1 + max(item.depth or 0 for item in taken)
        return
    assert taken
    assert not any(item.is_summary for item in taken)
    assert newest_user(items) not in range(step.start, step.end)
    assert open_call(items) not in range(step.start, step.end)
    assert {step.start, step.end} <= {*borders(items), len(items)}


@given(CONTEXTS, st.integers(0, 3_000))
def test_a_layout_kept_through_replacements_decides_like_a_fresh_one(
    items: list[Item], target: int
) -> None:
    limits = Limits(target, 2, 500, 1_000, 100, 200, min_chunk=300)
    layout = Layout(items, limits)
    for _ in range(40):
        step = layout.next_pass()
        assert step == Layout(layout.items, limits).next_pass()
        if isinstance(step, Stop):
            return
        depth = step.depth if isinstance(step, CondensedPass) else 0
        layout.replace(step.start, step.end, node(step.start, 70, depth))
        assert layout.total == sum(item.tokens for item in layout.items)
