"""Whatever a provider reads of a message is paid for; payloads cost a fixed amount (G4)."""

from __future__ import annotations

import pytest

from lossless_claw.message.parts import single_text
from lossless_claw.message.price import tokens_of
from lossless_claw.model import Raw
from lossless_claw.tokens import IMAGE_TOKENS, estimate

BIG = "every word of this has to be paid for. " * 500
PAYLOAD = "QUJD" * 20_000


def price(message: Raw) -> int:
    return tokens_of(message, single_text(message))


@pytest.mark.parametrize(
    "message",
    [
        {"role": "user", "content": BIG},
        {"role": "user", "content": [{"type": "text", "text": "hi"}, {"type": "x", "blob": BIG}]},
        {"role": "user", "content": [{"type": "text", "text": "hi", "citations": BIG}]},
        {"role": "assistant", "content": [{"type": "thinking", "thinking": "", "signature": BIG}]},
        {"role": "user", "content": [
            {"type": "document", "source": {"type": "text", "data": BIG}}]},
        {"role": "assistant", "content": None, "tool_calls": [
            {"id": "c", "type": "custom", "custom": {"name": "f", "input": BIG}}]},
        {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": BIG}},
        {"role": "assistant", "content": None, "refusal": BIG},
        {"role": "user", "content": {"text": "x", "other": BIG}},
        {"type": "function_call_output", "call_id": "c", "output": BIG},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": [
            {"type": "text", "text": BIG}]}]},
    ],
)  # fmt: skip
def test_every_string_that_is_sent_is_paid_for_once(message: Raw) -> None:
    frame = 60 + (IMAGE_TOKENS if "document" in str(message) else 0)
    assert estimate(BIG) <= price(message) <= estimate(BIG) * 1.05 + frame


@pytest.mark.parametrize("nested", [False, True])
def test_a_payload_costs_a_fixed_amount_wherever_it_stands(nested: bool) -> None:
    images = [{"type": "image", "source": {"type": "base64", "data": PAYLOAD}}] * 3
    inner = [{"type": "tool_result", "tool_use_id": "t", "content": images}] if nested else images
    cost = price({"role": "user", "content": inner})
    assert 3 * IMAGE_TOKENS <= cost <= 3 * IMAGE_TOKENS + 120


def test_what_only_the_host_reads_is_free() -> None:
    bare = {"role": "assistant", "content": "hi"}
    assert price({**bare, "usage": {"cost": BIG}, "details": BIG, "id": BIG}) == price(bare)


def test_many_blocks_cost_their_length() -> None:
    blocks = [{"type": "text", "text": f"block {n} " * 20} for n in range(20_000)]
    total = sum(estimate(str(block["text"])) for block in blocks)
    assert abs(price({"role": "user", "content": blocks}) - total) < 0.1 * total


def test_deep_nesting_is_priced_too() -> None:
    deep: object = BIG
    for _ in range(400):
        deep = [deep]
    assert price({"role": "user", "content": deep}) >= estimate(BIG)
