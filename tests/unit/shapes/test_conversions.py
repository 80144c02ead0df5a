"""Golden conversions between the shapes, and what stays as it came in its own."""

from __future__ import annotations

import pytest

from lossless_claw.assemble.pairing import pair
from lossless_claw.errors import UsageError
from lossless_claw.model import Shape
from lossless_claw.shapes import (
    Call,
    Media,
    Other,
    Result,
    Text,
    Thinking,
    is_showable,
    parse,
    render,
    validate,
)
from lossless_claw.shapes.block import NO_OUTPUT

OPENAI, ANTHROPIC, OPENCLAW = Shape.OPENAI, Shape.ANTHROPIC, Shape.OPENCLAW

CHAT = [
    {"role": "user", "content": "weather?"},
    {
        "role": "assistant",
        "content": "let me look",
        "tool_calls": [
            {
                "id": "c1",
                "type": "function",
                "function": {"name": "w", "arguments": '{"city": "Bonn"}'},
            },
            {"id": "c2", "type": "function", "function": {"name": "t", "arguments": "{}"}},
        ],
    },
    {"role": "tool", "tool_call_id": "c1", "content": "rain"},
    {"role": "tool", "tool_call_id": "c2", "content": "noon"},
    {"role": "assistant", "content": "It rains."},
]
CLAUDE = [
    {"role": "user", "content": "weather?"},
    {
        "role": "assistant",
        "content": [
            {"type": "text", "text": "let me look"},
            {"type": "tool_use", "id": "c1", "name": "w", "input": {"city": "Bonn"}},
            {"type": "tool_use", "id": "c2", "name": "t", "input": {}},
        ],
    },
    {
        "role": "user",
        "content": [
            {"type": "tool_result", "tool_use_id": "c1", "content": "rain"},
            {"type": "tool_result", "tool_use_id": "c2", "content": "noon"},
        ],
    },
    {"role": "assistant", "content": "It rains."},
]


def claw_result(call_id, name, text):
    content = [{"type": "text", "text": text}]
    head = {"role": "toolResult", "toolCallId": call_id, "toolName": name}
    return {**head, "content": content, "isError": False}


CLAW = [
    {"role": "user", "content": "weather?"},
    {
        "role": "assistant",
        "content": [
            {"type": "text", "text": "let me look"},
            {"type": "toolCall", "id": "c1", "name": "w", "arguments": {"city": "Bonn"}},
            {"type": "toolCall", "id": "c2", "name": "t", "arguments": {}},
        ],
    },
    claw_result("c1", "w", "rain"),
    claw_result("c2", "t", "noon"),
    {"role": "assistant", "content": "It rains."},
]
LISTS = {OPENAI: CHAT, ANTHROPIC: CLAUDE, OPENCLAW: CLAW}


def sent(messages, shape):
    return render(pair([parse(message) for message in messages]).turns, shape).messages


@pytest.mark.parametrize("source", LISTS)
@pytest.mark.parametrize("target", LISTS)
def test_one_conversation_reads_alike_in_every_shape(source, target):
    expected = LISTS[target]
    if source is not target and target is ANTHROPIC and source is OPENCLAW:
        texts = [[{"type": "text", "text": text}] for text in ("rain", "noon")]
        heard = [{**b, "content": t} for b, t in zip(CLAUDE[2]["content"], texts, strict=True)]
        expected = [*CLAUDE[:2], {"role": "user", "content": heard}, CLAUDE[3]]
    assert sent(LISTS[source], target) == expected


def test_responses_items_are_read_and_sent_to_another_shape():
    items = [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "go"}]},
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]},
        {"type": "function_call", "call_id": "c1", "name": "w", "arguments": '{"a": 1}'},
        {"type": "custom_tool_call", "call_id": "c2", "name": "patch", "input": "*** free text"},
        {"type": "function_call_output", "call_id": "c1", "output": "ok"},
        {"type": "custom_tool_call_output", "call_id": "c2", "output": "done"},
    ]
    user, speech, heard = sent(items, ANTHROPIC)
    assert user == {"role": "user", "content": [{"type": "text", "text": "go"}]}
    assert [block["input"] for block in speech["content"]] == [{"a": 1}, {"input": "*** free text"}]
    assert [block["content"] for block in heard["content"]] == ["ok", "done"]


