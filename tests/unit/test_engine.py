"""The engine's own decisions: budgets, when a sweep is due, who summarises, what callers may hand in."""

from __future__ import annotations

import sqlite3
from typing import Any

import pytest

import lossless_claw as lcm
from lossless_claw.compaction import BACKING_OFF, FIRST_WAIT, STALE
from lossless_claw.config import load
from lossless_claw.errors import (
    AuthError,
    ConversationNotFoundError,
    HostError,
    UsageError,
)
from lossless_claw.summarize.summarizer import from_callable
from lossless_claw.testing.clocks import FakeClock
from lossless_claw.testing.summarizers import Scripted

LONG = "the quick brown fox jumps over the lazy dog number "


def turns(count: int, start: int = 0) -> list[dict[str, Any]]:
    return [
        {"role": "assistant" if n % 2 else "user", "content": f"{LONG * 8}{n}"}
        for n in range(start, start + count)
    ]


def engine(**options: Any) -> lcm.Engine:
    return lcm.open(":memory:", **options)


def test_below_the_soft_threshold_no_model_is_called_and_nothing_is_written() -> None:
    scripted = Scripted(["ok"])
    with engine(summarizer=scripted) as store:
        chat = store.conversation("lane")
        done = chat.after_turn(turns(20), budget=100_000)
        assert done.compaction is None
        assert scripted.calls == 0
        assert all(not item.is_summary for item in store.store.context.items(chat.id))


def test_above_the_soft_threshold_a_turn_compacts_to_the_target() -> None:
    with engine() as store:
        chat = store.conversation("lane")
        done = chat.after_turn(turns(100), budget=8_000)
        assert done.compaction is not None
        assert done.compaction.outcome == "under_target"
        assert done.compaction.tokens_after <= 4_000


def test_the_last_budget_is_remembered() -> None:
    with engine() as store:
        chat = store.conversation("lane")
        chat.append(turns(4))
        assert chat.assemble().budget == 128_000
        chat.assemble(9_000)
        assert chat.assemble().budget == 9_000
        chat.assemble(5_000, live=False)
        assert chat.assemble().budget == 9_000


def test_observed_tokens_are_overhead_that_is_kept_free() -> None:
    with engine() as store:
        chat = store.conversation("lane")
        chat.append(turns(40))
        sent = store.compactor.context_tokens(chat.id)
        chat.after_turn((), budget=sent + 100, observed_tokens=sent)
        assert store.compactor.context_tokens(chat.id) <= sent
        chat.after_turn((), budget=20_000, observed_tokens=sent + 3_000)
        assert chat.assemble(20_000).tokens <= 17_000


def test_an_assembly_above_the_hard_threshold_compacts_first() -> None:
    with engine() as store:
        chat = store.conversation("lane")
        chat.append(turns(200))
        context = chat.assemble(6_000)
        assert context.fits
        assert context.report.left_out == 0
        assert context.report.items["summaries"] > 0


def test_a_read_only_look_changes_nothing() -> None:
    with engine() as store:
        chat = store.conversation("lane")
        chat.append(turns(200))
        before = store.store.conversations.running(chat.id)
        chat.assemble(6_000, live=False)
        assert store.store.conversations.running(chat.id) == before


@pytest.mark.parametrize(
    "behaviour", ["blank", "echo", "huge", "error", "raise", "timeout", "auth"]
)
def test_a_bad_summarizer_never_costs_a_message(behaviour: str) -> None:
    scripted = Scripted([behaviour])
    with engine(summarizer=scripted) as store:
        chat = store.conversation("lane")
        history = turns(60)
        done = chat.after_turn(history, budget=4_000)
        assert done.compaction is not None
        assert done.compaction.outcome
        assert scripted.calls <= store.config.max_sweep_iterations
        assert list(chat.export()) == history
        assert chat.assemble(4_000).tokens <= 4_000
        assert store.verify().ok


def test_any_callable_is_a_summarizer() -> None:
    asked: list[lcm.Request] = []

    def write(request: lcm.Request) -> str:
        asked.append(request)
        return "They talked about the fox.\nExpand for details about: the dog"

    with engine(summarizer=write) as store:
        chat = store.conversation("lane")
        chat.append(turns(60))
        done = chat.compact(6_000)
        assert asked
        assert store.store.summaries.get(done.summaries[0]).content.startswith("They talked")
        assert all(
            request.target_tokens > 0 and LONG[:20] in request.source for request in asked[:1]
        )


