from __future__ import annotations

import pytest

from lossless_claw.config.patterns import parse


@pytest.mark.parametrize(
    ("glob", "name", "fits"),
    [
        ("agent:*:cron:**", "agent:main:cron:job:1", True),
        ("agent:*:cron:**", "agent:a:b:cron:x", False),
        ("agent:*", "agent:main", True),
        ("agent:*", "agent:main:x", False),
        ("agent:*", "xagent:main", False),
        ("**", "any:thing\nat all", True),
        ("a?c", "a?c", True),
        ("a?c", "c", False),
        ("a.c", "abc", False),
        ("", "", False),
        ("***", "a:b", True),
    ],
)
def test_a_glob_fits_the_whole_name(glob, name, fits):
    assert parse([glob]).match(name) is fits


def test_ignoring_looks_at_the_key_and_only_without_one_at_the_id():
    patterns = parse([" id-* ", " "])
    assert patterns.globs == ("id-*",)
    assert patterns.ignore(None, "id-1")
    assert not patterns.ignore("agent:main:main", "id-1")
    assert patterns.ignore("id-9", "other")


def test_stateless_sessions_are_named_by_key_alone():
    assert parse(["a"]).name_stateless("a")
    assert not parse(["**"]).name_stateless(None)
