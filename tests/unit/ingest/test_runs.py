"""Runs of a list and the stored rows: the fast way gives what comparing one by one gives."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lossless_claw.ingest.runs import Counted, Extended, common_suffixes

words = st.lists(st.sampled_from([b"a", b"b"]), max_size=30)


def by_hand(left: list[bytes], right: list[bytes], end: int) -> int:
    length = 0
    while length < min(end, len(right)) and left[end - 1 - length] == right[-1 - length]:
        length += 1
    return length


@given(words, words)
def test_common_suffixes_are_those_found_one_by_one(left: list[bytes], right: list[bytes]) -> None:
    assert common_suffixes(left, right) == [
        by_hand(left, right, end) for end in range(len(left) + 1)
    ]


def test_a_run_goes_on_over_what_only_shrank() -> None:
    equal = common_suffixes([b"a", b"x", b"c"], [b"a", b"b", b"c"])
    runs = Extended(equal, 3, lambda index, offset: True)
    assert runs.length(3) == 3
    assert Extended(equal, 3, lambda index, offset: False).length(3) == 1


def test_patience_ends() -> None:
    runs = Extended([0] * 3_000, 3_000, lambda index, offset: True)
    assert sum(runs.length(end) for end in range(3_000)) < 3_000 * 9


@given(st.lists(st.booleans(), max_size=20), st.data())
def test_counted_stretches(flags: list[bool], data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(flags)))
    end = data.draw(st.integers(start, len(flags)))
    assert Counted(flags).any(start, end) == any(flags[start:end])
