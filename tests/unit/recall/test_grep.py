from __future__ import annotations

from datetime import UTC, datetime

import pytest
from recall_fixtures import filled

from lossless_claw.errors import (
    ConversationNotFoundError,
    PatternError,
    TimeFilterError,
    UsageError,
)
from lossless_claw.recall import scope
from lossless_claw.recall.ask import ask, best_part
from lossless_claw.recall.describe import describe
from lossless_claw.recall.expand import expand
from lossless_claw.recall.grep import check_words, grep
from lossless_claw.tokens import estimate


@pytest.fixture(scope="module")
def store():
    with filled() as engine:
        yield engine.store


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("apple|cherry", "alternation"),
        ("deploy.*plan", "wildcard"),
        ("foo.+", "wildcard"),
        ("foo.?bar", "wildcard"),
        ("b[ae]d", "class"),
        ("[a-z]+", "class"),
        ("^start", "anchor"),
        ("end$", "anchor"),
        (r"\d+ errors", "escape"),
        (r"\bword\b", "escape"),
    ],
)
def test_a_regular_expression_in_full_text_names_the_right_call(store, query, name):
    with pytest.raises(PatternError, match=name) as refused:
        grep(store, query, conversations=None)
    assert 'mode="regex"' in refused.value.hint


@pytest.mark.parametrize(
    "query",
    [
        "colors, e.g. teal; and: navy",
        "foo-bar",
        "a:b",
        "NEAR(x y)",
        "x*",
        '"apple|cherry"',
        "C++",
        "did it work...?",
        "costs 5$",
        "cat a | sort",
        r"C:\Windows\System32",
        "[ERROR] failed",
        "what? when?",
    ],
)
def test_prose_is_not_taken_for_a_regular_expression(query):
    check_words(query)


def test_hits_chain_into_describe_and_expand(store):
    found = grep(store, "topic5 second", conversations=[1], scope="both")
    assert found.total_is_exact
    for match in found.matches:
        name = str(match.id)
        described = describe(store, name)
        assert described.conversation == match.conversation
        assert expand(store, name).pieces
    (message,) = [match for match in found.matches if match.type == "message"]
    assert message.covered_by == "sum_a"


def test_regex_mode_matches_patterns(store):
    found = grep(store, r"topic[0-4]\b", mode="regex", conversations=None, scope="messages")
    assert [match.id for match in found.matches] == [5, 3, 2, 1]
    assert (found.total, found.total_is_exact) == (4, True)


@pytest.mark.parametrize(
    "options", [{"mode": "like"}, {"limit": 0}, {"limit": 201}, {"scope": "files"}, {"sort": "x"}]
)
def test_arguments_are_checked(store, options):
    with pytest.raises(UsageError):
        grep(store, "topic", conversations=None, **options)


@pytest.mark.parametrize(
    "options",
    [
        {"since": "yesterday"},
        {"since": "2026-01-02", "before": "2026-01-01"},
        {"since": "2026-01-01T00:00:00Z", "before": datetime(2026, 1, 1, tzinfo=UTC)},
    ],
)
def test_times_are_checked(store, options):
    with pytest.raises(TimeFilterError):
        grep(store, "topic1", conversations=None, **options)


def test_times_narrow(store):
    assert not grep(store, "topic1", conversations=None, before="2000-01-01T00:00:00Z").matches
    assert grep(store, "topic1", conversations=None, since="2000-01-01T00:00:00+02:00").matches


def test_the_family_of_a_conversation(store):
    assert scope.family(store, 1) == (1,)
    with pytest.raises(ConversationNotFoundError):
        scope.family(store, 99)


def test_describe_walks_down_and_tells_the_cost_of_each_level(store):
    found = describe(store, "sum_c")
    assert [source.id for source in found.sources] == ["sum_a", "sum_b"]
    assert [(cost.level, cost.count) for cost in found.costs] == [("depth 0", 2), ("messages", 12)]
    assert found.costs[0].tokens == estimate("first half") + estimate("second half")
    assert (found.first_seq, found.last_seq, found.messages) == (1, 12, 12)
    assert not found.truncated
    leaf = describe(store, "sum_a")
    assert leaf.derived == ("sum_c",)
    assert [source.id for source in leaf.sources] == [f"msg_{n}" for n in range(1, 7)]


def test_describe_counts_at_most_200_summaries_and_says_so():
    from recall_fixtures import add_summary

    with filled(long=False) as engine:
        names = [f"sum_{n:03}" for n in range(250)]
        for name in names:
            add_summary(engine.store, name, "x", messages=[1])
        add_summary(engine.store, "sum_top", "top", sources=names, depth=1)
        found = describe(engine.store, "sum_top")
        assert found.truncated
        assert found.costs[0].count == 200
        assert found.messages == 1


def test_describe_a_message(store):
    found = describe(store, "msg_4")
    assert (found.id, found.seq, found.covered_by) == ("msg_4", 4, "sum_a")
    assert len(found.preview) <= 240
    assert found.preview.startswith("line 0: lorem ipsum")


def test_ask_returns_verbatim_passages_with_citations_and_says_no_model_was_asked(store):
    found = ask(store, "which message is about topic7?", conversations=[1])
    assert found.model is None
    assert "no model" in found.answer
    assert found.passages[0].citation == "msg_8"
    for passage in found.passages:
        assert (
            passage.text in store.search.texts([int(passage.citation[4:])]).values()
            if passage.citation.startswith("msg_")
            else passage.text
        )
        assert passage.citation in found.answer
    assert ask(store, "quinceless", conversations=[1]).passages == ()
    assert ask(store, "topic7", conversations=[]).passages == ()


def test_ask_falls_back_to_summaries(store):
    assert [
        passage.citation for passage in ask(store, "second half", conversations=None).passages
    ] == ["sum_b", "sum_a"]


def test_the_best_part_of_a_long_text_holds_the_words_and_is_verbatim():
    text = (
        "filler words here\n" * 500 + "the zephyr was deployed on monday\n" + "more filler\n" * 500
    )
    part = best_part(text, "when was the zephyr deployed", 60)
    assert "zephyr was deployed" in part
    assert part in text
    assert estimate(part) <= 60
    assert best_part("short", "zephyr", 60) == "short"
