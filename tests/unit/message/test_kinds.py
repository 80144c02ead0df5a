"""Every spelling of a block's type is read alike by what summarises and by what recalls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from lossless_claw.message import kinds
from lossless_claw.recall.text import full_text
from lossless_claw.summarize.body import message_text

READERS = pytest.mark.parametrize("read", [message_text, full_text])
Read = Callable[[dict[str, Any]], str]


def said(block: dict[str, Any]) -> dict[str, Any]:
    return {"role": "assistant", "content": [{"type": "text", "text": "so:"}, block]}


@READERS
@pytest.mark.parametrize("kind", sorted(kinds.CALLS))
def test_a_call_is_named(read: Read, kind: str) -> None:
    text = read(said({"type": kind, "name": "deploy", "input": {"to": "harbour"}}))
    assert "[call deploy]" in text
    assert '"harbour"' in text


@READERS
@pytest.mark.parametrize("kind", sorted(kinds.RESULTS))
@pytest.mark.parametrize("key", ["content", "output"])
def test_the_text_of_a_result_stands_as_it_is(read: Read, kind: str, key: str) -> None:
    assert "two\nlines" in read(said({"type": kind, key: "two\nlines"}))


@READERS
@pytest.mark.parametrize("kind", sorted(kinds.MEDIA))
def test_a_medium_is_named_and_its_bytes_are_not_read(read: Read, kind: str) -> None:
    text = read(said({"type": kind, "mimeType": "x/harbour", "data": "QUJD" * 200}))
    assert f"[{kinds.medium(kind)} x/harbour]" in text
    assert "QUJD" not in text


@READERS
@pytest.mark.parametrize("kind", sorted(kinds.TEXTS))
def test_text_is_text(read: Read, kind: str) -> None:
    assert read(said({"type": kind, "text": "the words"})) == "so:\nthe words"


@pytest.mark.parametrize("kind", sorted(kinds.REASONING))
def test_reasoning_is_marked_for_readers_and_left_out_of_summaries(kind: str) -> None:
    block = {"type": kind, "thinking": "hm"}
    assert message_text(said(block)) == "so:"
    assert "[thinking" in full_text(said(block))
