"""What recall takes, checked at the door: a model or a tool may hand over anything. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from lossless_claw.errors import CursorError, UsageError


def whole(value: object, name: str, most: int | None = None) -> None:
    """Refuse what is no whole number from 1 (to *most*).

    Raises:
        UsageError: It is not.
    """
    is_whole = isinstance(value, int) and not isinstance(value, bool) and value >= 1
    if is_whole and (most is None or value <= most):  # type: ignore[operator]
        return
    upper = "or more" if most is None else f"to {most}"
    raise UsageError(f"{name} must be a whole number, 1 {upper}, not {_shown(value)}")


def text(value: object, name: str) -> None:
    """Refuse what is no text.

    Raises:
        UsageError: It is not.
    """
    if not isinstance(value, str):
        raise UsageError(f"{name} must be a text, not {_shown(value)}")


def one_of(value: object, name: str, names: tuple[str, ...]) -> None:
    """Refuse what is none of *names*.

    Raises:
        UsageError: It is not.
    """
    if value not in names:
        raise UsageError(f"{name} must be {' or '.join(names)}, not {_shown(value)}")


def numbers(value: object, name: str) -> None:
    """Refuse what is no list of conversation ids; None is all of them.

    Raises:
        UsageError: It is neither.
    """
    is_list = isinstance(value, Collection) and not isinstance(value, str | bytes | Mapping)
    if value is None or (is_list and all(type(one) is int for one in value)):  # type: ignore[attr-defined]
        return
    raise UsageError(f"{name} must be a list of whole numbers, not {_shown(value)}")


def cursor(value: object) -> None:
    """Refuse what can be no cursor; None is the first page.

    Raises:
        CursorError: It is neither.
    """
    if value is not None and not isinstance(value, str):
        raise CursorError(f"a cursor is the text that the page before gave, not {_shown(value)}")


def _shown(value: object) -> str:
    try:
        return repr(value)[:80]
    except ValueError:  # Python refuses to write out a number of thousands of digits
        return f"a {type(value).__name__} that is too large to show"
