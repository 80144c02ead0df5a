from __future__ import annotations

import re
import threading
import time

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st
from search_fixtures import created, fill, write, write_summary

from lossless_claw.errors import PatternError
from lossless_claw.store.search import trigrams
from lossless_claw.store.search.effort import is_tame
from lossless_claw.store.search.indexing import Indexing
from lossless_claw.store.search.search import Search

TEXTS = st.lists(
    st.text(alphabet="abcAB \n\"'_.-é数据K\0", max_size=30)
    | st.sampled_from(["cache timeout", "Database\nset", "def x_cache(", "datum"]),
    max_size=12,
)
LITERALS = st.sampled_from(
    [
        "abc",
        "cache",
        "data",
        "数据库",
        "é",
        "A",
        " ",
        "tim",
        "set",
        r"\.",
        r"\w",
        "[ab]",
        ".",
        r"\b",
        "^",
        "$",
        r"\s+",
    ]
)
PATTERNS = st.recursive(
    LITERALS,
    lambda inner: st.one_of(
        st.tuples(inner, inner).map("".join),
        st.tuples(inner, inner).map(lambda two: f"(?:{two[0]}|{two[1]})"),
        inner.map(lambda one: f"(?:{one})?"),
        inner.map(lambda one: f"(?:{one}){{1,2}}"),
        inner.map(lambda one: f"(?i:{one})"),
        inner.map(lambda one: f"(?={one})"),
        inner.map(lambda one: f"(?!{one})"),
        inner.map(lambda one: f"(?<n>{one})"),
    ),
    max_leaves=6,
)


@settings(max_examples=90, deadline=None)
@given(TEXTS, PATTERNS, st.integers(0, 12))
def test_every_match_is_found_at_any_state_of_the_index(texts, pattern, indexed):
    try:
        compiled = regex.compile(pattern)
    except regex.error:
        return
    database, search = created()
    ids = write(database, texts)
    if indexed:
        Indexing(database).catch_up(indexed)
    wanted = [one for one, text in zip(ids, texts, strict=True) if compiled.search(text)]
    page = search.regex(pattern, conversations=None, limit=100)
    assert [match.id for match in page.matches] == wanted[::-1]
    assert (page.total, page.at_least) == (len(wanted), False)


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("zephyr", '("zep" AND "eph" AND "phy" AND "hyr")'),
        ("abc|def", '("abc" OR "def")'),
        ("abc|d", None),
        ("(?:abc)?", None),
        ("(?:abc)+", '"abc"'),
        ("abc(?:def|ghi)", '("abc" AND ("def" OR "ghi"))'),
        ("ab", None),
        (r"[0-9]+", None),
        ('a"b', '"a""b"'),
        ("(?:foo){e<=1}", None),
        ("[[:alpha:]]foo", None),
        (r"\p{L}abc", None),
        ("(?i)kiss", None),
        ("(?i)abcd", '("abc" AND "bcd")'),
        ("ABC", '"abc"'),
        ("(?<name>abc)", '"abc"'),
        ("ab\0cd", None),
    ],
)
def test_the_literals_a_pattern_needs(pattern, expected):
    assert trigrams.trigram_expression(pattern) == expected


def test_fuzzy_and_posix_patterns_miss_nothing():
    database, search = created()
    ids = write(database, ["fop here", "xfoo"])
    fill(database)
    assert [m.id for m in search.regex("(?:foo){e<=1} here", conversations=None).matches] == ids[:1]
    assert [m.id for m in search.regex("[[:alpha:]]foo", conversations=None).matches] == ids[1:]


def test_case_counts_and_the_whole_history_is_searched_newest_first():
    database, search = created()
    ids = write(database, ["Zephyr", *["zephyr"] * 3, *["pad"] * 300])
    fill(database)
    assert [m.id for m in search.regex("zephyr", conversations=None).matches] == ids[3:0:-1]
    assert [m.id for m in search.regex("Zephyr$", conversations=None).matches] == ids[:1]
    assert search.regex("p.d", conversations=None, limit=10).total == 300


def test_pages_repeat_and_skip_nothing_across_the_border_of_the_index():
    database, search = created()
    ids = write(database, [f"row {n} {'hit' if n % 2 else 'miss'}" for n in range(101)])
    Indexing(database).catch_up(60)
    listed, cursor = [], None
    while True:
        page = search.regex(r"\bhit", conversations=None, limit=7, cursor=cursor)
        assert page.total == 50
        listed += [match.id for match in page.matches]
        write(database, ["another hit"])
        cursor = page.next_cursor
        if cursor is None:
            break
    assert listed == [one for one in ids[::-1] if one % 2 == 0]


@pytest.mark.parametrize(
    "pattern", ["", "([", "a" * 1_001, "(" * 490 + ")" * 490, "((a{100}){100}){100}", "(?P<n", "*"]
)
def test_a_refused_pattern_says_why(pattern):
    _, search = created()
    with pytest.raises(PatternError) as refused:
        search.regex(pattern, conversations=None)
    assert refused.value.hint