def test_a_sweep_whose_context_changed_meanwhile_publishes_nothing() -> None:
    with engine() as store:
        chat = store.conversation("lane")
        history = turns(60)

        def write(request: lcm.Request) -> str:
            chat.sync([*history[:2], {"role": "user", "content": "no, go back to the beginning"}])
            return "Late."

        chat.append(history)
        store.compactor._summarizer = from_callable(write)
        done = chat.compact(6_000)
        assert done.outcome == STALE
        assert done.summaries == ()
        assert store.verify().ok


def test_a_stale_sweep_leaves_the_cut_where_it_is() -> None:
    with engine() as store:
        chat = store.conversation("lane")
        chat.append(turns(60))
        store.store.conversations.set_cut(chat.id, 7, 6_000)

        def write(request: lcm.Request) -> str:
            chat.sync([*turns(2), {"role": "user", "content": "no, go back to the beginning"}])
            return "Late."

        store.compactor._summarizer = from_callable(write)
        assert chat.compact(6_000).outcome == STALE
        assert store.store.conversations.running(chat.id).cut == 7


def test_a_failing_summarizer_is_not_asked_again_at_every_turn() -> None:
    clock = FakeClock()
    scripted = Scripted(["raise"])
    with engine(summarizer=scripted, clock=clock) as store:
        chat = store.conversation("lane")
        chat.append(turns(32))
        budget = int(store.compactor.context_tokens(chat.id) / 0.85)
        first = chat.after_turn((), budget=budget).compaction
        assert first is not None
        assert first.outcome == "summarizer_failed"
        calls = scripted.calls
        again = chat.after_turn((), budget=budget).compaction
        assert again is not None
        assert again.outcome == BACKING_OFF
        assert scripted.calls == calls
        clock.advance(FIRST_WAIT + 1)
        chat.after_turn((), budget=budget)
        assert scripted.calls > calls


def test_above_the_hard_threshold_the_wait_does_not_stop_the_sweep() -> None:
    scripted = Scripted(["raise"])
    with engine(summarizer=scripted, clock=FakeClock()) as store:
        chat = store.conversation("lane")
        chat.append(turns(40))
        size = store.compactor.context_tokens(chat.id)
        chat.after_turn((), budget=int(size / 0.85))
        calls = scripted.calls
        done = chat.after_turn((), budget=int(size / 1.2)).compaction
        assert done is not None
        assert done.outcome == "under_target"
        assert scripted.calls == calls


def test_closing_cancels_a_running_sweep_and_drops_what_it_made() -> None:
    store = engine()

    def write(request: lcm.Request) -> str:
        store.compactor.close()
        assert request.cancel.wait(10)
        return "A summary.\nExpand for details about: nothing"

    store.compactor._summarizer = from_callable(write)
    chat = store.conversation("lane")
    chat.append(turns(60))
    done = chat.compact(6_000)
    assert (done.outcome, done.summaries) == ("cancelled", ())
    store.close()


def test_each_call_has_a_deadline_of_its_own() -> None:
    left: list[float] = []

    def write(request: lcm.Request) -> str:
        left.append(request.deadline.remaining() or -1)
        return "A summary."

    with engine(summarizer=write, clock=FakeClock()) as store:
        chat = store.conversation("lane")
        chat.append(turns(60))
        chat.compact(6_000)
        assert max(left) == store.config.summary_timeout_ms / 1000


def test_a_budget_is_remembered_as_it_was_given() -> None:
    capped = load(environ={}, file=None, overrides={"maxAssemblyTokenBudget": 5_000})
    with engine(config=capped) as store:
        chat = store.conversation("lane")
        assert chat.assemble(9_000).budget == 5_000
        assert store.store.conversations.running(chat.id).budget == 9_000


def test_a_conversation_without_a_name_is_refused() -> None:
    with engine() as store, pytest.raises(UsageError, match="session key"):
        store.conversation()


def test_sdk_objects_inside_a_message_are_opened() -> None:
    class Block:
        def model_dump(self, **options: Any) -> dict[str, Any]:
            return {"type": "text", "text": "hello"}

    with engine() as store:
        chat = store.conversation("lane")
        chat.append([{"role": "assistant", "content": (Block(),)}])
        assert list(chat.export()) == [
            {"role": "assistant", "content": [{"type": "text", "text": "hello"}]}
        ]
        assert store.verify().ok


def test_what_is_no_json_is_refused_with_its_place() -> None:
    with engine() as store:
        chat = store.conversation("lane")
        with pytest.raises(HostError, match=r"message 0\.content\[0\]\.data is bytes"):
            chat.append([{"role": "user", "content": [{"type": "image", "data": b"x"}]}])


