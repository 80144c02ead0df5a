"""A sweep ends in a named state, loses nothing and never adds tokens, whatever the summarizer."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lossless_claw.boundary import newest_user, open_call
from lossless_claw.clock import Deadline
from lossless_claw.compact import End, Limits, Sweep, sweep
from lossless_claw.model import Item, Message, Summary
from lossless_claw.summarize import Extractive, Request, Summarizer
from lossless_claw.testing.summarizers import BEHAVIOURS, Scripted
from lossless_claw.tokens import estimate, summary_item_tokens


class HeldClock:
    """Time that passes only when told."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def now(self) -> datetime:
        return datetime(2026, 3, 9, tzinfo=UTC)

    def monotonic(self) -> float:
        return self.seconds

    def passes(self, seconds: float) -> None:
        self.seconds += seconds


class History:
    """Messages and summaries in memory, and the items that stand for them."""

    def __init__(self) -> None:
        self.stored: dict[int, Message] = {}
        self.nodes: dict[str, Summary] = {}
        self.items: list[Item] = []

    def add(
        self,
        role: str,
        text: str,
        calls: tuple[str, ...] = (),
        results: tuple[str, ...] = (),
    ) -> None:
        number = len(self.stored) + 1
        time = f"2026-03-09T{number // 60 % 24:02d}:{number % 60:02d}:00Z"
        original = {"role": role, "content": text}
        self.stored[number] = Message(number, 1, number, role, text, 0, time, None, None, original)
        tokens = estimate(text) + 4
        self.items.append(Item(len(self.items), number, tokens, role, None, calls, results))

    def add_summary(self, depth: int, text: str) -> None:
        name = f"sum_{len(self.nodes)}"
        time = "2026-03-08T00:00:00Z"
        self.nodes[name] = Summary(name, 1, depth, text, 0, time, time, 0, 0, 0, time, "m")
        tokens = summary_item_tokens(text, 2 if depth else 0)
        self.items.append(Item(len(self.items), name, tokens, "summary", depth))

    def messages(self, ids: Sequence[int]) -> list[Message]:
        return [self.stored[number] for number in ids]

    def summaries(self, ids: Sequence[str]) -> list[Summary]:
        return [self.nodes[name] for name in ids]


def words(number: int, count: int) -> str:
    return " ".join(f"{'abcdefgh'[(number + n) % 8]}{'xyzuvw'[n % 6]}word" for n in range(count))


def talk(turns: int, size: int = 60) -> History:
    history = History()
    for n in range(turns):
        history.add("user", f"Question {n}: what about file_{n}.py? {words(n, size)}.")
        history.add("assistant", f"Answer {n}: see src/mod_{n}/impl.py. {words(n + 3, size)}.")
    return history


def swept(history: History, limits: Limits, summarizer: Summarizer, **options: object) -> Sweep:
    return sweep(
        history.items, limits, read=history, summarizer=summarizer, clock=HeldClock(), **options
    )  # type: ignore[arg-type]


def expanded(result: Sweep) -> list[int | str]:
    """Return what the items of *result* cover, in order, drafts replaced by their sources."""
    drafts = {draft.key: draft for draft in result.drafts}

    def walk(ref: int | str) -> list[int | str]:
        draft = drafts.get(str(ref))
        return [ref] if draft is None else [leaf for s in draft.sources for leaf in walk(s)]

    return [leaf for item in result.items for leaf in walk(item.ref)]


def check(history: History, limits: Limits, result: Sweep) -> None:
    """Assert what holds after every sweep."""
    items = history.items
    assert expanded(result) == [item.ref for item in items]
    assert result.tokens_before == sum(item.tokens for item in items)
    assert result.tokens_after == sum(item.tokens for item in result.items)
    assert result.tokens_after <= result.tokens_before
    assert (result.end is End.UNDER_TARGET) is bool(items and result.tokens_after <= limits.target)
    assert result.passes == len(result.drafts)
    ordinals = [item.ordinal for item in result.items]
    assert ordinals == sorted(set(ordinals))
    user, opened = newest_user(items), open_call(items)
    left = {item.ref for item in result.items}
    assert user is None or items[user].ref in left
    assert opened is None or {item.ref for item in items[opened:]} <= left
    for draft in result.drafts:
        assert draft.text.strip()
        assert draft.tokens == summary_item_tokens(
            draft.text, len(draft.sources) if draft.depth else 0
        )
        assert all(isinstance(s, int) is (draft.depth == 0) for s in draft.sources)


