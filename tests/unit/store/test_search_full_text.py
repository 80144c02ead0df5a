from __future__ import annotations

import gzip
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from search_fixtures import created, fill, write, write_summary

from lossless_claw.errors import CursorError, PatternError, UsageError
from lossless_claw.store.search.indexing import Indexing
from lossless_claw.store.search.search import Search
from lossless_claw.store.sqlite import Database

WORDS = ["deploy", "rollback", "cache", "token", "zephyr", "plan", "retry", "the"]


def found(search, query, **options):
    options.setdefault("conversations", None)
    return [match.id for match in search.full_text(query, **options).matches]


def test_rows_with_all_words_come_before_rows_with_some():
    database, search = created()
    both, one, _ = write(database, ["plan " * 9 + "and a deploy", "deploy deploy", "nothing"])
    assert found(search, "deploy plan") == [both, one]
    assert found(search, "deploy plan", sort="recency") == [both, one]


def test_recency_is_newest_first_and_relevance_the_best_of_all():
    database, search = created()
    filler = " ".join(f"w{n}" for n in range(40))
    ids = write(database, ["zephyr zephyr", *(f"zephyr {filler}" for _ in range(1_000))])
    assert found(search, "zephyr", sort="recency", limit=3) == ids[:-4:-1]
    page = search.full_text("zephyr", conversations=None, limit=3)
    assert page.matches[0].id == ids[0]
    assert (page.total, page.at_least) == (1_001, False)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("snake_case", [0]),
        ("case", [0]),
        ("config.load", [1]),
        ("src/app/main.py", [2]),
        ("main.py", [2]),
        ('"exact phrase"', [3]),
        ('"phrase exact"', []),
        ("deploys", [4]),
        ("caroline's", [5]),
        ("C++", [6]),
        ("100%", [7]),
        ("x*", []),
        ("NEAR(q r)", []),
        ("where is the", [8]),
    ],
)
def test_what_a_query_means(query, expected):
    texts = [
        "call snake_case(now)",
        "config.load reads",
        "see src/app/main.py there",
        "an exact phrase here",
        "we deployed it",
        "caroline called",
        "plain c code",
        "rate 100%",
        "where is",
    ]
    database, search = created()
    ids = write(database, texts)
    expected_ids = [ids[at] for at in expected]
    assert found(search, query)[: len(expected_ids)] == expected_ids
    if len(expected) != 1 or query != "where is the":
        assert len(found(search, query)) == len(expected_ids)


@pytest.mark.parametrize("query", ["", "  ", "()", '""', "?!", "🚀", '" "'])
def test_a_query_without_a_word_is_refused_with_a_reason(query):
    _, search = created()
    with pytest.raises(PatternError, match=r"empty|no word"):
        search.full_text(query, conversations=None)


HOSTILE = st.one_of(
    st.text(max_size=40),
    st.text(alphabet='"*^:()-+{}[]\\ ANDORNTaé\0\ud800数', max_size=60),
    st.sampled_from(
        [
            "a" * 10_000,
            "word " * 2_000,
            '"' * 99,
            "a\0b",
            "\ud800x",
            "NOT NOT",
            "a AND",
            "col:x",
            "数" * 500,
        ]
    ),
)


@settings(max_examples=100, deadline=None)
@given(HOSTILE)
def test_no_query_is_a_database_error(query):
    for search in (_HOSTILE, _HOSTILE_WITHOUT_FTS5):
        try:
            page = search.full_text(query, conversations=None)
        except PatternError:
            continue
        assert len(page.matches) <= 50


def _hostile(*, has_fts5: bool) -> Search:
    database, search = created(has_fts5=has_fts5)
    write(database, ["a word", "数据 and col:x", "b\0c"])
    write_summary(database, "sum_a", "a word of 数据")
    fill(database)
    return search


