"""The verdict names what is not well, and one command for it."""

from __future__ import annotations

from lossless_claw.maintain.status import Health, judge
from lossless_claw.store.condition import Condition, FullContext
from lossless_claw.store.sources import Source

SOURCE = Source("/s/a.jsonl", 1, "openclaw", 100, 5, 100, 3, "2026-01-01 00:00:00")
WELL = Condition(True, 0, 0, 0, (), (SOURCE,))


def look_like(size: int, mtime: int) -> object:
    return lambda path: (size, mtime)


def test_an_unchanged_transcript_is_healthy() -> None:
    verdict = judge(WELL, look_like(100, 5))
    assert (verdict.health, verdict.reasons, verdict.next) == (Health.HEALTHY, (), None)
    assert verdict.transcripts == 1


def test_a_transcript_that_grew_is_a_gap() -> None:
    verdict = judge(WELL, look_like(160, 9))
    assert verdict.health is Health.WARNING
    assert [(gap.path, gap.bytes_more) for gap in verdict.gaps] == [("/s/a.jsonl", 60)]
    assert verdict.next == "lcm import /s/a.jsonl"


def test_a_transcript_that_is_gone_is_no_gap() -> None:
    verdict = judge(WELL, lambda path: None)
    assert verdict.health is Health.HEALTHY
    assert verdict.transcripts_gone == 1


def test_a_context_over_its_budget_asks_for_compaction() -> None:
    full = Condition(True, 0, 0, 0, (FullContext(4, 9_000, 8_000),), ())
    verdict = judge(full, lambda path: None)
    assert verdict.next == "lcm compact --conversation-id 4 --budget 8000"
    assert "9,000" in verdict.reasons[0]


def test_the_search_says_when_it_scans() -> None:
    assert judge(Condition(False, 0, 0, 0, (), ()), lambda path: None).reasons
    assert judge(Condition(True, 5_000, 0, 0, (), ()), lambda path: None).reasons