SMALL = Limits.for_budget(4_000)


def test_a_working_summarizer_brings_it_under_the_target() -> None:
    history = talk(40)
    result = swept(history, SMALL, Scripted())
    check(history, SMALL, result)
    assert result.end is End.UNDER_TARGET
    assert any(item.depth for item in result.items)


def test_many_tiny_turns_converge_too() -> None:
    history = History()
    for n in range(400):
        history.add("user", f"ok {n}")
        history.add("assistant", "done")
    limits = Limits.for_budget(1_500)
    result = swept(history, limits, Extractive())
    check(history, limits, result)
    assert result.end is End.UNDER_TARGET


def test_short_requests_between_long_tool_rounds_do_not_stop_it() -> None:
    """Mid-turn sweeps leave each request alone between summaries; later sweeps join them."""
    history = History()
    for n in range(12):
        history.add_summary(1, f"Round {n}: " + words(n, 60))
        history.add("user", f"next {n}")
    history.add("assistant", "working")
    limits = Limits.for_budget(2_000)
    result = swept(history, limits, Extractive())
    check(history, limits, result)
    assert result.end is End.UNDER_TARGET
    assert any(draft.model == "verbatim" for draft in result.drafts)


def test_a_word_for_word_draft_that_nothing_was_made_of_is_taken_back() -> None:
    history = History()
    for n in range(3):
        history.add_summary(1, words(n, 200))
        history.add("user", f"next {n}")
    history.add("assistant", "working")
    limits = Limits.for_budget(1_000)
    result = swept(history, limits, Scripted("blank"), max_calls=50)
    check(history, limits, result)
    assert result.drafts == ()
    assert result.items == tuple(history.items)


def test_what_a_word_for_word_draft_costs_more_does_not_count_as_a_gain() -> None:
    history = History()
    history.add("user", "Item 0 of part_0. ")
    history.add_summary(0, "Item 1 of part_1. ")
    history.add("user", words(2, 50))
    limits = Limits.for_budget(300)
    result = swept(history, limits, Scripted("blank"), force=True)
    check(history, limits, result)
    assert result.drafts == ()


@pytest.mark.parametrize(
    ("behaviour", "end", "most_calls"),
    [
        ("blank", End.NO_PROGRESS, 4),
        ("echo", End.NO_PROGRESS, 4),
        ("huge", End.NO_PROGRESS, 4),
        ("error", End.NO_PROGRESS, 4),
        ("cut", End.NO_PROGRESS, 4),
        ("auth", End.SUMMARIZER_FAILED, 1),
        ("rate", End.SUMMARIZER_FAILED, 1),
        ("timeout", End.SUMMARIZER_FAILED, 1),
        ("raise", End.SUMMARIZER_FAILED, 1),
    ],
)
def test_a_failing_summarizer_leaves_the_raw_messages(
    behaviour: str, end: End, most_calls: int
) -> None:
    history = talk(40)
    result = swept(history, SMALL, Scripted(behaviour))
    check(history, SMALL, result)
    assert result.end is end
    assert result.calls <= most_calls
    assert result.drafts == ()
    assert result.tokens_after == result.tokens_before
    assert result.detail


@pytest.mark.parametrize("behaviour", sorted(set(BEHAVIOURS) - {"auth"}))
def test_under_force_every_summarizer_converges(behaviour: str) -> None:
    history = talk(40)
    result = swept(history, SMALL, Scripted(behaviour), force=True, max_calls=12)
    check(history, SMALL, result)
    assert result.end is End.UNDER_TARGET
    assert result.calls <= 12
    assert not any("quota" in draft.text for draft in result.drafts)


