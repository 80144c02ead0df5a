from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lossless_claw.errors import CursorError
from lossless_claw.model import Part
from lossless_claw.store import cursor
from lossless_claw.store.search import excerpt, ranking
from lossless_claw.store.search.query import read_query
from lossless_claw.store.search.text import indexed_text, search_text


def test_parts_add_only_what_content_does_not_hold():
    parts = [
        Part("text", text="said"),
        Part("reasoning", text="thought"),
        Part("tool", tool_input='{"a":1}', tool_output='"sa\\u0069d"'),
        (None, '{"a":1}', "other"),
    ]
    assert search_text("he said it", parts) == 'he said it\n{"a":1}\nother'
    assert search_text("", [(None, "in", None)]) == "in"
    assert search_text("", []) == ""


@given(st.text(alphabet=st.characters(), max_size=20))
def test_a_search_text_can_be_stored(text):
    search_text(text, []).encode()


def test_only_references_are_reduced():
    assert indexed_text(" \n") == ""
    assert indexed_text("plain\nCall lcm_describe now") == "plain\nCall lcm_describe now"
    assert (
        indexed_text(
            "[LCM File: f | a | b | 1 bytes]\n\nExploration Summary:\nx\nUse lcm_describe y"
        )
        == "[LCM File: f | a | b | 1 bytes]\nx"
    )


@given(st.text(max_size=300), st.integers(0, 300), st.integers(0, 40))
def test_an_excerpt_is_one_line_within_its_width(text, start, length):
    line = excerpt.excerpt(text, (min(start, len(text)), min(start + length, len(text))), 50)
    assert len(line) <= 50
    assert "\n" not in line


def test_the_window_shows_most_different_words():
    text = "cache " * 5 + "pad " * 50 + "cache timeout error" + " pad" * 50 + " timeout"
    finder = excerpt.finder(read_query("cache timeout errors").units)
    start, end = excerpt.best_window(text, finder, 60)
    assert text[start:end] == "cache timeout error"
    assert excerpt.best_window("nothing", finder, 60) is None


@given(
    st.text(alphabet="caheTIMouters \u0130\u017f\u6570\u636e.", max_size=40),
    st.sampled_from(["cache", "cache timeout", "times hear", "\u6570\u636e cat", "a_cat its"]),
)
def test_what_is_passed_over_holds_no_hit(text, query):
    finder = excerpt.finder(read_query(query).units)
    first = finder.pattern.search(text)
    if first and "\u017f" not in text:
        assert finder.start(text) <= first.start()


def test_a_window_far_behind_the_first_hit_is_not_looked_for_when_reach_ends():
    text = "cache " + "pad " * 1_000 + "cache timeout"
    finder = excerpt.finder(read_query("cache timeout").units)
    assert excerpt.best_window(text, finder, 60) == (len(text) - 13, len(text))
    assert excerpt.best_window(text, finder, 60, 1_000) == (0, 5)


def test_the_rarest_terms_fit_the_budget_and_one_always_ranks():
    assert ranking.choose([50, 10, 0, 30], 40) == [1, 3]
    assert ranking.choose([500], 40) == [0]
    assert ranking.choose([0, 0], 40) == []


def test_shares_go_to_neighbours():
    scores = ranking.spread({1: 10.0, 2: 1.0}, [(1, 2, 1), (1, 3, 2)])
    assert scores == {1: 10.0, 2: 5.0, 3: 2.0}


def test_age_pulls_a_score_down():
    rows = [ranking.Scored(1, 1.05), ranking.Scored(2, 1.0)]
    assert [row.id for row in ranking.aged_first(rows, {1: 0.0, 2: 3600 * 100.0})] == [2, 1]


@given(st.text(max_size=60))
def test_a_foreign_cursor_is_a_cursor_error(text):
    with pytest.raises(CursorError):
        cursor.decode("mark", text)


def test_a_word_inside_another_word_is_not_held():
    assert search_text("listening on 80801", [(None, None, '"8080"')]) == (
        'listening on 80801\n"8080"'
    )
    assert search_text("please concatenate", [(None, "cat", None)]) == "please concatenate\ncat"
    assert search_text("80801 8080", [(None, "8080", None)]) == "80801 8080"
    assert search_text("first\nsecond", [("second", None, None)]) == "first\nsecond"


def test_an_empty_output_says_nothing():
    assert search_text("hello", [(None, None, '""')]) == "hello"


@given(st.text(alphabet="ab ", max_size=8), st.lists(st.text(alphabet="ab ", max_size=4)))
def test_every_word_of_an_output_is_a_word_of_the_search_text(content, outputs):
    # An output is stored as JSON text, and may be left out for the content that it quotes.
    found = search_text(content, [(None, None, json.dumps(output)) for output in outputs])
    words = {word for output in outputs for word in output.split()}
    assert words <= set(found.replace('"', " ").split())