@pytest.mark.parametrize("call", [render, validate])
def test_responses_is_no_target(call):
    with pytest.raises(UsageError):
        call([], Shape.RESPONSES)


def test_openclaw_gets_its_own_object_back_with_every_key():
    message = {
        "role": "user",
        "content": "hi",
        "timestamp": 5,
        "__openclaw": {"senderIsOwner": True},
    }
    assert sent([message], OPENCLAW)[0] is message
    assert sent([message], OPENAI) == [{"role": "user", "content": "hi"}]
    assert sent([message], ANTHROPIC) == [{"role": "user", "content": "hi"}]


def test_thinking_is_sent_to_its_maker_only():
    signed = {"type": "thinking", "thinking": "hm", "signature": "QWEN"}
    redacted = {"type": "redacted_thinking", "data": "xyz"}
    text = {"type": "text", "text": "hi", "citations": None}
    message = {"role": "assistant", "content": [signed, redacted, text], "stop_reason": "end_turn"}
    assert sent([message], ANTHROPIC) == [
        {"role": "assistant", "content": [signed, redacted, text]}
    ]
    assert sent([message], OPENAI) == [{"role": "assistant", "content": "hi"}]
    assert sent([message], OPENCLAW) == [
        {"role": "assistant", "content": [{"type": "text", "text": "hi"}]}
    ]


@pytest.mark.parametrize("shape", LISTS)
def test_an_assistant_of_only_thinking_is_left_out(shape):
    for key in ("signature", "thinkingSignature"):
        message = {
            "role": "assistant",
            "content": [{"type": "thinking", "thinking": "hm", key: "s"}],
        }
        assert not is_showable(parse(message))
        assert sent([message], shape) == []


def test_top_level_reasoning_stays_beside_the_calls_of_its_message():
    calls = [{"id": "c", "type": "function", "function": {"name": "read", "arguments": "{}"}}]
    message = {
        "role": "assistant",
        "content": [],
        "reasoning_content": "need it",
        "tool_calls": calls,
    }
    assert sent([message], OPENAI) == [{**message, "content": None}]
    assert parse(message).blocks[0] == Thinking("need it")
    assert "need it" not in str(sent([message], ANTHROPIC))


@pytest.mark.parametrize("shape", LISTS)
def test_blank_messages_are_left_out_and_a_silent_result_keeps_its_pair(shape):
    messages = [
        {"role": "user", "content": []},
        {"role": "assistant", "content": [], "stopReason": "error"},
        {"role": "user", "content": ""},
        CLAW[1],
        {**CLAW[2], "content": []},
        {**CLAW[3], "content": [{"type": "text", "text": " "}]},
        {"role": "user", "content": "hello"},
    ]
    out = sent(messages, shape)
    assert str(out).count(NO_OUTPUT) == 2
    assert out[-1] == {"role": "user", "content": "hello"}
    assert [fault.rule for fault in validate(out, shape)] == (
        ["first"] if shape is ANTHROPIC else []
    )


@pytest.mark.parametrize("shape", [Shape.ANTHROPIC, Shape.OPENAI, Shape.OPENCLAW])
def test_blanks_beside_the_results_are_left_out(shape):
    answer = [{"type": "text", "text": "  "}, *CLAUDE[2]["content"]]
    beside = [*CLAUDE[:2], {"role": "user", "content": answer}, *CLAUDE[3:]]
    assert validate(render(pair([parse(m) for m in beside]).turns, shape).messages, shape) == []


def test_the_system_head_stands_apart_for_anthropic_and_a_later_one_is_a_users():
    cached = {"type": "text", "text": "rules", "cache_control": {"type": "ephemeral"}}
    turns = [
        parse({"role": "system", "content": [cached]}),
        parse({"role": "developer", "content": "be brief"}),
        parse({"role": "user", "content": "hi"}),
        parse({"role": "system", "content": "later"}),
    ]
    rendered = render(turns, ANTHROPIC)
    assert rendered.system == [cached, {"type": "text", "text": "be brief"}]
    assert rendered.messages[1:] == [{"role": "user", "content": "later"}]
    roles = {shape: [m["role"] for m in render(turns, shape).messages] for shape in LISTS}
    assert roles[OPENAI] == ["system", "developer", "user", "system"]
    assert roles[OPENCLAW] == ["system", "system", "user", "system"]


