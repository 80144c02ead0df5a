from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lossless_claw.cli.rare import pick

TEXTS = {
    1: "the port is 48213, see src/tide/station_cache.py",
    2: "nothing of note here",
    3: "checksum 9f86d081884c7d65 of the file",
    4: "see src/tide/station_cache.py again; 潮位計算 failed",
    5: "SECRET_KEY_42 was set by maxRetryCount",
}


def test_details_occur_in_one_message_only():
    found = pick(TEXTS, list(TEXTS), count=9)
    assert {detail.message for detail in found} == {1, 3, 4, 5}
    assert "src/tide/station_cache.py" not in {detail.text for detail in found}
    assert {"48213", "9f86d081884c7d65", "潮位計算"} <= {detail.text for detail in found}


def test_a_detail_inside_a_longer_word_elsewhere_is_none():
    found = pick({1: "port 48213 here", 2: "x4821937"}, [1], count=3)
    assert [detail.text for detail in found] == ["48213"]
    assert pick({1: "port 48213 here", 2: "x482137"}, [1], count=3) == []


def test_only_candidates_are_asked_for_and_they_are_spread():
    texts = {number: f"value number_{number:02}" for number in range(30)}
    found = pick(texts, range(20), count=4)
    assert [detail.message // 5 for detail in found] == [0, 1, 2, 3]


@given(st.dictionaries(st.integers(0, 20), st.text(max_size=60), max_size=8), st.integers(1, 5))
def test_every_detail_stands_in_its_message_and_in_no_other(texts, count):
    found = pick(texts, list(texts), count=count)
    assert len(found) <= count
    for detail in found:
        assert [number for number, text in texts.items() if detail.text in text] == [detail.message]
