from __future__ import annotations

import pytest
from recall_fixtures import LONG, add_summary, filled

from lossless_claw import tokens
from lossless_claw.errors import CursorError, MessageNotFoundError, SummaryNotFoundError, UsageError
from lossless_claw.recall.expand import expand
from lossless_claw.recall.text import full_text


@pytest.fixture(scope="module")
def store():
    with filled() as engine:
        yield engine.store


def pages(store, node, cap, **options):
    cursor, found = None, []
    while True:
        page = expand(store, node, token_cap=cap, cursor=cursor, **options)
        found.append(page)
        cursor = page.next_cursor
        if cursor is None:
            return found


@pytest.mark.parametrize("cap", [3, 40, 200, 4_000, 1_000_000])
@pytest.mark.parametrize("node", ["sum_a", "sum_c", "msg_4", "4"])
def test_the_pages_together_are_the_full_texts_within_the_cap(store, node, cap):
    if cap == 3 and node != "msg_4":
        return
    texts: dict[str, str] = {}
    for page in pages(store, node, cap):
        assert page.tokens == sum(piece.tokens for piece in page.pieces) <= cap
        for piece in page.pieces:
            assert piece.tokens == tokens.estimate(piece.text)
            assert piece.offset == len(texts.get(piece.id, ""))
            texts[piece.id] = texts.get(piece.id, "") + piece.text
    ids = {"sum_a": range(1, 7), "sum_c": range(1, 13)}.get(node, [4])
    wanted = {
        f"msg_{message.id}": full_text(message.original)
        for message in store.messages.load(list(ids))
    }
    assert texts == wanted
    assert list(texts) == list(wanted)
    assert page.total_pieces == (None if node == "sum_c" else len(wanted))


def test_an_oversized_message_is_split_and_says_whether_it_is_complete(store):
    found = pages(store, "msg_4", 300)
    assert len(found) > 2
    assert [page.pieces[0].complete for page in found] == [False] * (len(found) - 1) + [True]
    assert "".join(page.pieces[0].text for page in found) == LONG


def test_the_sources_of_a_condensed_summary_are_summaries_and_of_a_leaf_messages(store):
    condensed = expand(store, "sum_c", level="sources")
    assert [(piece.type, piece.id, piece.role, piece.text) for piece in condensed.pieces] == [
        ("summary", "sum_a", "leaf", "first half"),
        ("summary", "sum_b", "leaf", "second half"),
    ]
    assert (
        expand(store, "sum_a", level="sources", token_cap=10_000).pieces
        == expand(store, "sum_a", token_cap=10_000).pieces
    )


def test_a_message_that_two_leaves_cover_is_given_once():
    with filled(long=False) as engine:
        add_summary(engine.store, "sum_d", "again", messages=[1, 2])
        add_summary(engine.store, "sum_e", "top", sources=["sum_c", "sum_d"], depth=2)
        found = expand(engine.store, "sum_e", token_cap=100_000)
        assert [piece.id for piece in found.pieces] == [f"msg_{n}" for n in range(1, 13)]


@pytest.mark.parametrize(
    ("node", "error"),
    [
        ("sum_none", SummaryNotFoundError),
        ("msg_999", MessageNotFoundError),
        ("SUM_A", UsageError),
        ("sum_a sum_b", UsageError),
        ("", UsageError),
        ("msg_", UsageError),
    ],
)
def test_what_does_not_exist_is_said(store, node, error):
    with pytest.raises(error):
        expand(store, node)


def test_arguments_are_checked(store):
    with pytest.raises(UsageError):
        expand(store, "sum_a", token_cap=0)
    with pytest.raises(UsageError):
        expand(store, "sum_a", level="leaves")
    cursor = expand(store, "sum_a", token_cap=30).next_cursor
    with pytest.raises(CursorError):
        expand(store, "sum_b", cursor=cursor)
    with pytest.raises(CursorError):
        expand(store, "sum_a", cursor=cursor, level="sources")


def test_what_is_outside_the_scope_does_not_exist(store):
    assert expand(store, "sum_a", conversations=[1]).pieces
    with pytest.raises(SummaryNotFoundError) as outside:
        expand(store, "sum_a", conversations=[2])
    with pytest.raises(SummaryNotFoundError) as absent:
        expand(store, "sum_x", conversations=[2])
    assert outside.value.message.replace("sum_a", "") == absent.value.message.replace("sum_x", "")
    with pytest.raises(MessageNotFoundError):
        expand(store, "msg_1", conversations=[])
