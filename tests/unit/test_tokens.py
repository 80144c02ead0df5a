"""The two estimates: their vectors, their bounds, and that they stay linear."""

from __future__ import annotations

import math
import re
from datetime import UTC

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lossless_claw.model import Summary
from lossless_claw.tokens import (
    MESSAGE_OVERHEAD,
    SOURCE_OVERHEAD,
    SUMMARY_OVERHEAD,
    count_cjk,
    estimate,
    estimate_upstream,
    exceeds,
    summary_item_tokens,
    truncate,
)
from lossless_claw.wrapper import wrap

CJK = (
    (0x4E00, 0x9FFF),
    (0x3400, 0x4DBF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B820, 0x2CEAF),
    (0x2CEB0, 0x2EBEF),
    (0x3000, 0x303F),
    (0x3040, 0x30FF),
    (0xAC00, 0xD7AF),
    (0xFF00, 0xFFEF),
)

anything = st.text(
    st.one_of(
        st.characters(codec="utf-8"),
        st.sampled_from(list("a b1_-/ \n漢字かなカナ한국、🙂é?\x00\ud800")),
    ),
    max_size=200,
)


def is_cjk(character: str) -> bool:
    return any(first <= ord(character) <= last for first, last in CJK)


def by_hand(text: str) -> int:
    """Count in thousandths, one character after the other, as spec evaluation 4 words it."""
    cost = 0
    for character in text:
        if is_cjk(character):
            cost += 600
        elif not character.isascii():
            cost += 800
        elif character.isalpha():
            cost += 54
        elif character.isdigit():
            cost += 740
        elif character in " \t\n\r\x0b\x0c":
            cost += 180
        else:
            cost += 580
    for word in re.findall("[A-Za-z0-9]+", text):
        cost += 690 + 400 * max(0, len(word) - 16)
    return -(-cost // 1000)


def upstream_by_hand(text: str) -> int:
    weights = (1.5 if is_cjk(c) else 2 if ord(c) > 0xFFFF else 0.25 for c in text)
    return math.ceil(sum(weights))


@given(anything)
def test_estimate_is_the_linear_count_over_character_classes(text: str) -> None:
    assert estimate(text) == by_hand(text)


@given(anything)
def test_upstream_estimate_is_the_sum_of_its_weights(text: str) -> None:
    assert estimate_upstream(text) == upstream_by_hand(text)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("abcd", 1),
        ("abcde", 2),
        ("Hello world", 3),
        ("日", 2),
        ("日本", 3),
        ("🙂", 2),
        ("🙂🙂🙂", 6),
        ("a🙂", 3),
        ("\uff76", 2),
        ("Hello 你好 🔥", 7),
        ("\U00020000", 2),
    ],
)
def test_upstream_vectors_of_the_specification(text: str, tokens: int) -> None:
    assert estimate_upstream(text) == tokens


@pytest.mark.parametrize(
    ("text", "tokens"),
    [("", 0), ("hello", 1), ("hello world", 3), ("42", 3), ("日本語", 2), ("a" * 26, 7)],
)
def test_estimate_of_known_texts(text: str, tokens: int) -> None:
    assert estimate(text) == tokens


@given(anything, anything)
def test_estimate_never_falls_when_text_is_appended(text: str, more: str) -> None:
    assert estimate(text) <= estimate(text + more)


@given(anything, anything)
def test_lines_cost_at_most_their_sum(first: str, second: str) -> None:
    assert estimate(f"{first}\n{second}") <= estimate(first) + estimate(f"\n{second}")


@given(anything, st.integers(-2, 120))
def test_truncate_is_the_longest_prefix_within_the_limit(text: str, limit: int) -> None:
    prefix = truncate(text, limit)
    assert text.startswith(prefix)
    assert estimate(prefix) <= max(0, limit)
    if prefix != text:
        assert estimate(text[: len(prefix) + 1]) > limit


@pytest.mark.parametrize("piece", ["abcdefghijklmnop ", "a" * 1000, "漢a", "0", " ", "🙂", "\x00"])
def test_truncate_of_a_long_text_loses_nothing_that_fits(piece: str) -> None:
    text = piece * (20_000 // len(piece))
    prefix = truncate(text, 500)
    assert estimate(prefix) <= 500 < estimate(text[: len(prefix) + 1])


@given(anything)
def test_cjk_characters_are_counted(text: str) -> None:
    assert count_cjk(text) == sum(map(is_cjk, text))


def test_a_summary_costs_its_escaped_text_and_its_wrapper() -> None:
    assert summary_item_tokens("plain words") == estimate("plain words") + SUMMARY_OVERHEAD
    assert (
        summary_item_tokens("a<b & c", 3)
        == estimate("a&lt;b &amp; c") + SUMMARY_OVERHEAD + 3 * SOURCE_OVERHEAD
    )


IDS = st.text("0123456789abcdef", min_size=16, max_size=16).map("sum_".__add__)


@given(anything, IDS, st.lists(IDS, max_size=12), st.integers(0, 99_999))
def test_no_wrapped_summary_costs_more_than_its_item_says(
    text: str, name: str, sources: list[str], count: int
) -> None:
    time = "2026-12-28T23:59:48Z"
    depth = 12 if sources else 0
    made = Summary(
        name, 1, depth, text, 0, time, time, count, 0, 0, time, "m", "normal", tuple(sources)
    )
    sent = estimate(wrap(made, UTC)) + MESSAGE_OVERHEAD
    assert sent <= summary_item_tokens(text, len(sources))


@given(anything, st.integers(0, 60))
def test_a_text_exceeds_what_its_estimate_exceeds(text: str, limit: int) -> None:
    assert exceeds(text, limit) is (estimate(text) > limit)


@pytest.mark.parametrize("text", ["1", "1.2.3.4.5", "7" * 40, "a b c d e", "é" * 9, "数" * 9])
def test_the_dearest_texts_exceed_everything_under_their_estimate(text: str) -> None:
    tokens = estimate(text)
    assert exceeds(text, tokens - 1)
    assert not exceeds(text, tokens)