_HOSTILE = _hostile(has_fts5=True)
_HOSTILE_WITHOUT_FTS5 = _hostile(has_fts5=False)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=6), min_size=1, max_size=40),
    st.lists(st.sampled_from(WORDS[:-1]), min_size=1, max_size=3, unique=True),
    st.sampled_from(["relevance", "recency", "hybrid"]),
    st.integers(1, 7),
)
def test_pages_hold_every_row_with_a_word_once(rows, words, sort, limit):
    database, search = created()
    ids = write(database, [" ".join(row) for row in rows])
    listed, cursor, total = [], None, None
    while True:
        page = search.full_text(
            " ".join(words), conversations=None, sort=sort, limit=limit, cursor=cursor
        )
        listed += [match.id for match in page.matches]
        total = page.total
        cursor = page.next_cursor
        if cursor is None:
            break
    wanted = {one for one, row in zip(ids, rows, strict=True) if set(words) & set(row)}
    assert len(listed) == len(set(listed))
    assert wanted <= set(listed)
    assert total == len(wanted)
    if len(words) < 3:
        assert set(listed) == wanted


def test_a_page_neither_repeats_nor_skips_while_messages_come_in():
    database, search = created()
    write(
        database,
        [f"zephyr {'pad ' * (n % 7)}{'deploy' if n % 3 else ''}" for n in range(400)],
    )
    listed, cursor = [], None
    while True:
        page = search.full_text("zephyr deploy", conversations=None, limit=37, cursor=cursor)
        listed += [match.id for match in page.matches]
        write(database, ["zephyr deploy " * 5] * 20)
        cursor = page.next_cursor
        if cursor is None:
            break
    assert len(listed) == len(set(listed))
    assert set(range(1, 401)) <= set(listed)


def test_a_cursor_is_bound_to_its_query():
    database, search = created()
    write(database, ["zephyr"] * 5)
    cursor = search.full_text("zephyr", conversations=None, limit=2).next_cursor
    for call in (
        lambda: search.full_text("other", conversations=None, cursor=cursor),
        lambda: search.full_text("zephyr", conversations=[1, 2], cursor=cursor),
        lambda: search.regex("zephyr", conversations=None, cursor=cursor),
        lambda: search.full_text("zephyr", conversations=None, cursor="not a cursor"),
        lambda: search.full_text("zephyr", conversations=None, cursor="é"),
    ):
        with pytest.raises(CursorError):
            call()


def test_a_scope_holds_only_its_conversations_and_an_empty_one_nothing():
    database, search = created()
    mine = write(database, ["zephyr one", "zephyr two"])
    theirs = write(database, ["zephyr three"], conversation=2)
    assert set(found(search, "zephyr", conversations=[1])) == set(mine)
    assert found(search, "zephyr", conversations=[2]) == theirs
    assert found(search, "zephyr", conversations=[]) == []
    assert search.regex("zephyr", conversations=[]).matches == ()
    assert [m.id for m in search.regex("zephyr", conversations=[2]).matches] == theirs
    assert search.full_text("zephyr", conversations=[2]).total == 1


def test_a_row_without_a_side_row_is_found_in_its_scope():
    database, search = created()
    ids = write(database, ["zephyr one", "zephyr two"])
    write(database, ["other"], conversation=2)
    with database.transaction() as connection:
        connection.execute("DELETE FROM lossless_message WHERE message_id = ?", (ids[0],))
    assert set(found(search, "zephyr", conversations=[1])) == set(ids)


def test_times_bound_the_hits_in_both_stored_formats():
    database, search = created()
    times = ["2026-03-01 10:00:00", "2026-03-01T12:00:00.000Z", "2026-03-01T14:00:00.500Z"]
    ids = write(database, ["zephyr"] * 3, times=times)
    noon = datetime(2026, 3, 1, 12, tzinfo=UTC)
    assert set(found(search, "zephyr", since=noon)) == set(ids[1:])
    assert found(search, "zephyr", before=noon) == ids[:1]
    assert [m.id for m in search.regex("zephyr", conversations=None, since=noon).matches] == ids[
        :0:-1
    ]


