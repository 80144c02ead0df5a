"""What holds for any list of messages, however spoiled."""

from __future__ import annotations

import copy

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lossless_claw.assemble.pairing import OUTCOME_NOT_RECORDED, pair
from lossless_claw.model import Shape
from lossless_claw.shapes import Call, Result, detect, parse, render, validate
from lossless_claw.testing.histories import conversations, hostile_conversations, json_values

TARGETS = [Shape.OPENAI, Shape.ANTHROPIC, Shape.OPENCLAW]
GO = {"role": "user", "content": "go"}


def rendered(messages, shape):
    return render(pair([parse(message) for message in messages]).turns, shape)


@settings(max_examples=80, deadline=None)
@given(
    st.dictionaries(
        st.text(max_size=6) | st.sampled_from(["role", "content", "type", "tool_calls"]),
        json_values(),
        max_size=5,
    )
)
def test_any_json_object_is_parsed(message):
    assert parse(message).original == message
    detect(message)


@settings(max_examples=120, deadline=None)
@given(hostile_conversations(), st.sampled_from(TARGETS))
def test_a_spoiled_list_of_mixed_shapes_is_rendered_validly(messages, shape):
    before = copy.deepcopy(messages)
    sent = rendered([GO, *messages], shape).messages
    assert validate(sent, shape) == []
    assert messages == before


@pytest.mark.parametrize("source", TARGETS)
@settings(max_examples=50, deadline=None)
@given(data=st.data())
def test_a_spoiled_list_of_one_shape_is_rendered_validly(source, data):
    messages = data.draw(hostile_conversations(source))
    shape = data.draw(st.sampled_from(TARGETS))
    assert validate(rendered([GO, *messages], shape).messages, shape) == []


@settings(max_examples=80, deadline=None)
@given(hostile_conversations())
def test_pairing_a_paired_list_changes_nothing(messages):
    once = pair([parse(message) for message in messages])
    again = pair(once.turns)
    assert again.turns == once.turns
    assert again.open == once.open


@settings(max_examples=80, deadline=None)
@given(hostile_conversations())
def test_no_result_that_says_something_vanishes(messages):
    turns = [parse(message) for message in messages]
    sent = str(rendered(messages, Shape.OPENAI).messages)
    for turn in turns:
        for block in turn.blocks:
            if isinstance(block, Result) and block.text.strip():
                assert repr(block.text.strip())[1:-1].split("\\n")[0] in sent


@pytest.mark.parametrize("shape", TARGETS)
@settings(max_examples=80, deadline=None)
@given(data=st.data())
def test_a_well_behaved_list_is_given_back_as_it_came(shape, data):
    messages = data.draw(conversations(shape))
    paired = pair([parse(message) for message in messages])
    assert paired.repaired == ()
    assert render(paired.turns, shape).messages == messages
    assert all(fault.rule == "first" for fault in validate(messages, shape))


@pytest.mark.parametrize("shape", TARGETS)
@settings(max_examples=80, deadline=None)
@given(data=st.data())
def test_the_list_only_grows_behind_a_closed_exchange(shape, data):
    messages = [GO, *data.draw(conversations(data.draw(st.sampled_from(TARGETS))))]
    whole = rendered(messages, shape).messages
    for end in range(1, len(messages) + 1):
        paired = pair([parse(message) for message in messages[:end]])
        if not paired.open:
            part = render(paired.turns, shape).messages
            assert whole[: len(part)] == part


@settings(max_examples=50, deadline=None)
@given(hostile_conversations())
def test_what_is_rendered_can_be_read_and_rendered_again(messages):
    for shape in TARGETS:
        sent = rendered([GO, *messages], shape).messages
        assert rendered(sent, shape).messages == sent


@settings(max_examples=60, deadline=None)
@given(conversations(Shape.OPENCLAW), st.sampled_from(TARGETS))
def test_calls_and_results_survive_a_conversion(messages, shape):
    turns = [parse(message) for message in messages]
    sent = [parse(message) for message in rendered(messages, shape).messages]

    def told(turns):
        blocks = [block for turn in turns for block in turn.blocks]
        calls = [(b.name, b.input) for b in blocks if isinstance(b, Call)]
        return calls, [b.text for b in blocks if isinstance(b, Result)]

    assert told(sent) == told(turns)
    assert OUTCOME_NOT_RECORDED not in str(sent)
