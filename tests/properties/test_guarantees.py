"""The guarantees over generated histories, through the public API (design 1)."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import lossless_claw as lcm
from lossless_claw.compact.planner import End
from lossless_claw.compaction import RUNNING, STALE
from lossless_claw.model import Raw, Shape
from lossless_claw.shapes import is_showable, parse, validate
from lossless_claw.testing.histories import SPELLINGS, conversations, hostile_conversations

OUTCOMES = {str(end) for end in End} | {STALE, RUNNING}
TARGETS = [Shape.OPENCLAW, Shape.OPENAI, Shape.ANTHROPIC]
MANY = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])

native = st.sampled_from(list(SPELLINGS)).flatmap(conversations)
histories = native | hostile_conversations(None)
long_histories = st.lists(native, min_size=1, max_size=6).map(
    lambda parts: [message for part in parts for message in part]
)


def same(left: Any, right: Any) -> bool:
    """JSON equality that tells 1 from 1.0 and accepts NaN."""
    return json.dumps(left, sort_keys=True) == json.dumps(right, sort_keys=True)


def newest_user(history: list[Raw]) -> Raw | None:
    """Return the newest message that a user wrote and that shows something."""
    for message in reversed(history):
        turn = parse(message)
        if turn.role == "user" and is_showable(turn) and message.get("role") == "user":
            return message
    return None


@MANY
@given(histories)
def test_g1_what_was_handed_in_comes_out(history: list[Raw]) -> None:
    with lcm.open(":memory:") as engine:
        chat = engine.conversation("lane")
        chat.append(history, ids=[None] * len(history))
        assert same(list(chat.export()), history)
        assert engine.verify().ok


@MANY
@given(histories, st.data())
def test_g1_and_g2_hold_over_compaction_and_replay(history: list[Raw], data: st.DataObject) -> None:
    with lcm.open(":memory:") as engine:
        chat = engine.conversation("lane")
        ids = [f"e{n}" for n in range(len(history))]
        end = 0
        while end < len(history):
            end = data.draw(st.integers(end + 1, len(history)))
            begin = data.draw(st.integers(0, end - 1)) if data.draw(st.booleans()) else 0
            chat.append(history[:end], ids[:end])
            assert chat.append(history[begin:end], ids[begin:end]).added == 0
            if data.draw(st.booleans()):
                chat.compact(data.draw(st.integers(50, 4_000)), force=True)
        assert same(list(chat.export()), history)
        assert engine.verify().ok


@MANY
@given(long_histories, st.data())
def test_g2_a_list_that_grows_is_stored_once(history: list[Raw], data: st.DataObject) -> None:
    with lcm.open(":memory:") as engine:
        chat = engine.conversation("lane")
        bare = [
            {key: value for key, value in message.items() if key != "id"} for message in history
        ]
        end = 0
        while end < len(bare):
            end = data.draw(st.integers(end + 1, len(bare)))
            chat.sync(bare[:end])
            assert chat.sync(bare[:end]).added == 0
        heads = sum(row.outside == "head" for row in chat.messages())
        body = [row.original for row in chat.messages() if row.outside != "head"]
        assert same(body, bare[heads:])


@MANY
@given(histories, st.integers(1, 6_000), st.sampled_from(TARGETS), st.booleans())
def test_g4_the_list_fits_and_is_valid(
    history: list[Raw], budget: int, shape: Shape, compacts: bool
) -> None:
    with lcm.open(":memory:") as engine:
        chat = engine.conversation("lane")
        chat.append(history, ids=[None] * len(history))
        if compacts:
            chat.compact(budget, force=True)
        context = chat.assemble(budget, shape, live=False)
        assert validate(context.messages, shape) == []
        assert context.tokens <= budget if context.fits else context.reason
        assert context.report.left_out >= 0
        assert engine.verify().ok


@MANY
@given(long_histories, st.integers(200, 6_000))
def test_g4_the_newest_user_message_is_verbatim_in_its_place(
    history: list[Raw], budget: int
) -> None:
    newest = newest_user(history)
    with lcm.open(":memory:") as engine:
        chat = engine.conversation("lane")
        chat.append(history, ids=[None] * len(history))
        chat.compact(budget, force=True)
        shown = chat.assemble(budget, Shape.OPENCLAW, live=False).messages
        assert newest is None or any(same(message, newest) for message in shown)


@MANY
@given(long_histories, st.integers(50, 6_000), st.booleans())
def test_g5_compaction_ends_under_its_target_or_says_why(
    history: list[Raw], budget: int, force: bool
) -> None:
    with lcm.open(":memory:") as engine:
        chat = engine.conversation("lane")
        chat.append(history, ids=[None] * len(history))
        done = chat.compact(budget, force=force)
        assert done.outcome in OUTCOMES
        assert done.tokens_after <= done.tokens_before
        assert done.outcome != End.UNDER_TARGET or done.tokens_after <= budget * 0.5
        assert done.tokens_after == engine.compactor.context_tokens(chat.id)
        again = chat.compact(budget, force=True)
        assert again.tokens_after <= done.tokens_after


@MANY
@given(long_histories, st.integers(300, 4_000), st.sampled_from(TARGETS), st.data())
def test_g6_the_list_grows_at_its_end_within_an_epoch(
    history: list[Raw], budget: int, shape: Shape, data: st.DataObject
) -> None:
    with lcm.open(":memory:") as engine:
        chat = engine.conversation("lane")
        before: list[str] = []
        epoch: tuple[object, ...] = ()
        for message in history:
            chat.append([message], ids=[None])
            if data.draw(st.integers(0, 9)) == 0:
                chat.compact(budget)
            context = chat.assemble(budget, shape)
            shown = [json.dumps(message) for message in context.messages]
            now = (chat_summaries(engine, chat), context.report.cut, context.system)
            if epoch == now and context.fits:
                assert shown[: len(before)] == before
            # An open exchange and what follows it may still change.
            closed = not context.report.open_exchange and not context.report.repaired
            epoch, before = (now, shown) if closed and context.fits else ((), [])


def chat_summaries(engine: lcm.Engine, chat: lcm.Chat) -> tuple[object, ...]:
    items = engine.store.context.items(chat.id)
    return tuple(item.ref for item in items if item.is_summary)