def test_a_summary_and_the_message_under_it_are_both_found():
    database, search = created()
    (message,) = write(database, ["the zephyr is deployed"])
    write_summary(database, "sum_1", "about the zephyr", [message])
    for page in (
        search.full_text("zephyr", conversations=None),
        search.regex("zephyr", conversations=None),
    ):
        by_type = {match.type: match for match in page.matches}
        assert by_type["message"].covered_by == "sum_1"
        assert (by_type["message"].role, by_type["message"].seq) == ("user", 1)
        assert (by_type["summary"].id, by_type["summary"].role, by_type["summary"].seq) == (
            "sum_1",
            "leaf",
            None,
        )
        assert page.total == 2
    assert [
        m.type for m in search.full_text("zephyr", conversations=None, scope="messages").matches
    ] == ["message"]
    assert [
        m.type for m in search.full_text("zephyr", conversations=None, scope="summaries").matches
    ] == ["summary"]


def test_pages_over_both_streams_hold_everything_once():
    database, search = created()
    write(database, [f"zephyr {n}" for n in range(23)])
    for n in range(11):
        write_summary(database, f"sum_{n}", f"zephyr summary {n}")
    for ask in (
        lambda cursor: search.full_text("zephyr", conversations=None, limit=4, cursor=cursor),
        lambda cursor: search.full_text(
            "zephyr", conversations=None, limit=4, cursor=cursor, sort="recency"
        ),
        lambda cursor: search.regex("zeph.r", conversations=None, limit=4, cursor=cursor),
    ):
        listed, cursor = [], None
        while True:
            page = ask(cursor)
            listed += [match.id for match in page.matches]
            assert page.total == 34
            cursor = page.next_cursor
            if cursor is None:
                break
        assert len(listed) == len(set(listed)) == 34


def test_a_short_neighbour_of_a_hit_is_listed_for_a_question_of_several_words():
    database, search = created()
    ids = write(
        database,
        ["x"] * 5
        + ["where did caroline park the green bicycle", "Behind the library.", *["y"] * 5],
    )
    answer = search.full_text("Where did Caroline park her bicycle?", conversations=None)
    listed = [match.id for match in answer.matches]
    assert listed[0] == ids[5]
    assert ids[6] in listed
    assert "neighbours" in answer.note
    assert answer.total == 1
    assert found(search, "bicycle") == [ids[5]]


def test_a_snippet_is_one_short_line_around_the_hit():
    database, search = created()
    write(database, ["start\n" + "pad " * 500 + "the zephyr\nblows " + "end " * 300])
    (match,) = search.full_text("zephyr", conversations=None).matches
    assert "zephyr blows" in match.snippet
    assert "\n" not in match.snippet
    assert len(match.snippet) <= 200
    assert match.snippet.startswith("...")
    assert match.snippet.endswith("...")


def test_a_reference_to_a_stored_file_is_found_by_its_exploration_not_by_its_advice():
    database, search = created()
    text = (
        "[LCM Tool Output: file_0123456789abcdef | tool=exec | 12,345 bytes]\n\n"
        "Exploration Summary:\nquince harvest log\n\n"
        'Call lcm_describe(id="file_0123456789abcdef") to expand it'
    )
    ids = write(database, [text])
    assert found(search, "quince") == ids
    assert found(search, "file_0123456789abcdef") == ids
    assert found(search, "expand") == []


def test_common_words_are_ranked_within_bounds_and_said_so(monkeypatch):
    monkeypatch.setattr("lossless_claw.store.search.words.BUDGET", 50)
    database, search = created()
    ids = write(
        database,
        [f"common {'rare' if n == 3 else ''} {'often' if n % 2 else ''}" for n in range(200)],
    )
    page = search.full_text("common", conversations=None, limit=200)
    assert "newest 50" in page.note
    assert {match.id for match in page.matches} == set(ids)
    mixed = search.full_text("common rare", conversations=None, limit=5)
    assert mixed.matches[0].id == ids[3]
    assert "rarest 1 of 2 words" in mixed.note


