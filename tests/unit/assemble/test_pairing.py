from __future__ import annotations

import pytest

from lossless_claw.assemble.pairing import OUTCOME_NOT_RECORDED, RepairKind, pair
from lossless_claw.shapes import Call, Result, Text, calls, parse, results

USER = {"role": "user", "content": "go"}


def asks(*ids, **extra):
    blocks = [{"type": "toolCall", "id": i, "name": "query", "arguments": {}} for i in ids]
    return {"role": "assistant", "content": blocks, **extra}


def says(text):
    return {"role": "assistant", "content": [{"type": "text", "text": text}], "stopReason": "stop"}


def answers(call_id, text):
    content = [{"type": "text", "text": text}]
    return {"role": "toolResult", "toolCallId": call_id, "toolName": "query", "content": content}


def paired(*messages):
    return pair([parse(message) for message in messages])


def told(result):
    """The list in short: calls as `?id`, results as `id=text`, other text as it is."""
    return [
        f"?{block.id}"
        if isinstance(block, Call)
        else f"{block.call_id}={block.text}"
        if isinstance(block, Result)
        else block.text
        for turn in result.turns
        for block in turn.blocks
        if isinstance(block, Call | Result | Text)
    ]


def kinds(result):
    return [repair.kind for repair in result.repaired]


def test_a_list_in_order_is_returned_with_the_same_turns():
    turns = [
        parse(m) for m in (USER, asks("a", "b"), answers("a", "1"), answers("b", "2"), says("x"))
    ]
    result = pair(turns)
    assert all(given is kept for given, kept in zip(turns, result.turns, strict=True))
    assert (result.repaired, result.open) == ((), False)


def test_a_result_before_its_call_is_moved_behind_it():
    result = paired(USER, answers("c1", "42 rows"), asks("c1"), says("there are 42"))
    assert told(result) == ["go", "?c1", "c1=42 rows", "there are 42"]
    assert kinds(result) == [RepairKind.MOVED]


def test_results_behind_two_callers_stand_in_call_order():
    result = paired(asks("c1"), asks("c2"), answers("c2", "B"), answers("c1", "A"))
    assert told(result) == ["?c1", "?c2", "c1=A", "c2=B"]


def test_a_result_far_behind_is_brought_to_its_call():
    result = paired(asks("c1"), says("wait"), USER, answers("c1", "late"), says("done"))
    assert told(result) == ["?c1", "c1=late", "wait", "go", "done"]


def test_text_between_call_and_results_follows_after_them():
    result = paired(asks("a", "b"), answers("a", "1"), USER, answers("b", "2"))
    assert told(result) == ["?a", "?b", "a=1", "b=2", "go"]


def test_a_lost_result_is_unknown_and_no_error():
    result = paired(asks("c1", "c2", "c3"), answers("c1", "1"), answers("c3", "3"), USER)
    assert told(result)[3:] == ["c1=1", f"c2={OUTCOME_NOT_RECORDED}", "c3=3", "go"]
    made = result.turns[2]
    assert made.synthetic
    assert made.blocks[0].is_error is None
    assert kinds(result) == [RepairKind.NO_RESULT]


@pytest.mark.parametrize("behind", [(), (answers("c9", "1"),), ({"role": "user", "content": " "},)])
def test_calls_of_the_newest_exchange_stay_open(behind):
    result = paired(USER, asks("c9", "c10"), *behind)
    assert result.open
    assert OUTCOME_NOT_RECORDED not in str(result)


def test_calls_are_not_open_once_something_else_follows():
    result = paired(asks("c9"), USER)
    assert told(result) == ["?c9", f"c9={OUTCOME_NOT_RECORDED}", "go"]
    assert not result.open


def test_an_id_used_again_is_paired_in_order():
    result = paired(
        asks("call_1"), answers("call_1", "09:00"), asks("call_1"), answers("call_1", "09:05")
    )
    assert told(result) == ["?call_1", "call_1=09:00", "?call_1", "call_1=09:05"]
    assert result.repaired == ()