def test_under_force_a_summarizer_that_raises_is_asked_once() -> None:
    summarizer = Scripted("raise")
    result = swept(talk(40), SMALL, summarizer, force=True)
    assert result.end is End.UNDER_TARGET
    assert summarizer.calls == 1
    assert {draft.level for draft in result.drafts} == {"fallback"}


def test_refused_credentials_end_even_a_forced_sweep_without_a_draft() -> None:
    result = swept(talk(40), SMALL, Scripted("auth"), force=True)
    assert (result.end, result.drafts) == (End.SUMMARIZER_FAILED, ())


def test_the_call_cap_binds_and_what_was_made_is_kept() -> None:
    history = talk(80)
    result = swept(history, SMALL, Scripted(), max_calls=2)
    check(history, SMALL, result)
    assert result.end is End.CALL_CAP
    assert (result.calls, result.passes) == (2, 2)


def test_the_call_cap_binds_inside_a_pass() -> None:
    summarizer = Scripted("blank")
    result = swept(talk(80), SMALL, summarizer, max_calls=1)
    assert (result.end, summarizer.calls) == (End.CALL_CAP, 1)


def test_a_free_summarizer_knows_no_cap() -> None:
    result = swept(talk(80), SMALL, Scripted(free=True), max_calls=1)
    assert result.end is End.UNDER_TARGET
    assert result.calls > 1


def test_no_pass_starts_after_the_deadline() -> None:
    clock = HeldClock()
    summarizer = Scripted(takes=lambda: clock.passes(5))
    history = talk(80)
    result = sweep(
        history.items,
        SMALL,
        read=history,
        summarizer=summarizer,
        clock=clock,
        deadline=Deadline.after(clock, 9),
    )
    check(history, SMALL, result)
    assert result.end is End.DEADLINE
    assert summarizer.calls == 2
    assert result.passes == 2


def test_a_cancelled_sweep_ends_at_once() -> None:
    cancel = threading.Event()
    summarizer = Scripted(takes=cancel.set)
    result = swept(talk(80), SMALL, summarizer, cancel=cancel)
    assert (result.end, summarizer.calls) == (End.CANCELLED, 1)


def test_an_empty_context_is_named_so() -> None:
    assert swept(History(), SMALL, Scripted()).end is End.EMPTY


def test_under_the_target_no_summarizer_is_asked() -> None:
    result = swept(talk(3), SMALL, Scripted())
    assert (result.end, result.calls, result.drafts) == (End.UNDER_TARGET, 0, ())


def test_everything_protected_costs_no_call() -> None:
    history = History()
    history.add("user", words(0, 3_000))
    history.add("assistant", "", calls=("c9",))
    summarizer = Scripted()
    result = swept(history, SMALL, summarizer, force=True)
    assert (result.end, summarizer.calls) == (End.NOTHING_LEFT, 0)
    assert result.tokens_after == result.tokens_before


def test_messages_without_words_cost_no_call() -> None:
    history = History()
    for _ in range(30):
        history.add("assistant", "")
    history.items = [Item(i.ordinal, i.ref, 100, i.role, None) for i in history.items]
    history.add("user", words(1, 200))
    summarizer = Scripted()
    result = swept(history, Limits.for_budget(2_400), summarizer)
    assert summarizer.calls == 0
    assert result.drafts
    for draft in result.drafts:
        assert draft.sources
        assert draft.text == f"[{len(draft.sources)} messages without text]"


def test_every_request_fits_the_window_and_every_message_is_in_one() -> None:
    history = talk(300, size=4)
    summarizer = Scripted(context_window=3_000)
    limits = Limits.for_budget(6_000, context_window=3_000)
    result = swept(history, limits, summarizer)
    check(history, limits, result)
    leaves = [request for request in summarizer.requests if request.kind == "leaf"]
    assert all(estimate(request.source) <= 1_500 for request in leaves)
    for draft in result.drafts:
        for source in draft.sources:
            if isinstance(source, int):
                asked = history.stored[source].content.split(":")[0] + ":"
                assert sum(f"{asked} " in request.source for request in leaves) == 1


