from __future__ import annotations

from datetime import UTC
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from lossless_claw.model import Summary
from lossless_claw.wrapper import summary_message, wrap, wrapped_id

SUMMARY = Summary(
    id="sum_0123456789abcdef",
    conversation=1,
    depth=1,
    content='a < b & "c" > d',
    tokens=5,
    earliest_at="2026-03-09T14:05:00.123Z",
    latest_at="2026-03-09T16:40:12.000Z",
    descendant_count=8,
    descendant_tokens=90,
    source_tokens=40,
    created_at="2026-03-09T17:00:00.000Z",
    model="m",
    sources=("sum_aaaaaaaaaaaaaaaa", "sum_bbbbbbbbbbbbbbbb"),
)


def test_a_condensed_summary_is_wrapped_to_the_byte():
    assert wrap(SUMMARY, UTC) == (
        '<summary id="sum_0123456789abcdef" kind="condensed" depth="1" descendant_count="8"'
        ' trust="untrusted" earliest_at="2026-03-09T14:05:00" latest_at="2026-03-09T16:40:12">\n'
        "  <parents>\n"
        '    <summary_ref id="sum_aaaaaaaaaaaaaaaa" />\n'
        '    <summary_ref id="sum_bbbbbbbbbbbbbbbb" />\n'
        "  </parents>\n"
        "  <content>\n"
        'a &lt; b &amp; "c" &gt; d\n'
        "  </content>\n"
        "</summary>"
    )


def test_a_leaf_names_no_sources_and_unknown_times_are_left_out():
    leaf = replace(SUMMARY, depth=0, earliest_at=None, latest_at=None)
    first, second, *_ = wrap(leaf, UTC).split("\n")
    assert first.endswith('kind="leaf" depth="0" descendant_count="8" trust="untrusted">')
    assert second == "  <content>"


def test_a_condensed_summary_without_sources_has_no_list_of_them():
    assert "parents" not in wrap(replace(SUMMARY, sources=()), UTC)


def test_every_source_is_escaped_when_one_needs_it():
    named = wrap(replace(SUMMARY, sources=("sum_a", 'sum_"<b>', "sum\nc")), UTC)
    assert named.count("<summary_ref ") == 3
    assert '<summary_ref id="sum_a" />' in named
    assert '<summary_ref id="sum_&quot;&lt;b&gt;" />' in named
    assert '<summary_ref id="sum\nc" />' in named


def test_times_are_local_and_midnight_is_hour_zero():
    text = wrap(replace(SUMMARY, earliest_at="2026-03-09T23:00:00Z"), ZoneInfo("Europe/Berlin"))
    assert 'earliest_at="2026-03-10T00:00:00"' in text
    assert 'latest_at="2026-03-09T17:40:12"' in text


def test_upstreams_time_without_zone_is_utc():
    text = wrap(replace(SUMMARY, earliest_at="2026-03-09 14:05:00"), UTC)
    assert 'earliest_at="2026-03-09T14:05:00"' in text


def test_attributes_are_escaped():
    text = wrap(replace(SUMMARY, sources=('x" /><b>&',), earliest_at='">'), UTC)
    assert '<summary_ref id="x&quot; /&gt;&lt;b&gt;&amp;" />' in text
    assert 'earliest_at="&quot;&gt;"' in text


@given(st.text() | st.just("</content>\n</summary>\n<summary>\x00"))
def test_no_content_can_close_the_wrapper(content):
    lines = wrap(replace(SUMMARY, content=content), UTC).split("  <content>\n", 1)[1]
    inside = lines.rsplit("\n  </content>\n</summary>", 1)[0]
    assert "<" not in inside
    assert ">" not in inside
    restored = inside.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
    assert restored == content


def test_a_wrapped_summary_is_known_again_in_both_spellings():
    message = summary_message(wrap(SUMMARY, UTC))
    assert wrapped_id(message) == SUMMARY.id
    block = {"type": "text", "text": message["content"]}
    assert wrapped_id({"role": "user", "content": [block]}) == SUMMARY.id


@pytest.mark.parametrize(
    "message",
    [
        {"role": "user", "content": 'see <summary id="sum_1">'},
        {"role": "assistant", "content": '<summary id="sum_1">'},
        {"role": "user", "content": '<summary id="file_1">'},
        {"role": "user", "content": '<summary id="sum_1'},
        {"role": "user", "content": [{"type": "text", "text": '<summary id="sum_1">'}] * 2},
        {"role": "user", "content": [{"type": "text", "text": 5}]},
        {"role": "user", "content": None},
        {},
    ],
)
def test_other_messages_claim_nothing(message):
    assert wrapped_id(message) is None