def test_a_result_belongs_to_the_nearest_exchange_of_its_id():
    result = paired(asks("x"), USER, asks("x"), answers("x", "new"))
    assert told(result) == ["?x", f"x={OUTCOME_NOT_RECORDED}", "go", "?x", "x=new"]


def test_a_result_without_a_call_becomes_words_of_a_user():
    result = paired(USER, answers("gone", "42 rows"))
    assert result.turns[1].role == "user"
    assert told(result) == ["go", "[tool result without its call, id gone]\n42 rows"]
    assert kinds(result) == [RepairKind.ORPHAN]


def test_a_silent_result_without_a_call_is_left_out():
    result = paired(USER, answers("gone", " "))
    assert told(result) == ["go"]
    assert kinds(result) == [RepairKind.DUPLICATE]


def test_an_equal_second_result_is_dropped_and_counted():
    result = paired(asks("a"), answers("a", "1"), answers("a", "1"), asks("a"), answers("a", "2"))
    assert told(result) == ["?a", "a=1", "?a", "a=2"]
    assert kinds(result) == [RepairKind.DUPLICATE]


def test_another_second_result_is_kept_as_words():
    result = paired(asks("a"), answers("a", "1"), answers("a", "other"))
    assert told(result) == ["?a", "a=1", "[tool result without its call, id a]\nother"]


def test_a_real_result_displaces_our_own_placeholder():
    result = paired(asks("a"), answers("a", OUTCOME_NOT_RECORDED), USER, answers("a", "real"))
    assert told(result) == ["?a", "a=real", "go"]


@pytest.mark.parametrize("key", ["stopReason", "stop_reason"])
@pytest.mark.parametrize("reason", ["error", "aborted"])
def test_a_failed_turn_keeps_its_text_and_loses_unanswered_calls(key, reason):
    message = asks("a", "b", **{key: reason})
    message["content"].insert(0, {"type": "text", "text": "let me"})
    result = paired(message, answers("b", "2"))
    assert told(result) == ["let me", "?b", "b=2"]
    assert kinds(result) == [RepairKind.DROPPED]
    assert not result.open


def test_a_retry_takes_the_result_of_the_failed_turn_before_it():
    result = paired(asks("a", stopReason="aborted"), asks("a"), answers("a", "1"))
    assert told(result) == ["?a", "a=1"]


def test_calls_without_ids_are_paired_by_position():
    result = paired(asks(None, None), answers(None, "1"), answers(None, "2"), USER)
    assert told(result) == ["?", "?", "=1", "=2", "go"]
    assert result.repaired == ()


def test_a_result_without_an_id_answers_the_call_just_before_it():
    result = paired(asks("a"), answers(None, "1"), USER)
    assert told(result) == ["?a", "a=1", "go"]


def anthropic_asks(*ids):
    return {
        "role": "assistant",
        "content": [{"type": "tool_use", "id": i, "name": "query", "input": {}} for i in ids],
    }


def heard(*pairs, text=None):
    blocks = [{"type": "tool_result", "tool_use_id": i, "content": t} for i, t in pairs]
    return {"role": "user", "content": blocks + ([{"type": "text", "text": text}] if text else [])}


def test_a_message_of_results_and_words_stays_one_when_it_is_in_place():
    message = heard(("a", "1"), ("b", "2"), text="and now?")
    turns = [parse(anthropic_asks("a", "b")), parse(message)]
    assert pair(turns).turns == tuple(turns)


def test_words_beside_results_leave_no_call_behind_them():
    result = paired(anthropic_asks("a", "b"), heard(("a", "1"), text="hm"), heard(("b", "2")))
    assert told(result) == ["?a", "?b", "a=1", "b=2", "hm"]
    assert [results(turn) for turn in result.turns] == [(), ("a",), ("b",), ()]


def test_results_of_two_exchanges_in_one_message_are_parted():
    result = paired(
        anthropic_asks("a"), says("hm"), anthropic_asks("b"), heard(("b", "2"), ("a", "1"))
    )
    assert told(result) == ["?a", "a=1", "hm", "?b", "b=2"]
    assert [calls(turn) for turn in result.turns if calls(turn)] == [("a",), ("b",)]
