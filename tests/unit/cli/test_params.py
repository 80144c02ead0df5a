from __future__ import annotations

from datetime import UTC, datetime, timedelta

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lossless_claw.cli.params import Digits, required_selector, selector, time_range
from lossless_claw.errors import MissingSelectorError, SelectorError, TimeFilterError

NOW = datetime(2026, 6, 15, 12, 0, tzinfo=UTC)


def times(**given):
    options = {"after": None, "before": None, "between": None, "recency": None, **given}
    return time_range(**options, now=NOW)


@pytest.mark.parametrize("text", ["0", "501", "+5", "5.0", "5e1", " 5", "-5", "", "٥", "9" * 30])
def test_a_limit_that_is_no_plain_number_in_range_is_refused(text):
    with pytest.raises(click.BadParameter):
        Digits(1, 500).convert(text, None, None)


@pytest.mark.parametrize(("text", "number"), [("1", 1), ("500", 500), ("007", 7)])
def test_leading_zeros_are_accepted(text, number):
    assert Digits(1, 500).convert(text, None, None) == number


def test_a_number_beyond_sqlite_is_refused():
    assert Digits().convert(str(2**63 - 1), None, None) == 2**63 - 1
    with pytest.raises(click.BadParameter):
        Digits().convert(str(2**63), None, None)


def test_selectors_exclude_each_other_even_when_one_is_blank():
    assert selector(None, "  ") is None
    assert selector(3, None) == 3
    assert required_selector(None, " k ") == "k"
    with pytest.raises(SelectorError):
        selector(3, " ")
    with pytest.raises(MissingSelectorError):
        required_selector(None, "  ")


@pytest.mark.parametrize(
    ("text", "utc"),
    [
        ("2026-01-31T09:30Z", "2026-01-31T09:30:00.000000Z"),
        ("2026-01-31T09:30:15.123456789Z", "2026-01-31T09:30:15.123456Z"),
        ("2026-01-31T09:30:00+05:30", "2026-01-31T04:00:00.000000Z"),
        ("2028-02-29T00:00:00-01:00", "2028-02-29T01:00:00.000000Z"),
    ],
)
def test_times_with_a_zone_are_brought_to_utc(text, utc):
    assert times(after=text) == (utc, None)
    assert times(before=text) == (None, utc)


@pytest.mark.parametrize(
    "text",
    [
        "2031-02-29T00:00:00Z",
        "2031-04-02",
        "2031-04-02T09:00:00",
        "2031-04-02T25:00:00Z",
        "2031-04-02T09:60:00Z",
        "2031-04-02T09:00:00.1234567890Z",
        "2031-04-02T09:00:00+99:00",
        "2031-04-02 09:00:00Z",
        "0001-01-01T00:00:00+10:00",
        "",
    ],
)
def test_a_time_that_is_none_is_refused(text):
    with pytest.raises(TimeFilterError):
        times(after=text)


def test_recency_counts_back_from_now():
    assert times(recency="7D") == ("2026-06-08T12:00:00.000000Z", None)
    low, high = times(recency="2h", before="2026-06-15T11:00:00Z")
    assert (low, high) == ("2026-06-15T10:00:00.000000Z", "2026-06-15T11:00:00.000000Z")


@pytest.mark.parametrize("text", ["0d", "1mo", "d", "-1d", "1.5h", "1 d", "999999999w"])
def test_a_length_that_is_none_is_refused(text):
    with pytest.raises(TimeFilterError):
        times(recency=text)


A, B = "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"


@pytest.mark.parametrize(
    "given",
    [
        {"between": f"{A}.."},
        {"between": f"..{A}"},
        {"between": f"{A}..{A}"},
        {"between": f"{B}..{A}"},
        {"between": f"{A}..{B}..{B}"},
        {"between": f"{A}..{B}", "before": B},
        {"between": f"{A}..{B}", "recency": "1d"},
        {"recency": "1d", "after": A},
        {"after": B, "before": A},
    ],
)
def test_ranges_that_make_no_sense_are_refused(given):
    with pytest.raises(TimeFilterError):
        times(**given)


def test_between_is_both_bounds():
    assert times(between=f"{A}..{B}") == times(after=A, before=B)


@given(st.integers(0, 7 * 10**15))
def test_any_instant_is_read_back(micros):
    instant = datetime(1971, 1, 1, tzinfo=UTC) + timedelta(microseconds=micros)
    text = instant.isoformat(timespec="microseconds").replace("+00:00", "Z")
    assert times(after=text)[0] == text
