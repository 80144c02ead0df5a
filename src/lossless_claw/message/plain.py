"""Whatever a caller holds as a message, as a plain JSON object. Pure.

A value that is JSON already is given back as it is, the same object: nothing is copied.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any

from lossless_claw.errors import HostError
from lossless_claw.model import Raw

_DEEPEST = 900
_SCALARS = (str, int, float, bool, type(None))


def plain_message(value: Any, place: str) -> Raw:
    """Return *value* as a JSON object.

    Mappings, tuples and objects of a provider's SDK (`model_dump`) are opened.

    Args:
        place: Where the message stands, for errors: "message 3".

    Raises:
        HostError: If it is no object, or holds something that is no JSON; it says where.
    """
    try:
        found = value if _is_plain(value) else _plain(value, place)
    except RecursionError as error:
        raise HostError(f"{place} is nested too deeply, or in itself", place=place) from error
    if not isinstance(found, dict):
        raise HostError(
            f"{place} is {type(value).__name__}, not an object with a role and content",
            hint="Hand over dictionaries as the provider's API takes them.",
            place=place,
        )
    return found


def _is_plain(value: Any) -> bool:
    """Whether *value* is JSON already, and no deeper than JSON can be written."""
    level = [value]
    for _ in range(_DEEPEST):
        below: list[Any] = []
        for one in level:
            kind = type(one)
            if kind is dict:
                if not all(type(key) is str for key in one):
                    return False
                below += one.values()
            elif kind is list:
                below += one
            elif kind not in _SCALARS:
                return False
        if not below:
            return True
        level = below
    return False


def _plain(value: Any, place: str) -> Any:
    kind = type(value)
    if kind in _SCALARS:
        return value
    return _opened(value, place)


def _items(value: Mapping[Any, Any], place: str) -> list[tuple[str, Any]]:
    for key in value:
        if not isinstance(key, str):
            raise HostError(f"{place} has the key {key!r}, which is no text", place=place)
    return list(value.items())


def _opened(value: Any, place: str) -> Any:
    """Return what is inside a value that is not JSON itself."""
    dump = getattr(value, "model_dump", None)
    if callable(dump):
        return _plain(dump(mode="json", exclude_unset=True), place)
    if isinstance(value, Mapping):
        return {key: _plain(v, f"{place}.{key}") for key, v in _items(value, place)}
    if isinstance(value, list | tuple):
        return [_plain(v, f"{place}[{n}]") for n, v in enumerate(value)]
    if isinstance(value, Enum):
        return _plain(value.value, place)
    for kind in (str, bool, int, float):
        if isinstance(value, kind):
            return kind(value)
    raise HostError(
        f"{place} is {type(value).__name__}, which is no JSON",
        hint="Convert it before handing it over, for example bytes to base64 text.",
        place=place,
    )
