from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lossless_claw.transcript.parsing import DEPTH_LIMIT, Broken, name_type, parse

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(values)
def test_what_json_writes_is_read_back_equal(value):
    for ascii_only in (True, False):
        raw = json.dumps(value, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")
        try:
            raw.decode("utf-8")
        except UnicodeDecodeError:
            assert isinstance(parse(raw), Broken)
        else:
            assert parse(raw) == value


@given(st.text(alphabet='{}[]",:0123456789.eE+-\\ud8dc \ttrufalsn\n\x00é', max_size=30))
def test_any_text_gives_what_the_standard_library_gives(text):
    raw = text.encode()
    try:
        expected = json.loads(text)
    except ValueError:
        assert isinstance(parse(raw), Broken)
    else:
        assert repr(parse(raw)) == repr(expected)


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (rb'"\ud800"', "\ud800"),
        (rb'"\udc00\ud800"', "\udc00\ud800"),
        (rb'"a\u0000b"', "a\0b"),
        (b"1e400", math.inf),
        (b"-1e400", -math.inf),
        (b"Infinity", math.inf),
        (b"1" * 40, int("1" * 40)),
        (b'{"a":1,"a":2}', {"a": 2}),
    ],
)
def test_values_at_the_edge_survive(raw, expected):
    assert parse(raw) == expected


def test_nan_survives():
    assert math.isnan(parse(b'{"x":NaN}')["x"])


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b'{"a":"\xff"}', "not valid UTF-8 at byte 7 of the line"),
        (b'"\xed\xa0\x80"', "not valid UTF-8 at byte 2 of the line"),
        (b'{"a":1', "not valid JSON: Expecting ',' delimiter at column 7"),
        (b'{"a":1,}', "not valid JSON"),
        (b'{\n"a" 1}', "not valid JSON: Expecting ':' delimiter at line 2, column 5"),
        (b"1" * 5000, "cannot be parsed"),
        (b"[" * 100_000, "nested deeper than 500 levels"),
        (b"[" * 100_000 + b"]" * 100_000, "nested deeper than 500 levels"),
        (b"[" * 501 + b"1" + b"]" * 501, "nested deeper than 500 levels"),
    ],
)
def test_a_text_that_cannot_be_parsed_says_why(raw, reason):
    value = parse(raw)
    assert isinstance(value, Broken)
    assert value.reason.startswith(reason)


def test_nesting_up_to_the_limit_is_read():
    raw = b'{"a":' * DEPTH_LIMIT + b"1" + b"}" * DEPTH_LIMIT
    assert isinstance(parse(raw), dict)


def test_many_brackets_without_depth_are_read():
    assert len(parse(b"[" + b"[]," * 2000 + b"[]]")) == 2001


@pytest.mark.parametrize(
    ("value", "name"),
    [([], "a list"), ("", "a string"), (1, "a number"), (1.5, "a number"), (True, "a boolean"),
     (None, "null"), ({}, "an object")],
)  # fmt: skip
def test_types_have_their_json_names(value, name):
    assert name_type(value) == name