def test_images_are_translated_and_noted_where_they_cannot_stand():
    image = {"type": "image", "data": "aGk=", "mimeType": "image/png"}
    user = {"role": "user", "content": [{"type": "text", "text": "see"}, image]}
    result = {**CLAW[2], "content": [image]}
    asked = {"role": "assistant", "content": [CLAW[1]["content"][1]]}
    source = {"type": "base64", "media_type": "image/png", "data": "aGk="}
    seen, _, heard = sent([user, asked, result], ANTHROPIC)
    assert seen["content"][1] == {"type": "image", "source": source}
    assert heard["content"][0]["content"] == [{"type": "image", "source": source}]
    seen, _, heard = sent([user, asked, result], OPENAI)
    url = {"url": "data:image/png;base64,aGk="}
    assert seen["content"][1] == {"type": "image_url", "image_url": url}
    assert heard["content"] == "[image image/png]"
    assert sent([seen], OPENCLAW) == [user]


def ask(call_id, name="w", arguments="{}"):
    call = {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def tell(call_id, text="ok"):
    return {"role": "tool", "tool_call_id": call_id, "content": text}


def ids(messages):
    turns = [parse(message) for message in messages]
    blocks = [block for turn in turns for block in turn.blocks]
    return [
        b.id if isinstance(b, Call) else b.call_id for b in blocks if isinstance(b, Call | Result)
    ]


@pytest.mark.parametrize("shape", [OPENAI, ANTHROPIC])
def test_an_id_used_again_is_told_apart_in_both_places(shape):
    messages = [ask("c"), tell("c"), ask("c"), tell("c"), ask("c_2"), tell("c_2")]
    assert ids(sent(messages, shape)) == ["c", "c", "c_2", "c_2", "c_2_2", "c_2_2"]


def test_ids_that_anthropic_refuses_are_changed_alike_and_apart():
    out = ids(sent([ask("a|b"), tell("a|b"), ask("a b"), tell("a b")], ANTHROPIC))
    assert out[0] == out[1]
    assert out[2] == out[3]
    assert out[0] != out[2]
    assert all(i.startswith("a_b_") for i in out)
    assert ids(sent([ask("a b"), tell("a b")], ANTHROPIC)) == out[2:]


def test_a_long_foreign_id_fits_openai_and_its_own_stays():
    call = {"type": "tool_use", "id": "t" * 60, "name": "w", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "t" * 60, "content": "ok"}
    foreign = [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]
    made = ids(sent(foreign, OPENAI))
    assert len(made[0]) == 40
    assert made[0] == made[1]
    assert ids(sent([ask("t" * 60), tell("t" * 60)], OPENAI)) == ["t" * 60] * 2


@pytest.mark.parametrize("shape", LISTS)
def test_a_call_without_an_id_gets_one_that_does_not_depend_on_its_place(shape):
    made = ids(sent([ask(None), tell(None)], shape))
    assert made[0].startswith("call_lcm_")
    assert made[0] == made[1]
    later = ids(sent([*CHAT, ask(None), tell(None)], shape))
    assert later[-2:] == made


@pytest.mark.parametrize(
    ("given", "as_object", "as_text"),
    [
        ('{"a":1}', {"a": 1}, '{"a":1}'),
        ("", {}, "{}"),
        ("[1]", {"input": "[1]"}, "[1]"),
        ("{broken", {"input": "{broken"}, '{"input": "{broken"}'),
        ({"a": 1}, {"a": 1}, '{"a": 1}'),
        (None, {}, "{}"),
    ],
)
def test_arguments_are_an_object_or_json_text_as_the_target_wants(given, as_object, as_text):
    messages = [ask("c", arguments=given), tell("c")]
    assert sent(messages, ANTHROPIC)[0]["content"][0]["input"] == as_object
    assert sent(messages, OPENCLAW)[0]["content"][0]["arguments"] == as_object
    assert sent(messages, OPENAI)[0]["tool_calls"][0]["function"]["arguments"] == as_text


def test_callers_that_follow_each_other_speak_as_one_with_all_results_behind():
    thought = {"type": "thinking", "thinking": "hm", "signature": "s"}
    use = [{"type": "tool_use", "id": i, "name": "w", "input": {}} for i in "ab"]
    heard = [{"type": "tool_result", "tool_use_id": i, "content": i} for i in "ab"]
    messages = [
        {"role": "assistant", "content": "before"},
        {"role": "assistant", "content": [thought, use[0]]},
        {"role": "assistant", "content": [use[1]]},
        {"role": "user", "content": [heard[1]]},
        {"role": "user", "content": [heard[0], {"type": "text", "text": "and?"}]},
        {"role": "user", "content": "still here"},
    ]
    assert [m["content"] for m in sent(messages, ANTHROPIC)] == [
        "before",
        [thought, *use],
        heard,
        [{"type": "text", "text": "and?"}],
        "still here",
    ]
    assert [m["role"] for m in sent(messages, OPENAI)] == [
        *("assistant", "assistant", "tool", "tool", "user", "user")
    ]
    assert [m["role"] for m in sent(messages, OPENCLAW)] == [
        *("assistant", "assistant", "toolResult", "assistant", "toolResult", "user", "user")
    ]


def test_a_call_open_in_the_middle_leaves_no_gap_for_openclaw():
    messages = [ask("a"), ask("b"), tell("b")]
    out = sent(messages, OPENCLAW)
    assert [m["role"] for m in out] == ["assistant", "toolResult"]
    assert validate(out, OPENCLAW) == []


def test_the_older_function_call_stays_while_it_is_whole():
    asked = {
        "role": "assistant",
        "content": None,
        "function_call": {"name": "w", "arguments": "{}"},
    }
    told = {"role": "function", "name": "w", "content": "rain"}
    assert sent([asked, told], OPENAI) == [asked, told]
    assert ids(sent([asked, told], ANTHROPIC))[0].startswith("call_lcm_")
    lost = sent([asked, {"role": "user", "content": "hm"}], OPENAI)
    assert [m["role"] for m in lost] == ["assistant", "tool", "user"]


def test_a_refusal_and_swe_agents_ids_are_understood():
    refusal = {"role": "assistant", "content": None, "refusal": "No."}
    assert sent([refusal], OPENAI) == [refusal]
    assert sent([refusal], ANTHROPIC) == [{"role": "assistant", "content": "No."}]
    told = {"role": "tool", "content": "x", "tool_call_ids": ["c"], "agent": "main"}
    assert sent([ask("c"), told], OPENAI)[1] == {
        "role": "tool",
        "content": "x",
        "tool_call_id": "c",
    }


def test_a_shell_run_is_a_users_words_unless_kept_from_the_model():
    run = {"role": "bashExecution", "command": "ls", "output": "a.txt"}
    assert sent([run], OPENAI) == [{"role": "user", "content": "$ ls\na.txt"}]
    assert sent([run], OPENCLAW) == [run]
    assert sent([{**run, "excludeFromContext": True}], OPENCLAW) == []


def test_blocks_of_anthropic_that_nobody_knows_stay_and_are_words_elsewhere():
    search = {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}
    message = {"role": "assistant", "content": [search]}
    assert parse(message).blocks == (Other(search),)
    assert sent([message], ANTHROPIC) == [message]
    assert '"web_search"' in sent([message], OPENAI)[0]["content"]


@pytest.mark.parametrize(
    ("message", "role", "kinds"),
    [
        ({"role": "alien", "content": "x"}, "unknown", [Other]),
        ({"role": ["user"]}, "unknown", [Other]),
        ({"role": "user", "content": 5}, "user", [Other]),
        ({"role": "user", "content": [{"type": "text", "text": 5}, None]}, "user", [Other, Other]),
        ({"role": "user", "content": ["bare"]}, "user", [Text]),
        (
            {"role": "user", "content": [{"type": "tool_use", "id": "a", "name": "x"}]},
            "user",
            [Other],
        ),
        ({"role": "user", "content": [{"type": "document", "source": {}}]}, "user", [Media]),
        (
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a"}]},
            "tool",
            [Result],
        ),
        ({"role": "assistant", "content": [{"type": "tool_result"}]}, "assistant", [Other]),
        ({"role": "assistant", "content": None, "tool_calls": "x"}, "assistant", [Other]),
        ({"role": "assistant", "content": None, "tool_calls": [{"id": "a"}]}, "assistant", [Other]),
        ({"role": "tool", "content": {"a": 1}, "tool_call_id": 7}, "tool", [Result]),
    ],
)
def test_what_has_the_wrong_type_stays_visible(message, role, kinds):
    turn = parse(message)
    assert turn.role == role
    assert [type(block) for block in turn.blocks] == kinds
    assert turn.original is message