def test_an_unknown_conversation_is_not_found() -> None:
    with engine() as store:
        with pytest.raises(ConversationNotFoundError):
            store.chat(conversation_id=7)
        with pytest.raises(ConversationNotFoundError):
            store.chat(session_key="nobody")


@pytest.mark.parametrize("message", ["text", 7, None, ["role"]])
def test_what_is_no_object_is_refused_with_its_place(message: Any) -> None:
    with engine() as store:
        chat = store.conversation("lane")
        with pytest.raises(HostError, match="message 1 is"):
            chat.append([{"role": "user", "content": "fine"}, message])
        assert list(chat.messages()) == []


def test_an_object_of_a_provider_sdk_is_taken() -> None:
    class Answer:
        def model_dump(self, **options: Any) -> dict[str, Any]:
            return {"role": "assistant", "content": "hello"}

    with engine() as store:
        chat = store.conversation("lane")
        chat.append([Answer()])
        assert list(chat.export()) == [{"role": "assistant", "content": "hello"}]


def test_parts_of_one_anthropic_answer_share_its_id_and_are_all_kept() -> None:
    parts = [
        {"id": "msg_1", "type": "message", "role": "assistant",
         "content": [{"type": "text", "text": text}]} for text in ("first", "second")
    ]  # fmt: skip
    with engine() as store:
        chat = store.conversation("lane")
        chat.append(parts)
        assert list(chat.export()) == parts


def test_wrong_calls_are_usage_errors() -> None:
    with engine() as store:
        chat = store.conversation("lane")
        with pytest.raises(UsageError):
            chat.assemble(0)
        with pytest.raises(UsageError):
            chat.assemble(1_000, "cobol")
        with pytest.raises(UsageError):
            chat.append([{"role": "user", "content": "x"}], ids=["a", "b"])


def test_our_summaries_shown_back_are_never_stored() -> None:
    with engine() as store:
        chat = store.conversation("lane")
        chat.append(turns(60))
        chat.compact(6_000)
        shown = chat.assemble(6_000).messages
        asked = {"role": "user", "content": "and now?"}
        done = chat.sync([*shown, asked])
        assert done.added == 1
        assert list(chat.export())[-1] == asked


def test_auth_failures_never_make_a_summary() -> None:
    def write(request: lcm.Request) -> str:
        raise AuthError("401")

    with engine(summarizer=write) as store:
        chat = store.conversation("lane")
        chat.append(turns(60))
        done = chat.compact(3_000, force=True)
        assert done.outcome == "summarizer_failed"
        assert done.summaries == ()


def test_a_turn_succeeds_when_only_the_indexing_after_it_fails(tmp_path, caplog):
    path = tmp_path / "lcm.db"
    with lcm.open(path) as engine:
        chat = engine.conversation("lane")
        for batch in range(41):
            chat.append([{"role": "user", "content": f"w{batch} {n} hello"} for n in range(25)])
    with sqlite3.connect(path) as file:
        file.execute("UPDATE lossless_trigram_data SET block = x'01'")
    with lcm.open(path) as engine:
        chat = engine.conversation("lane")
        for batch in range(45):
            done = chat.append([{"role": "user", "content": f"n{batch} {n}"} for n in range(25)])
            assert done.added == 25
        assert sum(1 for _ in chat.messages()) == 86 * 25
    assert "the search indexes stay behind" in caplog.text


def test_a_missing_index_is_a_finding_and_no_error(tmp_path):
    path = tmp_path / "lcm.db"
    with lcm.open(path) as engine:
        engine.conversation("lane").append([{"role": "user", "content": "hello"}])
    with sqlite3.connect(path) as file:
        file.execute("DROP TABLE messages_fts")
    with lcm.open(path) as engine:
        found = {check.name: check for check in engine.verify().checks}
    assert found["search"].examples == ("the table messages_fts is missing",)
    assert found["messages"].faults == 0


def test_a_session_id_may_hold_a_lone_surrogate(tmp_path):
    path = tmp_path / "session.jsonl"
    path.write_text(
        '{"type":"session","version":3,"id":"\\ud800","timestamp":"2026-01-01T00:00:00Z"}\n'
        '{"type":"message","id":"a","parentId":null,"timestamp":"2026-01-01T00:00:00Z",'
        '"message":{"role":"user","content":"hi"}}\n'
    )
    with lcm.open(":memory:") as engine:
        assert [item.added for item in engine.import_file(path)] == [1]
        assert [item.added for item in engine.import_file(path)] == [0]
        assert engine.verify().ok
