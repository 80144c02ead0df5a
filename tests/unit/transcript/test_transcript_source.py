from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lossless_claw.errors import TranscriptError
from lossless_claw.transcript.parsing import Broken
from lossless_claw.transcript.source import ItemSource, Line, LineSource, Oversize, walk_lines


def walk(data, limit=10, size=None):
    return list(walk_lines(io.BytesIO(data), len(data) if size is None else size, limit))


def test_lines_carry_number_offset_and_newline():
    assert walk(b"a\nbc\r\n\nd") == [
        Line(1, 0, b"a\n"),
        Line(2, 2, b"bc\r\n"),
        Line(3, 6, b"\n"),
        Line(4, 7, b"d"),
    ]


def test_a_byte_order_mark_is_no_part_of_the_first_line():
    assert walk(b"\xef\xbb\xbfa\n") == [Line(1, 3, b"a\n")]


def test_nothing_beyond_the_size_is_read():
    assert walk(b"ab\ncd\nef\n", size=7) == [
        Line(1, 0, b"ab\n"),
        Line(2, 3, b"cd\n"),
        Line(3, 6, b"e"),
    ]


@pytest.mark.parametrize("length", [10, 11, 12, 13, 5000])
def test_the_limit_counts_bytes_without_the_newline(length):
    first, second = walk(b"x" * length + b"\nyy\n")
    assert second == Line(2, length + 1, b"yy\n")
    whole = b"x" * length + b"\n"
    assert first.raw == (whole if length == 10 else Oversize(length + 1, has_end=True))


def test_an_oversize_last_line_without_newline_has_no_end():
    assert walk(b"x" * 50)[0].raw == Oversize(50, has_end=False)


@given(st.lists(st.binary(max_size=30).map(lambda b: b.replace(b"\n", b"")), max_size=12))
def test_offsets_and_sizes_cover_the_file(lines):
    data = b"".join(line + b"\n" for line in lines)
    at = 3 if data.startswith(b"\xef\xbb\xbf") else 0
    for line in walk(data):
        assert line.offset == at
        size = line.raw.size if isinstance(line.raw, Oversize) else len(line.raw)
        at += size
    assert at == len(data)


def open_source(path, data, limit=1000):
    path.write_bytes(data)
    return LineSource(path, path.stat(), limit)


def test_the_last_line_counts_only_when_it_is_whole(tmp_path):
    source = open_source(tmp_path / "a", b'{"a":1}\n{"b":')
    records = list(source.scan())
    assert records[0].value == {"a": 1}
    assert records[1].value == Broken("last line is incomplete")
    assert source.size == 8


def test_a_valid_last_line_needs_no_newline(tmp_path):
    source = open_source(tmp_path / "a", b'{"a":1}\n{"b":2}')
    assert [record.value for record in source.scan()] == [{"a": 1}, {"b": 2}]
    assert source.size == 15


def test_a_broken_line_in_the_middle_is_not_called_incomplete(tmp_path):
    source = open_source(tmp_path / "a", b'{"b":\n{"a":1}\n')
    assert "not valid JSON" in next(source.scan()).value.reason


def test_blank_lines_count_as_lines_and_are_no_records(tmp_path):
    source = open_source(tmp_path / "a", b'\n \t\r\n{"a":1}\r\n\n')
    assert [(record.line, record.value) for record in source.scan()] == [(3, {"a": 1})]
    assert source.size == 15


def test_an_oversize_line_is_reported_with_its_size(tmp_path):
    source = open_source(tmp_path / "a", b"x" * 2000 + b'\n{"a":1}\n')
    records = list(source.scan())
    assert records[0].value == Broken("line of 2,001 bytes is over the limit of 1,000 bytes")
    assert (records[1].line, records[1].value) == (2, {"a": 1})


def test_records_are_fetched_by_place_in_any_order(tmp_path):
    source = open_source(tmp_path / "a", b'\xef\xbb\xbf{"n":1}\n{"n":2}\n{"n":3}')
    places = [record.place for record in source.scan()]
    assert [value["n"] for value in source.fetch(places)] == [1, 2, 3]
    assert [value["n"] for value in source.fetch([places[2], places[0]])] == [3, 1]


def test_what_is_appended_later_does_not_matter(tmp_path):
    source = open_source(tmp_path / "a", b'{"n":1}\n')
    places = [record.place for record in source.scan()]
    with (tmp_path / "a").open("ab") as file:
        file.write(b'{"n":2}\n')
    assert list(source.fetch(places)) == [{"n": 1}]


@pytest.mark.parametrize(
    "later", [b'{"n":1}\n', b'{"n":9}\n{"n":2}\n', b'{"n":1}\n{"n":7}\n{"n":8}\n', b""]
)
def test_a_file_that_was_rewritten_is_refused(tmp_path, later):
    source = open_source(tmp_path / "a", b'{"n":1}\n{"n":2}\n')
    places = [record.place for record in source.scan()]
    (tmp_path / "a").write_bytes(later)
    with pytest.raises(TranscriptError, match="changed while it was being read"):
        list(source.fetch(places))


def test_a_file_that_vanished_is_refused(tmp_path):
    source = open_source(tmp_path / "a", b'{"n":1}\n')
    places = [record.place for record in source.scan()]
    (tmp_path / "a").unlink()
    with pytest.raises(TranscriptError, match="cannot be read"):
        list(source.fetch(places))


def test_items_are_fetched_by_index():
    assert list(ItemSource(["a", "b", "c"]).fetch([2, 0])) == ["c", "a"]
