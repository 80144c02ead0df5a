from __future__ import annotations

import io
import json
import sys

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from lossless_claw.cli import output
from lossless_claw.cli.output import Answer
from lossless_claw.cli.session import Session


class Node(msgspec.Struct, frozen=True):
    long_name: str
    inner_values: tuple[int, ...] = ()


HARD = {
    "items": [
        {"id": 1, "text": "tab\there\nline", "none": None, "yes": True},
        {"id": 2, "text": "日本\x1b[31m\ud800", "extra": {"a": [1, "é"]}},
    ],
    "conversationId": None,
}
ANSWER = Answer("x.list", HARD, {"limit": 2, "nextCursor": None}, {"databasePath": "/d"})


class Stdout(io.TextIOWrapper):
    """A stdout whose bytes can be read, in a locale that knows only ASCII."""

    def __init__(self, *, is_terminal=False):
        super().__init__(io.BytesIO(), encoding="ascii", write_through=True)
        self.is_terminal = is_terminal

    def isatty(self):
        return self.is_terminal

    @property
    def written(self):
        return self.buffer.getvalue()


def written(monkeypatch, session, answer, *, is_terminal=False, encoding="ascii"):
    stdout = Stdout(is_terminal=is_terminal)
    stdout.reconfigure(encoding=encoding)
    monkeypatch.setattr(sys, "stdout", stdout)
    output.write(session, answer)
    return stdout.written


def test_the_envelope_byte_for_byte(monkeypatch):
    assert written(monkeypatch, Session(), ANSWER) == (
        b'{"ok":true,"command":"x.list","data":{"items":[{"id":1,"text":"tab\\there\\nline",'
        b'"none":null,"yes":true},{"id":2,"text":"\xe6\x97\xa5\xe6\x9c\xac\\u001b[31m\\ud800",'
        b'"extra":{"a":[1,"\xc3\xa9"]}}],"conversationId":null},'
        b'"pagination":{"limit":2,"nextCursor":null},"meta":{"databasePath":"/d"}}\n'
    )


def test_the_envelope_indented(monkeypatch):
    answer = Answer("status", {"a": [1]})
    assert written(monkeypatch, Session(is_pretty=True), answer).decode() == (
        '{\n  "ok": true,\n  "command": "status",\n  "data": {\n    "a": [\n      1\n    ]\n  },\n'
        '  "meta": {}\n}\n'
    )


def test_the_table_byte_for_byte(monkeypatch):
    assert written(monkeypatch, Session(form="table"), ANSWER).decode() == (
        "command\tx.list\n"
        "id\ttext\tnone\tyes\textra\n"
        "1\ttab here line\tnull\ttrue\tnull\n"
        '2\t日本\ufffd[31m\\ud800\tnull\tnull\t{"a":[1,"é"]}\n'
        "data.conversationId\tnull\n"
        "pagination.limit\t2\n"
        "pagination.nextCursor\tnull\n"
        "meta.databasePath\t/d\n"
    )


def test_a_table_without_rows_says_so():
    lines = list(output.table_lines(Answer("x", {"items": []})))
    assert lines == ["command\tx", "(no rows)"]


def test_people_get_neither_json_nor_control_characters(monkeypatch):
    monkeypatch.setenv("TERM", "dumb")
    text = written(monkeypatch, Session(), ANSWER, is_terminal=True, encoding="utf-8").decode()
    assert "日本" in text
    assert "\x1b" not in text
    assert '"ok"' not in text


def test_a_format_that_was_asked_for_wins_over_the_terminal(monkeypatch):
    data = written(monkeypatch, Session(form="json"), ANSWER, is_terminal=True)
    assert json.loads(data)["ok"] is True


def test_structs_become_objects_in_camel_case_and_other_objects_keep_their_keys():
    node = Node("a", (1,))
    assert output.plain({"snake_key": [node]}) == {
        "snake_key": [{"longName": "a", "innerValues": [1]}]
    }


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters()),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters()), inner),
    max_leaves=8,
)


@given(VALUES)
def test_any_data_survives_the_envelope(value):
    text = output.envelope(Answer("x", value))
    assert "\n" not in text
    written = text.encode("utf-8", "backslashreplace")
    assert json.loads(written)["data"] == json.loads(json.dumps(value))


@given(st.text(st.characters()))
def test_a_cell_is_one_harmless_line(text):
    shown = output.cell(text)
    assert not any(ord(one) < 32 or 127 <= ord(one) < 160 for one in shown)
    shown.encode("utf-8")


def test_json_lines_are_ascii_and_keep_lone_surrogates():
    line = output.json_line({"a": "é\ud800\u2028"})
    assert line == '{"a":"\\u00e9\\ud800\\u2028"}'
