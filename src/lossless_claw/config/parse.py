"""One given value -> one value of its key's type, or an error that says what would do.

Numbers are read strictly: the whole text is the number (spec compaction-assembly-recall 8.1).
"""

from __future__ import annotations

import math
import re
from typing import Any

from lossless_claw.config.keys import Key
from lossless_claw.errors import ConfigError

_TRUTH = {
    **dict.fromkeys(("true", "1", "yes", "on"), True),
    **dict.fromkeys(("false", "0", "no", "off"), False),
}
_INTEGER = re.compile(r"[+-]?[0-9]{1,18}")
_NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")


def parse(key: Key[Any, Any], given: object, source: str) -> Any:
    """Return *given* as a value of *key*; None when it is null or a blank text.

    Raises:
        ConfigError: If it has not the key's form; names key, source and form.
    """
    text = given.strip() if isinstance(given, str) else given
    if text is None or text == "":
        return None
    value = _READ[key.type](text)
    if value is None or not _is_within(key, value):
        raise ConfigError(
            f"{key.name} ({source}): {_shown(given)} is not {key.form}",
            hint=f"Give {key.form}, or leave it out for {_shown(key.default)}.",
            key=key.name,
            source=source,
        )
    return value


def _boolean(given: object) -> bool | None:
    if isinstance(given, bool):
        return given
    return _TRUTH.get(given.lower()) if isinstance(given, str) else None


def _integer(given: object) -> int | None:
    if isinstance(given, str) and _INTEGER.fullmatch(given):
        return int(given)
    return given if isinstance(given, int) and not isinstance(given, bool) else None


def _number(given: object) -> float | None:
    if isinstance(given, str) and _NUMBER.fullmatch(given):
        return float(given)
    is_number = isinstance(given, int | float) and not isinstance(given, bool)
    return float(given) if is_number and _is_finite(given) else None  # type: ignore[arg-type]


def _is_finite(given: object) -> bool:
    try:
        return math.isfinite(given)  # type: ignore[arg-type]
    except OverflowError:
        return False


def _text(given: object) -> str | None:
    return given if isinstance(given, str) else None


_READ = {bool: _boolean, int: _integer, float: _number, str: _text}


def _is_within(key: Key[Any, Any], value: Any) -> bool:
    if key.choices is not None:
        return value in key.choices
    is_low = key.minimum is not None and value < key.minimum
    is_high = key.maximum is not None and value > key.maximum
    return not (is_low or is_high)


def _shown(given: object) -> str:
    text = repr(given)
    return text if len(text) <= 60 else text[:57] + "..."