def test_without_fts5_words_are_found_as_words_and_it_is_said():
    database, search = created(has_fts5=False)
    ids = write(
        database,
        ["rate 100%", "rate 1000", "a_b", "axb", "the cache", "cached", "deploy the cache"],
    )
    assert Indexing(database).catch_up() == 0
    assert found(search, "100%") == [ids[0]]
    assert found(search, "a_b") == [ids[2]]
    assert found(search, "CACHE", sort="recency") == [ids[6], ids[4]]
    assert found(search, "deploy cache")[0] == ids[6]
    assert "every message was read" in search.full_text("cache", conversations=None).note


def test_a_damaged_index_is_said_and_the_texts_are_read_instead():
    database, search = created()
    ids = write(database, ["zephyr one", "other"])
    fill(database)
    with database.transaction() as connection:
        connection.execute("DROP TABLE messages_fts_data")
        connection.execute("DROP TABLE lossless_trigram_data")
    for page in (
        search.full_text("zephyr", conversations=None),
        search.regex("zephyr", conversations=None),
    ):
        assert [match.id for match in page.matches] == ids[:1]
        assert "damaged" in page.note


@pytest.mark.parametrize("options", [{"limit": 0}, {"sort": "best"}, {"scope": "files"}])
def test_arguments_that_do_not_exist_are_refused(options):
    _, search = created()
    with pytest.raises(UsageError):
        search.full_text("zephyr", conversations=None, **options)


def test_messages_outside_the_context_are_found():
    database, search = created()
    ids = write(database, ["zephyr reset", "zephyr rewound", "zephyr branch"])
    with database.transaction() as connection:
        for one, reason in zip(ids, ("reset", "rewound", "branch"), strict=True):
            connection.execute(
                "UPDATE lossless_message SET outside = ? WHERE message_id = ?", (reason, one)
            )
    assert set(found(search, "zephyr", conversations=[1])) == set(ids)


def test_no_statement_scans_the_messages():
    database, search = created()
    ids = write(database, [f"zephyr {n} 数据" for n in range(30)])
    write(database, ["other"], conversation=2)
    write_summary(database, "sum_1", "zephyr 数据", ids[:5])
    fill(database)
    run: list[str] = []
    database._writer.set_trace_callback(run.append)
    for scope in (None, [1]):
        search.full_text("zephyr deploy plan", conversations=scope)
        search.full_text(
            "zephyr", conversations=scope, sort="recency", since=datetime(2020, 1, 1, tzinfo=UTC)
        )
        search.full_text("数据", conversations=scope)
        search.full_text("数据 zephyr", conversations=scope, sort="recency")
        search.regex("zephyr [0-9]+", conversations=scope)
    database._writer.set_trace_callback(None)
    statements = {line for line in run if line.lstrip().upper().startswith("SELECT")}
    assert len(statements) > 20
    for statement in statements:
        plan = [row[3] for row in database._writer.execute(f"EXPLAIN QUERY PLAN {statement}")]
        assert not [
            line
            for line in plan
            if line in {"SCAN m", "SCAN messages", "SCAN p", "SCAN message_parts", "SCAN l"}
        ], plan


def test_readers_are_served_while_messages_are_written(tmp_path):
    database, search = created(str(tmp_path / "lcm.db"))
    write(database, ["zephyr 数据"] * 50)
    with ThreadPoolExecutor(4) as pool:
        asked = [
            pool.submit(ask, conversations=[1])
            for _ in range(10)
            for ask in (
                partial(search.full_text, "zephyr"),
                partial(search.full_text, "数据"),
                partial(search.regex, "zep.yr"),
            )
        ]
        for _ in range(5):
            write(database, ["zephyr 数据"] * 10)
            Indexing(database).catch_up(30)
        pages = [one.result() for one in asked]
    assert all(50 <= page.total <= 100 for page in pages)
    database.close()