@pytest.mark.parametrize("pattern", ["(a+)+$", "(.*a){25}", "(a|aa)+$"])
def test_a_catastrophic_pattern_ends_in_time_and_other_threads_go_on(pattern):
    database, search = created()
    write(database, ["short", "a" * 20_000 + "!", "b"])
    ticks = [0]
    stop = threading.Event()

    def tick():
        while not stop.wait(0.005):
            ticks[0] += 1

    thread = threading.Thread(target=tick)
    thread.start()
    begun = time.monotonic()
    page = search.regex(pattern, conversations=None, time_limit_ms=600)
    took = time.monotonic() - begun
    stop.set()
    thread.join()
    assert took < 6
    if page.note:
        assert page.at_least
        assert "left out" in page.note or "the time ended" in page.note
        assert ticks[0] > 5


@pytest.mark.parametrize(("pattern", "rows"), [("h.*t.*", 40), ("h.t", 400)])
def test_when_the_time_ends_the_answer_says_so_and_the_cursor_goes_on(pattern, rows):
    database, _ = created()
    now = [0.0]

    def monotonic():
        now[0] += 0.001
        return now[0]

    search = Search(database, monotonic)
    ids = write(database, [f"row {n} hit" for n in range(rows)])
    limit = 9 if rows == 40 else 3
    listed, cursor, notes = [], None, 0
    while True:
        page = search.regex(
            pattern, conversations=None, limit=500, cursor=cursor, time_limit_ms=limit
        )
        listed += [match.id for match in page.matches]
        if page.note:
            assert re.search(rf"searched \d+ of {rows} messages", page.note)
            assert page.at_least
            notes += 1
        cursor = page.next_cursor
        if cursor is None:
            break
    assert listed == ids[::-1]
    assert notes > 2


@pytest.mark.parametrize(
    ("pattern", "tame"),
    [
        ("[0-9a-f]{8}-[0-9]+", True),
        (r"(?:foo|bar)\w*", False),
        (r"(?:foo|bar)\d{1,5}", True),
        ("(a+)+", False),
        ("(a?){3}", False),
        ("a.*b.*c", False),
        ("a?" * 20, False),
        (r"(?=a+)b", False),
        (r"(a)\1", False),
        ("(?:foo){e<=1}", False),
        (r"\p{L}+x", False),
    ],
)
def test_only_a_pattern_of_few_choices_is_matched_without_a_limit(pattern, tame):
    assert is_tame(pattern) is tame


@pytest.mark.parametrize(
    ("pattern", "literal"),
    [
        ("[0-9]{8}-[0-9]+", "-"),
        (r"rollback\w* migration", " migration"),
        ("(?:ab)+c?", "ab"),
        ("ab|cd", ""),
        ("(?:ab)?", ""),
        ("(?i)abc", ""),
        ("(?:abc){e<=1}", ""),
        ("(?=abc)d", "d"),
        ("[ab]", ""),
    ],
)
def test_a_literal_is_required_only_when_nothing_can_leave_it_out(pattern, literal):
    assert trigrams.required_literal(pattern) == literal


def test_parts_count_when_every_message_is_read_and_thinking_does_not():
    database, search = created()
    ids = write(database, ["one", "two", "three"])
    with database.transaction() as connection:
        connection.executemany(
            """INSERT INTO message_parts(part_id, message_id, session_id, part_type, ordinal,
            text_content, tool_output) VALUES (?, ?, '', ?, ?, ?, ?)""",
            [
                ("a", ids[0], "tool", 1, None, "7-7"),
                ("b", ids[0], "text", 0, "9-9", None),
                ("c", ids[1], "reasoning", 0, "7-7", None),
                ("d", ids[2], "reasoning", 0, "7-7", "one 8-8"),
            ],
        )

    def found(pattern):
        return [match.id for match in search.regex(pattern, conversations=None).matches]

    assert found(r"\d-\d") == [ids[2], ids[0]]
    assert found(r"one\n9-9\n7-7$") == [ids[0]]
    assert found("7-7") == [ids[0]]


def test_tool_inputs_and_outputs_in_parts_are_found():
    database, search = created()
    (one,) = write(database, ["call it"])
    with database.transaction() as connection:
        connection.execute(
            """INSERT INTO message_parts(part_id, message_id, session_id, part_type, ordinal, tool_input, tool_output)
            VALUES ('p', ?, '', 'tool', 0, '{"path":"src/quince.py"}', 'call it')""",
            (one,),
        )
    for _ in range(2):
        assert [m.id for m in search.regex(r"quince\.py", conversations=None).matches] == [one]
        fill(database)
    assert search.texts([one]) == {one: 'call it\n{"path":"src/quince.py"}'}


def test_a_text_that_takes_all_the_time_is_counted_and_does_not_stop_the_next_page():
    database, search = created()
    ids = write(database, ["xx!", "a" * 30_000 + "!"])
    first = search.regex("(a|aa)+$|x+!", conversations=None, time_limit_ms=40)
    assert first.matches == ()
    assert first.at_least
    assert "left out" in first.note
    second = search.regex("(a|aa)+$|x+!", conversations=None, cursor=first.next_cursor)
    assert [match.id for match in second.matches] == ids[:1]
    assert second.next_cursor is None
    assert (second.total, second.at_least) == (1, True)


def test_summaries_are_searched_after_a_full_page_of_messages():
    database, search = created()
    write(database, ["hit"] * 30)
    write_summary(database, "sum_1", "hit")
    page = search.regex("hit", conversations=None, limit=5)
    assert page.total == 31
    assert "sum_1" in [match.id for match in page.matches]
