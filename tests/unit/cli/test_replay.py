from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lossless_claw.cli.demo import excerpt
from lossless_claw.cli.replay import turns
from lossless_claw.model import Entry


def entry(role, content="x"):
    return Entry({"role": role, "content": content})


def sizes(*entries):
    return [len(turn) for turn in turns(entries)]


def test_a_turn_begins_with_what_a_user_says():
    user, agent, tool = entry("user"), entry("assistant"), entry("toolResult")
    assert sizes(user, agent, tool, agent, user, agent) == [4, 2]
    assert sizes(agent, user) == [1, 1]
    assert sizes() == []


def test_tool_results_in_a_users_message_open_no_turn():
    result = {"type": "tool_result", "tool_use_id": "t", "content": "ok"}
    alone = entry("user", [result])
    said = entry("user", [result, {"type": "text", "text": "and now"}])
    assert sizes(entry("user"), entry("assistant"), alone, entry("assistant")) == [4]
    assert sizes(entry("user"), entry("assistant"), said) == [2, 1]


@given(st.text("ab \n", max_size=3_000), st.text("ab \n", max_size=3_000))
def test_an_excerpt_is_verbatim_and_holds_the_needle(before, after):
    text = f"{before}NEEDLE{after}"
    shown, mark, _ = f"{excerpt(text, 'NEEDLE')}\n[".rpartition("\n[")
    shown = shown.rpartition("\n[")[0] or shown
    assert mark
    assert "NEEDLE" in shown
    assert shown in text
    assert len(shown) <= 720


def test_a_short_message_is_shown_whole():
    assert excerpt("a\nb NEEDLE", "NEEDLE") == "a\nb NEEDLE"
