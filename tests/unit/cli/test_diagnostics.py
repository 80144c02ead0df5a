from __future__ import annotations

import inspect
import json

import pytest

from lossless_claw import errors
from lossless_claw.cli import diagnostics
from lossless_claw.errors import LcmError, SummaryNotFoundError

CLASSES = [
    one
    for _, one in inspect.getmembers(errors, inspect.isclass)
    if issubclass(one, LcmError) and one.__module__ == errors.__name__
]

STATUS = {
    errors.UsageError: 2,
    errors.TranscriptError: 2,
    errors.NotFoundError: 3,
    errors.DatabaseNotFoundError: 3,
    errors.ConfigError: 4,
    errors.StoreError: 5,
    errors.SummarizerError: 1,
    errors.RefusedError: 1,
}


@pytest.mark.parametrize("kind", CLASSES)
def test_every_error_ends_with_the_status_of_its_family(kind):
    family = next((one for one in kind.__mro__ if one in STATUS), None)
    expected = 2 if kind is errors.HostError else STATUS.get(family, 1)
    assert diagnostics.exit_status(kind.code) == expected


def test_an_unknown_code_is_unexpected():
    assert diagnostics.exit_status("SOMETHING_NEW") == 1


def test_programs_get_one_json_object_on_stderr(capsys):
    error = SummaryNotFoundError("no summary 'é'", hint="look", id="é")
    assert diagnostics.report(error) == 3
    out, err = capsys.readouterr()
    assert out == ""
    assert err == (
        '{"ok":false,"error":{"code":"SUMMARY_NOT_FOUND","message":"no summary \'\\u00e9\'",'
        '"hint":"look","details":{"id":"\\u00e9"}}}\n'
    )


def test_pretty_indents_the_error(capsys):
    diagnostics.report(LcmError("x", hint=""), is_pretty=True)
    err = capsys.readouterr().err
    assert json.loads(err) == {"ok": False, "error": {"code": "INTERNAL_ERROR", "message": "x"}}
    assert err.startswith('{\n  "ok"')


def test_people_get_a_red_line_and_the_next_step(capsys, monkeypatch):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    assert diagnostics.report(LcmError("broken", hint="mend it")) == 1
    assert capsys.readouterr().err == "\x1b[31merror: broken\x1b[0m\nmend it\n"
    diagnostics.report(LcmError("broken"), form="json")
    assert capsys.readouterr().err.startswith('{"ok":false')


def test_what_nobody_foresaw_names_its_kind():
    error = diagnostics.unexpected(ZeroDivisionError("by zero"))
    assert error.code == "INTERNAL_ERROR"
    assert "ZeroDivisionError: by zero" in error.message