def test_a_file_that_upstream_wrote_is_searched_without_our_tables(shared, tmp_path):
    packed = shared / "data" / "compat" / "sample_lcm.db.gz"
    if not packed.is_file():
        pytest.skip(f"no {packed.name} in the shared data")
    path = tmp_path / "lcm.db"
    path.write_bytes(gzip.decompress(packed.read_bytes()))
    database = Database(str(path), read_only=True)
    search = Search(database)
    with database.read() as connection:
        (hits,) = connection.execute(
            "SELECT count(*) FROM messages WHERE conversation_id = 1 AND content GLOB '*rollback*'"
        ).fetchone()
    page = search.regex("rollback", conversations=[1], scope="messages", limit=200)
    assert page.total == hits > 0
    assert search.full_text("rollback", conversations=[1], scope="messages").matches
    assert "every message was read" in search.full_text("数据库", conversations=[1]).note
    assert Indexing(database).lag() == 0
    database.close()


def test_neighbours_never_push_a_hit_out_of_the_pages():
    database, search = created()
    texts = [
        f"{'deploy plan retry' if n % 5 == 0 else 'pad'}{' deploy' if n % 7 == 0 else ''}"
        for n in range(900)
    ]
    ids = write(database, texts)
    listed, cursor = [], None
    while True:
        page = search.full_text("deploy plan retry", conversations=None, limit=200, cursor=cursor)
        listed += [match.id for match in page.matches]
        cursor = page.next_cursor
        if cursor is None:
            break
    wanted = {one for one, text in zip(ids, texts, strict=True) if text != "pad"}
    assert len(listed) == len(set(listed))
    assert wanted <= set(listed)
    assert page.total == len(wanted)


@pytest.mark.parametrize("sort", ["relevance", "hybrid"])
def test_a_repeated_query_and_a_further_page_say_the_same_bounds(monkeypatch, sort):
    monkeypatch.setattr("lossless_claw.store.search.words.BUDGET", 50)
    database, search = created()
    ids = write(database, ["deploy plan" if n % 2 else "deploy" for n in range(300)])
    first = search.full_text("deploy", conversations=None, sort=sort, limit=20)
    assert "newest 50" in first.note
    assert search.full_text("deploy", conversations=None, sort=sort, limit=20) == first
    listed, cursor = [], None
    while True:
        page = search.full_text("deploy", conversations=None, sort=sort, limit=20, cursor=cursor)
        assert page.note == first.note
        listed += [match.id for match in page.matches]
        cursor = page.next_cursor
        if cursor is None:
            break
    assert sorted(listed) == ids


def test_a_repeated_cjk_query_says_the_same_bounds(monkeypatch):
    monkeypatch.setattr("lossless_claw.store.search.texts.POOL", 20)
    database, search = created()
    write(database, ["\u6570\u636e\u5e93 plan"] * 50)
    fill(database)
    pages = [search.full_text("\u6570\u636e\u5e93", conversations=None) for _ in range(2)]
    assert pages[0] == pages[1]
    assert "newest 20" in pages[1].note


def test_when_enough_rows_hold_every_word_they_come_first_and_the_others_are_not_lost(monkeypatch):
    monkeypatch.setattr("lossless_claw.store.search.words.BUDGET", 50)
    monkeypatch.setattr("lossless_claw.store.search.words.POOL", 30)
    database, search = created()
    ids = write(database, ["deploy plan" if n % 2 else "deploy" for n in range(200)])
    listed, cursor = [], None
    while True:
        page = search.full_text("deploy plan", conversations=None, limit=25, cursor=cursor)
        assert "30 best messages that hold every word" in page.note
        assert page.total <= len(ids)
        listed += [match.id for match in page.matches]
        cursor = page.next_cursor
        if cursor is None:
            break
    assert {(one - ids[0]) % 2 for one in listed[:100]} == {1}
    assert sorted(listed) == ids
