"""What the words of a command line may be: numbers, times, roles. Pure text in, values out."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import click

from lossless_claw.errors import MissingSelectorError, SelectorError, TimeFilterError

LARGEST = 2**63 - 1

_DIGITS = re.compile(r"[0-9]{1,19}")
_INSTANT = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?(Z|[+-]\d\d:\d\d)", re.ASCII
)
_RECENCY = re.compile(r"([0-9]{1,9})([smhdw])", re.IGNORECASE)
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_HINT = "Give a time with a zone, such as 2026-01-31T09:30:00Z or 2026-01-31T09:30+01:00."


# Generic only in newer releases of click, and there only for the type checker.
if TYPE_CHECKING:
    _Type = click.ParamType[int]
else:
    _Type = click.ParamType


class Digits(_Type):
    """A whole number in plain digits: no sign, point, exponent or space (spec 1.2)."""

    name = "number"

    def __init__(self, minimum: int = 1, maximum: int = LARGEST):
        self.minimum, self.maximum = minimum, maximum

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the number, or fail with the accepted range."""
        if isinstance(value, int):
            return value
        number = int(value) if _DIGITS.fullmatch(value) else -1
        if not self.minimum <= number <= self.maximum:
            bounds = f"at least {self.minimum}"
            if self.maximum < LARGEST:
                bounds = f"from {self.minimum} to {self.maximum}"
            self.fail(f"{value!r} is not a whole number, {bounds}", param, ctx)
        return number


def selector(conversation_id: int | None, session_key: str | None) -> str | int | None:
    """Return the one selector that was given: a number, a session key, or None.

    Raises:
        SelectorError: If both were given, even if one is blank.
    """
    if conversation_id is not None and session_key is not None:
        raise SelectorError(
            "--conversation-id and --session-key exclude each other", hint="Give one of them."
        )
    return conversation_id if conversation_id is not None else (session_key or "").strip() or None


def required_selector(conversation_id: int | None, session_key: str | None) -> str | int:
    """Return the one selector that was given.

    Raises:
        SelectorError: If both were given.
        MissingSelectorError: If none was, or a blank key.
    """
    found = selector(conversation_id, session_key)
    if found is None:
        raise MissingSelectorError("this command needs a conversation")
    return found


def time_range(
    *,
    after: str | None,
    before: str | None,
    between: str | None,
    recency: str | None,
    now: datetime,
) -> tuple[str | None, str | None]:
    """Return the bounds of a list, inclusive and exclusive, as ISO 8601 in UTC (spec 1.3).

    Raises:
        TimeFilterError: If a time is none, options exclude each other, or the range is empty.
    """
    if between is not None and (after, before, recency) != (None, None, None):
        raise TimeFilterError("--between excludes --after, --before and --recency")
    if recency is not None and after is not None:
        raise TimeFilterError("--recency excludes --after")
    if between is not None:
        after, before = _halves(between)
    low = _instant("--after", after) if after is not None else None
    high = _instant("--before", before) if before is not None else None
    if recency is not None:
        low = _ago(recency, now)
    if low is not None and high is not None and low >= high:
        raise TimeFilterError("the range is empty: its start is not before its end")
    return _text(low), _text(high)


def _halves(between: str) -> tuple[str, str]:
    halves = between.split("..")
    if len(halves) != 2 or not all(halves):
        raise TimeFilterError(f"--between: {between!r} is not START..END", hint=_HINT)
    return halves[0], halves[1]


def _instant(option: str, text: str) -> datetime:
    found = _INSTANT.fullmatch(text)
    if found is None:
        raise TimeFilterError(f"{option}: {text!r} is no time with a zone", hint=_HINT)
    *numbers, fraction, zone = found.groups()
    micros = int((fraction or "0").ljust(6, "0")[:6])
    try:
        local = datetime.fromisoformat(f"{text[:10]}T00:00:00{'+00:00' if zone == 'Z' else zone}")
        hour, minute, second = (int(number or 0) for number in numbers[3:])
        return local.replace(
            hour=hour, minute=minute, second=second, microsecond=micros
        ).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise TimeFilterError(f"{option}: {text!r} is no time that exists", hint=_HINT) from error


def _ago(recency: str, now: datetime) -> datetime:
    found = _RECENCY.fullmatch(recency)
    if found is None or int(found[1]) < 1:
        raise TimeFilterError(
            f"--recency: {recency!r} is no length of time",
            hint="Give a number and s, m, h, d or w, such as 7d.",
        )
    try:
        return now - timedelta(**{_UNITS[found[2].lower()]: int(found[1])})
    except OverflowError as error:
        raise TimeFilterError(f"--recency: {recency!r} goes back too far") from error


def _text(instant: datetime | None) -> str | None:
    return None if instant is None else instant.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