def test_a_leaf_is_told_what_came_before_it() -> None:
    summarizer = Scripted()
    swept(talk(60), SMALL, summarizer)
    leaves = [request for request in summarizer.requests if request.kind == "leaf"]
    assert leaves[0].previous == ""
    assert "Question 0" in leaves[1].previous or "Answer 0" in leaves[1].previous


def test_stored_summaries_are_read_and_condensed() -> None:
    history = History()
    for n in range(8):
        history.add_summary(0, f"Fact {n}: port {8000 + n}. " + words(n, 150))
    history.add("user", "go on")
    result = swept(history, Limits.for_budget(2_000), Extractive())
    (draft, *_) = result.drafts
    assert draft.depth == 1
    assert set(draft.sources) <= set(history.nodes)
    assert "2026-03-08" in draft.text


def test_a_draft_is_named_by_what_it_holds() -> None:
    first, second = (swept(talk(40), SMALL, Extractive()) for _ in range(2))
    assert [d.key for d in first.drafts] == [d.key for d in second.drafts]
    assert len({d.key for d in first.drafts}) == len(first.drafts)


def test_a_later_sweep_goes_on_where_a_cut_one_stopped() -> None:
    history = talk(80)
    first = swept(history, SMALL, Scripted(), max_calls=3)
    for draft in first.drafts:
        history.nodes[draft.key] = Summary(
            draft.key, 1, draft.depth, draft.text, 0, None, None, 0, 0, 0, "2026-03-09", "m"
        )
    history.items = list(first.items)
    second = swept(history, SMALL, Scripted())
    check(history, SMALL, second)
    assert second.end is End.UNDER_TARGET


TURNS = st.lists(
    st.tuples(
        st.sampled_from(["u", "a", "exchange", "blank", "summary"]),
        st.integers(0, 120),
        st.integers(1, 3),
    ),
    max_size=40,
)


def generated(turns: list[tuple[str, int, int]], *, is_open: bool) -> History:
    history = History()
    for number, (kind, size, width) in enumerate(turns):
        text = f"Item {number} of part_{number}. {words(number, size)}"
        calls = tuple(f"c{number}_{n}" for n in range(width))
        if kind == "exchange":
            history.add("assistant", text, calls=calls)
            for call in reversed(calls):
                history.add("tool", f"result of {call} {words(number, size)}", results=(call,))
        elif kind == "summary":
            history.add_summary(width - 1, text)
        else:
            role = "user" if kind == "u" else "assistant"
            history.add(role, "" if kind == "blank" else text)
    if is_open:
        history.add("assistant", "working", calls=("open",))
    return history


@given(
    TURNS,
    st.sampled_from([300, 1_000, 3_000]),
    st.lists(st.sampled_from(sorted(BEHAVIOURS)), min_size=1, max_size=6),
    st.booleans(),
    st.booleans(),
    st.one_of(st.none(), st.integers(0, 6)),
)
@settings(max_examples=150, deadline=None)
def test_every_sweep_ends_named_within_its_cap_and_covers_everything(
    turns: list[tuple[str, int, int]],
    budget: int,
    script: list[str],
    force: bool,
    is_open: bool,
    cap: int | None,
) -> None:
    history = generated(turns, is_open=is_open)
    limits = Limits.for_budget(budget)
    summarizer = Scripted(script)
    result = swept(history, limits, summarizer, force=force, max_calls=cap)
    check(history, limits, result)
    assert result.calls == summarizer.calls
    assert cap is None or summarizer.calls <= cap


def test_no_request_is_aggressive_at_first() -> None:
    seen: list[Request] = []
    swept(talk(40), SMALL, Scripted(lambda request: seen.append(request) or "short"))  # type: ignore[func-returns-value]
    assert seen
    assert not any(request.aggressive for request in seen)
