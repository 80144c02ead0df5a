from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from search_fixtures import created, fill, write, write_summary

from lossless_claw.store.search import cjk
from lossless_claw.store.search.indexing import Indexing

ROWS = ["今天讨论了部署方案", "飞书通知已静默", "deploy plan 部署 v2"]


@pytest.mark.parametrize("is_indexed", [False, True])
@pytest.mark.parametrize(
    ("query", "expected", "is_all"),
    [
        ("部署", {1, 3}, True),
        ("飞", {2}, True),
        ("静默", {2}, True),
        ("部署方案", {1}, True),
        ("部署 v2", {3, 1}, True),
        ("plan 飞", {3, 2}, True),
    ],
)
def test_short_terms(query, expected, is_all, is_indexed):
    database, search = created()
    write(database, ROWS)
    if is_indexed:
        fill(database)
    page = search.full_text(query, conversations=None)
    assert {match.id for match in page.matches} == expected
    assert page.total == len(expected)
    assert page.note is None


def test_rows_with_both_scripts_come_first():
    database, search = created()
    write(database, [*ROWS, "部署v2完成"])
    fill(database)
    listed = [match.id for match in search.full_text("部署 v2", conversations=None).matches]
    assert set(listed[:2]) == {3, 4}


def test_a_sentence_finds_the_rows_that_hold_parts_of_it():
    database, search = created()
    write(database, [*ROWS, "完全无关的东西"])
    fill(database)
    page = search.full_text("我们今天怎么部署", conversations=None, scope="messages")
    assert page.matches[0].id in {1, 3}
    assert {1, 3} <= {match.id for match in page.matches}


def test_summaries_are_found_by_one_character():
    database, search = created()
    write_summary(database, "sum_1", "讨论了缓存")
    assert [match.id for match in search.full_text("缓", conversations=None).matches] == ["sum_1"]


CHARACTERS = "数据库缓存한국かなカー。、a 1"


@settings(max_examples=120, deadline=None)
@given(
    st.lists(st.text(alphabet=CHARACTERS, max_size=12), max_size=15),
    st.text(alphabet="数据库缓存한국かなカー", min_size=1, max_size=4),
    st.integers(0, 15),
    st.sampled_from(["relevance", "recency"]),
)
def test_every_row_that_holds_the_text_is_found(rows, needle, indexed, sort):
    database, search = created()
    ids = write(database, rows)
    if indexed:
        Indexing(database).catch_up(indexed)
    wanted = {one for one, row in zip(ids, rows, strict=True) if needle in row}
    listed, cursor = [], None
    while True:
        page = search.full_text(needle, conversations=None, limit=4, cursor=cursor, sort=sort)
        listed += [match.id for match in page.matches]
        cursor = page.next_cursor
        if cursor is None:
            break
    assert len(listed) == len(set(listed))
    assert set(listed[: len(wanted)]) == wanted
    if wanted or len(needle) <= 2:
        assert set(listed) == wanted
        assert page.total == len(wanted)


def test_newest_first_by_recency():
    database, search = created()
    ids = write(database, ["数据"] * 20)
    Indexing(database).catch_up(10)
    page = search.full_text("数据", conversations=None, sort="recency", limit=5)
    assert [match.id for match in page.matches] == ids[:-6:-1]
    assert page.total == 20


def test_tokens_are_ascii_and_distinct():
    tokens = cjk.index_tokens("数据 ab 数据。𠀀")
    assert tokens.isascii()
    assert len(tokens.split()) == len(set(tokens.split())) == 4
    assert cjk.index_tokens("plain") == ""


def test_catch_up_tells_what_is_left():
    database, _ = created()
    write(database, ["数据"] * 10)
    assert Indexing(database).lag() == 10
    assert Indexing(database).catch_up(4) == 6
    assert Indexing(database).catch_up(100) == 0
    assert Indexing(database).lag() == Indexing(database).catch_up() == 0


@pytest.mark.parametrize("sort", ["relevance", "recency", "hybrid"])
def test_many_hits_of_one_character_come_newest_first_and_all_of_them(sort):
    database, search = created()
    ids = write(database, ["数据" if n % 3 else "x" for n in range(400)])
    Indexing(database).catch_up(350)
    write_summary(database, "sum_1", "数据")
    wanted = [one for one in ids[::-1] if (one - ids[0]) % 3]
    listed, cursor = [], None
    while True:
        page = search.full_text("数", conversations=None, sort=sort, limit=30, cursor=cursor)
        assert page.total == len(wanted) + 1
        if sort != "recency":
            assert "newest come first" in page.note
        listed += [match.id for match in page.matches if match.type == "message"]
        cursor = page.next_cursor
        if cursor is None:
            break
    assert listed == wanted
